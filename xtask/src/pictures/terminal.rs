//! Draws the output of a program as a terminal shows it.
//!
//! A font need not have all signs in one width. So each word stands at its own column, and the
//! eight heights of a bar (`▁` to `█`) are rectangles.

use std::fmt::Write;

const COLUMN: f64 = 7.2;
const LINE: f64 = 16.0;
const MARGIN: f64 = 14.0;

/// The lowest of the eight heights of a bar; the others follow it in Unicode.
const LOWEST_BAR: u32 = 0x2581;

/// Returns the drawing of several screens, one below the other, each with its first line in bold.
pub(crate) fn drawn(title: &str, screens: &[&str]) -> String {
    let lines = screens.iter().map(|screen| screen.lines().count() + 1).sum::<usize>() - 1;
    let columns = screens.iter().flat_map(|screen| screen.lines()).map(|line| line.chars().count());
    let width = at(columns.max().unwrap_or(0), COLUMN) + MARGIN;
    let height = at(lines, LINE) + MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         font-family=\"monospace\" font-size=\"12\" fill=\"#e5e7eb\">\n<title>{}</title>\n\
         <rect width=\"{width:.0}\" height=\"{height:.0}\" rx=\"6\" fill=\"#1f2937\"/>\n",
        escaped(title)
    );
    let mut row = 0;
    for screen in screens {
        for (index, line) in screen.lines().enumerate() {
            let weight = if index == 0 { " font-weight=\"bold\"" } else { "" };
            let _ = writeln!(svg, "<g{weight}>{}</g>", words(line, row)); // a `String` takes all
            row += 1;
        }
        row += 1;
    }
    svg + "</svg>\n"
}

/// Returns the words and the bars of one line.
fn words(line: &str, row: usize) -> String {
    let mut svg = String::new();
    let mut word = String::new();
    let base = at(row, LINE) + 12.0;
    let end = line.chars().count();
    for (column, sign) in line.chars().chain([' ']).enumerate() {
        let bar = u32::from(sign).checked_sub(LOWEST_BAR).filter(|above| *above < 8);
        if bar.is_none() && sign != ' ' {
            word.push(sign);
            continue;
        }
        if !word.is_empty() {
            let x = at(column - word.chars().count(), COLUMN);
            let _ = write!(svg, "<text x=\"{x:.1}\" y=\"{base:.0}\">{}</text>", escaped(&word));
            word.clear();
        }
        if let Some(above) = bar.filter(|_| column < end) {
            let (x, height) = (at(column, COLUMN), f64::from(above + 1) * 1.75);
            let y = base + 2.0 - height;
            let _ = write!(
                svg,
                "<rect x=\"{x:.1}\" y=\"{y:.2}\" width=\"{COLUMN}\" height=\"{height}\"/>"
            );
        }
    }
    svg
}

/// Returns where a column or a row begins.
fn at(index: usize, step: f64) -> f64 {
    let index = u32::try_from(index).expect("a screen is small");
    MARGIN + f64::from(index) * step
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_stands_at_its_column_and_a_bar_is_a_rectangle() {
        let svg = words("a  <b █", 0);
        assert_eq!(
            svg,
            "<text x=\"14.0\" y=\"26\">a</text><text x=\"35.6\" y=\"26\">&lt;b</text>\
             <rect x=\"57.2\" y=\"14.00\" width=\"7.2\" height=\"14\"/>"
        );
    }
}
