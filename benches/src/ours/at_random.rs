//! windrow's family of many series, of which one at random is added to.

use std::hint::black_box;

use windrow::{Counter, Family};

use crate::harness::{Contender, Rival};
use crate::ours::labelled::{Strings, TEXTS};
use crate::rivals::at_random::{Requests, prometheus};
use crate::rivals::labelled::{PROMETHEUS, Texts};

/// By three texts.
struct ByTexts(Family<Strings<'static>, Counter>, Requests);

impl Rival for ByTexts {
    #[inline]
    fn add(&self, n: u64) {
        self.1.each(1, |[method, route, status]| {
            self.0.with(Strings { method, route, status }).add(n);
        });
    }

    fn add_many(&self, times: u64) {
        self.1.each(times, |[method, route, status]| {
            self.0.with(Strings { method, route, status }).add(black_box(1));
        });
    }

    fn sum(&self) -> u64 {
        self.0.lifetime()
    }
}

fn by_texts(series: usize) -> Contender {
    let family: Family<_, Counter> = Family::new().with_max_series(series);
    // A first add to each, which takes the counter's place in the rows: a run of the lab is too
    // short for a million of these.
    (0..series).for_each(|number| family.with(Strings::of(&Texts::numbered(number))).add(0));
    assert_eq!(family.len(), series);
    Contender::new(TEXTS, ByTexts(family, Requests::new(series)))
}

/// The names of all.
pub const ALL: [&str; 2] = [TEXTS, PROMETHEUS];

/// Returns the one of this name, with this number of series.
pub fn make(name: &str, series: usize) -> Option<Contender> {
    match name {
        TEXTS => Some(by_texts(series)),
        PROMETHEUS => Some(prometheus(series)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_counts_every_request() {
        for name in ALL {
            let Contender { rival, .. } = make(name, 100).expect("a contender");
            rival.add(40);
            rival.add_many(2_000);
            assert_eq!(rival.sum(), 2_040, "{name}");
        }
    }
}
