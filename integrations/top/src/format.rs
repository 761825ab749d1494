//! Numbers and times in few characters, in the forms of the console's page.

const POWERS: [&str; 7] = ["", "k", "M", "G", "T", "P", "E"];
const TIMES: [&str; 4] = ["ns", "\u{b5}s", "ms", "s"];

/// The unit of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Unit {
    #[default]
    None,
    Nanoseconds,
}

/// Returns a number in at most seven characters or so.
pub(crate) fn short(number: f64, unit: Unit) -> String {
    let size = number.abs();
    let units = match unit {
        Unit::None if size < 9_999.5 => return digits(number),
        Unit::None => &POWERS[..],
        Unit::Nanoseconds => &TIMES[..],
    };
    let (mut scaled, mut at) = (number, 0);
    // A number that would round to a thousand takes the next unit.
    while at + 1 < units.len() && (scaled.abs() >= 999.5 || unit == Unit::None && at == 0) {
        scaled /= 1_000.0;
        at += 1;
    }
    digits(scaled) + units[at]
}

fn digits(number: f64) -> String {
    let size = number.abs();
    if size.fract() == 0.0 && size < 1e4 {
        return format!("{number}");
    }
    let behind = if size < 9.995 { 2 } else { usize::from(size < 99.95) };
    format!("{number:.behind$}")
}

/// Returns a rate: a low one has digits behind the point even if it is whole.
pub(crate) fn rate(number: f64) -> String {
    let size = number.abs();
    if size.fract() == 0.0 && size > 0.0 && size < 100.0 {
        return format!("{number:.*}", if size < 10.0 { 2 } else { 1 });
    }
    short(number, Unit::None)
}

/// Returns a share in percent. 0 % and 100 % are exact: no other share rounds to them.
pub(crate) fn percent(share: f64) -> String {
    if share == 0.0 || share >= 1.0 {
        return format!("{}%", share * 100.0);
    }
    if share < 0.000_05 {
        return "<0.01%".to_owned();
    }
    if share >= 0.999_5 {
        return format!("{:.2}%", (share * 1e4).floor() / 100.0);
    }
    format!("{:.*}%", if share < 0.1 { 2 } else { 1 }, share * 100.0)
}

/// Returns a time in milliseconds.
pub(crate) fn span(millis: f64) -> String {
    let units = [
        (9_950.0, 1_000.0, "s", 1),
        (120e3, 1_000.0, "s", 0),
        (7_200e3, 60e3, "min", 0),
        (172_800e3, 3_600e3, "h", 0),
        (f64::INFINITY, 86_400e3, "d", 0),
    ];
    let found = units.into_iter().find(|(below, ..)| millis < *below);
    let (_, unit, name, behind) = found.unwrap_or(units[0]);
    format!("{:.behind$} {name}", millis / unit)
}

/// Returns the hour and the minute of a time in milliseconds since 1970.
pub(crate) fn clock(millis: f64) -> String {
    let minutes = (millis / 60e3).rem_euclid(1_440.0) as u32;
    format!("{:02}:{:02}", minutes / 60, minutes % 60)
}

/// Returns both bounds, or one of them if they look the same.
pub(crate) fn between(least: String, most: &str) -> String {
    if least == most { least } else { format!("{least}\u{2013}{most}") }
}

/// The heights of a line of blocks.
const BLOCKS: [char; 8] = [
    '\u{2581}', '\u{2582}', '\u{2583}', '\u{2584}', '\u{2585}', '\u{2586}', '\u{2587}', '\u{2588}',
];

/// Returns a line of `width` blocks over the last minute. `points` are ages in milliseconds with
/// levels; a part of the minute without any is blank.
pub(crate) fn sparkline(points: impl Iterator<Item = (f64, f64)> + Clone, width: usize) -> String {
    let points = points.filter(|(age, _)| *age <= 60e3);
    let most = points.clone().fold(0.0, |most, (_, level)| f64::max(most, level));
    let mut parts = vec![(0.0, 0_u32); width];
    for (age, level) in points {
        let at = (1.0 - age / 60e3) * width as f64;
        // The end of the minute is the beginning of no part.
        let at = if at >= width as f64 { width.saturating_sub(1) } else { at as usize };
        if let Some((sum, count)) = parts.get_mut(at) {
            *sum += level;
            *count += 1;
        }
    }
    let block = |(sum, count): &(f64, u32)| {
        if *count == 0 {
            return ' ';
        }
        let part = if most > 0.0 { sum / f64::from(*count) / most } else { 0.0 };
        BLOCKS[((part * 7.0).ceil() as usize).min(7)]
    };
    parts.iter().map(block).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_of_the_page() {
        let numbers =
            [0.0, 0.25, 9.999, 42.123, 812.0, 9_999.0, 9_999.6, 45_678.0, 999_600.0, 2.5e6];
        let shown = numbers.map(|number| short(number, Unit::None));
        let expected =
            ["0", "0.25", "10.0", "42.1", "812", "9999", "10.0k", "45.7k", "1.00M", "2.50M"];
        assert_eq!(shown, expected);
        let times = [0.0, 850.0, 1_250.0, 2.1e6, 84.3e6, 999_900.0, 12.34e9, 4e12];
        let shown = times.map(|number| short(number, Unit::Nanoseconds));
        let expected =
            ["0ns", "850ns", "1.25\u{b5}s", "2.10ms", "84.3ms", "1.00ms", "12.3s", "4000s"];
        assert_eq!(shown, expected);
        assert_eq!([0.0, 5.0, 50.0, 500.0, 0.5].map(rate), ["0", "5.00", "50.0", "500", "0.50"]);
    }

    #[test]
    fn no_share_rounds_to_none_or_to_all() {
        let shares = [0.0, 0.000_01, 0.003, 0.5, 0.999_99, 1.0].map(percent);
        assert_eq!(shares, ["0%", "<0.01%", "0.30%", "50.0%", "99.99%", "100%"]);
    }

    #[test]
    fn spans_and_times_of_the_day_are_short() {
        let spans = [400.0, 12e3, 600e3, 7.3e6, 3e8].map(span);
        assert_eq!(spans, ["0.4 s", "12 s", "10 min", "2 h", "3 d"]);
        assert_eq!([1_700_000_000_000.0, 0.0].map(clock), ["22:13", "00:00"]);
    }

    #[test]
    fn a_line_of_blocks_has_the_newest_at_its_end() {
        let line = |points: &[(f64, f64)], width| sparkline(points.iter().copied(), width);
        let minute: Vec<_> = (0..60).map(|second| (f64::from(second) * 1e3, 60.0)).collect();
        assert_eq!(line(&minute, 6), "\u{2588}".repeat(6));
        assert_eq!(line(&[(0.0, 8.0), (35e3, 1.0), (90e3, 100.0)], 4), " \u{2582} \u{2588}");
        assert_eq!(line(&[(0.0, 0.0)], 2), " \u{2581}");
        assert_eq!(line(&[], 3), "   ");
        assert_eq!(line(&minute, 0), "");
    }
}
