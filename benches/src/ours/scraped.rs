//! windrow's families with many series, read as an exporter reads them.

use std::fmt::Write as _;

use windrow::{Counter, Family, LabelValue};

use super::labelled::Strings;
use crate::harness::{Contender, Rival, cores};
use crate::rivals::labelled::Texts;
use crate::rivals::scraped::{self, fill};

/// All series, each with its sum.
struct Walk(Family<Strings<'static>, Counter>);

impl Rival for Walk {
    fn add(&self, n: u64) {
        self.0.with(Strings::of(&Texts::numbered(0))).add(n);
    }

    fn sum(&self) -> u64 {
        self.0.iter().map(|series| series.sum()).sum()
    }
}

/// The same, and a line of text for each.
struct Text(Walk);

impl Rival for Text {
    fn add(&self, n: u64) {
        self.0.add(n);
    }

    /// How long the text is.
    fn sum(&self) -> u64 {
        let mut text = String::from("# HELP requests what is counted\n# TYPE requests counter\n");
        for series in &self.0.0 {
            let mut separator = "requests_total{";
            for (name, value) in series.pairs() {
                text.extend([separator, name, "=\""]);
                match value {
                    LabelValue::Text(value) => text.push_str(value), // none here is to be escaped
                    other => _ = write!(text, "{other}"),            // a `String` takes all
                }
                text.push('"');
                separator = ",";
            }
            let _ = writeln!(text, "}} {}", series.sum());
        }
        text.len() as u64
    }
}

fn walk(series: usize) -> Walk {
    // Some room to spare: threads that make the last series at once may be told that there is none.
    let family = Family::<_, Counter>::new().limit(series + cores());
    fill(series, &|texts| family.with(Strings::of(texts)).increment());
    assert_eq!((family.len(), family.refused()), (series, 0));
    Walk(family)
}

/// The name of a walk over all series.
pub const WALK: &str = "windrow, walk and sum";
/// Of a walk that writes a text.
pub const TEXT: &str = "windrow, text";
/// All names.
pub const ALL: [&str; 4] = [WALK, TEXT, scraped::CLIENT, scraped::PROMETHEUS];

/// The one called `name`, with so many series.
pub fn make(name: &str, series: usize) -> Option<Contender> {
    match name {
        WALK => Some(Contender::new(WALK, walk(series))),
        TEXT => Some(Contender::new(TEXT, Text(walk(series)))),
        _ => scraped::make(name, series),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_series_is_read() {
        assert_eq!(walk(1000).sum(), 1000 * cores() as u64);
        let [short, long] = [10, 1000].map(|series| Text(walk(series)).sum());
        assert!(long - short >= 990 * 30, "{short} {long}");
    }

    #[test]
    fn all_can_be_made() {
        for name in ALL {
            assert!(make(name, 10).is_some_and(|contender| contender.name == name), "{name}");
        }
    }
}
