//! Figures of many rounds, as a table has them.

/// Returns the median and the quartiles of figures, as cells of a table.
pub(super) fn quartiles(mut figures: Vec<f64>) -> [String; 3] {
    figures.sort_by(f64::total_cmp);
    let last = figures.len() - 1;
    [2, 1, 3].map(|part| format!("{:.3}", figures[last * part / 4]))
}
