//! Pictures, as SVG: bars with the spread on them, and lines. Logarithmic, since contenders differ
//! by factors; a figure of zero has no place on such a scale and is written out.

use std::fmt::Write as _;

/// Width of a picture.
const WIDTH: f64 = 760.0;
/// The end of the bars' labels.
const LEFT: f64 = 230.0;
/// Room for figures on the right.
const RIGHT: f64 = 150.0;
/// Height of the title.
const TOP: f64 = 56.0;
/// Height of a bar with its gap.
const BAR: f64 = 22.0;
/// Height of the field of lines.
const FIELD: f64 = 320.0;

/// Our own, and those of others; they differ in lightness too.
const OURS: [&str; 2] = ["#c2410c", "#f59e0b"];
const THEIRS: [&str; 7] =
    ["#1e3a8a", "#0e7490", "#6b7280", "#7c3aed", "#15803d", "#94a3b8", "#be185d"];

/// One bar.
pub struct Bar {
    /// The contender's name.
    pub label: String,
    /// The bar's length.
    pub value: f64,
    /// From where to where the figure went.
    pub ends: Option<(f64, f64)>,
    /// The text beside it.
    pub text: String,
}

/// One line.
pub struct Line {
    /// The contender's name.
    pub label: String,
    /// A point for each mark of the horizontal axis.
    pub points: Vec<f64>,
}

/// Text that is no markup.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn begin(height: f64, title: &str, caption: &str) -> String {
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         font-family=\"sans-serif\" font-size=\"12\" fill=\"#111827\">\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
    );
    text(&mut svg, (14.0, 22.0), "start", "font-size=\"15\" font-weight=\"bold\"", title);
    text(&mut svg, (14.0, 40.0), "start", "font-size=\"10\" fill=\"#4b5563\"", caption);
    svg
}

fn text(svg: &mut String, (x, y): (f64, f64), anchor: &str, style: &str, words: &str) {
    let words = escaped(words);
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" {style}>{words}</text>"
    );
}

fn stroke(svg: &mut String, from: (f64, f64), to: (f64, f64), style: &str) {
    let _ = writeln!(
        svg,
        "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" {style}/>",
        from.0, from.1, to.0, to.1,
    );
}

/// Powers of ten around all positive `values`.
fn decades(values: impl Iterator<Item = f64>) -> (i32, i32) {
    let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
    for value in values.filter(|value| *value > 0.0 && value.is_finite()) {
        (low, high) = (low.min(value), high.max(value));
    }
    if high == 0.0 {
        return (0, 1);
    }
    let (low, high) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    (low, high.max(low + 1))
}

/// Returns a power of ten as a reader wants it.
fn power(exponent: i32) -> String {
    let size = 10_f64.powi(exponent);
    match exponent {
        9.. => format!("{} G", size / 1e9),
        6..9 => format!("{} M", size / 1e6),
        4..6 => format!("{} k", size / 1e3),
        0..4 => format!("{size}"),
        _ => format!("{size:.*}", exponent.unsigned_abs() as usize),
    }
}

/// Returns the colour of contender `label`, the `index`th that is not ours.
fn colour(label: &str, index: usize) -> &'static str {
    match label {
        "windrow" => OURS[0],
        label if label.starts_with("windrow") => OURS[1],
        _ => THEIRS[index % THEIRS.len()],
    }
}

/// Bars from left to right, in the order given.
pub fn bars(title: &str, caption: &str, bars: &[Bar]) -> String {
    let height = TOP + BAR * bars.len() as f64 + 30.0;
    let mut svg = begin(height, title, caption);
    let ends = bars.iter().filter_map(|bar| bar.ends).flat_map(|(low, high)| [low, high]);
    let (low, high) = decades(bars.iter().map(|bar| bar.value).chain(ends));
    let scale = (WIDTH - LEFT - RIGHT) / f64::from(high - low);
    let across = |value: f64| LEFT + (value.log10() - f64::from(low)).max(0.0) * scale;
    let bottom = height - 24.0;
    for exponent in low..=high {
        let x = LEFT + f64::from(exponent - low) * scale;
        stroke(&mut svg, (x, TOP), (x, bottom), "stroke=\"#e5e7eb\"");
        text(&mut svg, (x, bottom + 14.0), "middle", "font-size=\"10\"", &power(exponent));
    }
    for (index, bar) in bars.iter().enumerate() {
        let y = TOP + BAR * index as f64;
        let middle = y + BAR / 2.0;
        text(&mut svg, (LEFT - 8.0, middle + 4.0), "end", "", &bar.label);
        let mut end = LEFT;
        if bar.value > 0.0 {
            // The rivals are all alike here: the length tells them apart.
            let _ = writeln!(
                svg,
                "<rect x=\"{LEFT}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{}\"/>",
                y + 3.0,
                across(bar.value) - LEFT,
                BAR - 6.0,
                colour(&bar.label, 0),
            );
            end = across(bar.value);
        }
        if let Some((low, high)) = bar.ends.filter(|(low, _)| *low > 0.0) {
            let style = "stroke=\"#111827\" stroke-width=\"1.2\"";
            stroke(&mut svg, (across(low), middle), (across(high), middle), style);
            for x in [across(low), across(high)] {
                stroke(&mut svg, (x, middle - 4.0), (x, middle + 4.0), style);
            }
            end = end.max(across(high));
        }
        text(&mut svg, (end + 6.0, middle + 4.0), "start", "font-size=\"11\"", &bar.text);
    }
    svg + "</svg>\n"
}

/// Lines over equally spaced `marks`, with their names at the right end.
pub fn lines(title: &str, caption: &str, marks: &[String], lines: &[Line]) -> String {
    let height = TOP + FIELD + 40.0;
    let left = 64.0;
    let right = 190.0;
    let mut svg = begin(height, title, caption);
    let (low, high) = decades(lines.iter().flat_map(|line| line.points.iter().copied()));
    let scale = FIELD / f64::from(high - low);
    let up = |value: f64| TOP + FIELD - (value.log10() - f64::from(low)) * scale;
    let step = (WIDTH - left - right) / (marks.len().max(2) - 1) as f64;
    for exponent in low..=high {
        let y = TOP + FIELD - f64::from(exponent - low) * scale;
        stroke(&mut svg, (left, y), (WIDTH - right, y), "stroke=\"#e5e7eb\"");
        text(&mut svg, (left - 6.0, y + 4.0), "end", "font-size=\"10\"", &power(exponent));
    }
    for (index, mark) in marks.iter().enumerate() {
        let x = left + step * index as f64;
        text(&mut svg, (x, TOP + FIELD + 18.0), "middle", "font-size=\"10\"", mark);
    }
    // The names stand where the lines end, pushed apart where they would overlap.
    let mut names: Vec<(f64, &str, &str)> = Vec::new();
    let mut others = 0;
    for line in lines {
        let colour = colour(&line.label, others);
        others += usize::from(!line.label.starts_with("windrow"));
        let there = line.points.iter().enumerate().filter(|(_, value)| **value > 0.0);
        let points: Vec<(f64, f64)> =
            there.map(|(index, value)| (left + step * index as f64, up(*value))).collect();
        let path: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
            path.join(" "),
        );
        for (x, y) in &points {
            let _ =
                writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"/>");
        }
        if let Some(&(_, y)) = points.last() {
            names.push((y, &line.label, colour));
        }
    }
    names.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut lowest = f64::NEG_INFINITY;
    for (y, label, colour) in names {
        let y = y.max(lowest + 14.0);
        lowest = y;
        let style = format!("font-size=\"11\" fill=\"{colour}\"");
        text(&mut svg, (WIDTH - right + 10.0, y + 4.0), "start", &style, label);
    }
    svg + "</svg>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_are_whole_powers_of_ten_around_the_figures() {
        assert_eq!(decades([2.0, 30.0, 0.0].into_iter()), (0, 2));
        assert_eq!(decades([0.02].into_iter()), (-2, -1));
        assert_eq!(decades(std::iter::empty()), (0, 1));
        assert_eq!([power(-2), power(0), power(4), power(6)], ["0.01", "1", "10 k", "1 M"]);
    }

    #[test]
    fn names_are_no_markup_and_zero_has_no_bar() {
        let bar = |value| Bar { label: "Mutex<u64>".into(), value, ends: None, text: "x".into() };
        let picture = bars("t", "c", &[bar(0.0), bar(3.0)]);
        assert!(picture.contains("Mutex&lt;u64&gt;") && !picture.contains("Mutex<u64>"));
        assert_eq!(picture.matches("<rect").count(), 2, "the background and one bar");
    }
}
