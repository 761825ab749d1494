//! windrow's families with many series, read as an exporter reads them.

use std::sync::Arc;

use windrow::{Counter, Family};
use windrow_prometheus::{Exposition, Format};

use super::labelled::Strings;
use crate::harness::{Contender, Rival, cores, rival};
use crate::rivals::labelled::Texts;
use crate::rivals::scraped::{self, fill};

/// All series, each with its sum.
struct Walk(Family<Strings<'static>, Counter>);

rival! { Walk:
    add(self, n) => self.0.with(Strings::of(&Texts::numbered(0))).add(n);
    sum(self) => self.0.iter().map(|series| series.sum()).sum();
}

/// The text of all series.
struct Text {
    metrics: Exposition,
    family: Arc<Family<Strings<'static>, Counter>>,
}

rival! { Text:
    add(self, n) => self.family.with(Strings::of(&Texts::numbered(0))).add(n);
    // Returns the length of the text.
    sum(self) => self.metrics.encode(Format::TEXT).len() as u64;
}

fn text(series: usize) -> Text {
    let (mut metrics, Walk(family)) = (Exposition::new(), walk(series));
    let family = Arc::new(family);
    let registered = metrics.register("requests", "what is counted", Arc::clone(&family));
    registered.expect("a sound name");
    Text { metrics, family }
}

fn walk(series: usize) -> Walk {
    // Some more places: threads that make the last series at once may find the family full.
    let family = Family::<_, Counter>::new().with_max_series(series + cores());
    fill(series, &|texts| family.with(Strings::of(texts)).increment());
    assert_eq!((family.len(), family.refused()), (series, 0));
    Walk(family)
}

/// The name of a walk over all series.
pub const WALK: &str = "windrow, walk and sum";
/// The name of the text of windrow-prometheus.
pub const TEXT: &str = "windrow, text";
/// All names.
pub const ALL: [&str; 4] = [WALK, TEXT, scraped::CLIENT, scraped::PROMETHEUS];

/// Returns the contender called `name`, with `series` series.
pub fn make(name: &str, series: usize) -> Option<Contender> {
    match name {
        WALK => Some(Contender::new(WALK, walk(series))),
        TEXT => Some(Contender::new(TEXT, text(series))),
        _ => scraped::make(name, series),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_series_is_read() {
        assert_eq!(walk(1000).sum(), 1000 * cores() as u64);
        let [short, long] = [10, 1000].map(|series| text(series).sum());
        assert!(long - short >= 990 * 30, "{short} {long}");
    }

    #[test]
    fn all_can_be_made() {
        for name in ALL {
            assert!(make(name, 10).is_some_and(|contender| contender.name == name), "{name}");
        }
    }
}
