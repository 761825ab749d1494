//! measured's counters: dense, by three enums; and sparse, by three texts, each of which it looks
//! up in a table of texts.

use std::hint::black_box;
use std::sync::atomic::Ordering;

use measured::{CounterVec, FixedCardinalityLabel, LabelGroup};
use paracord::ParaCord;

use super::labelled::{HOT, MEASURED_ENUMS, MEASURED_TEXTS, SERIES, Texts, VALUES, all_sets};
use crate::harness::{Contender, Rival, rival};

#[derive(Clone, Copy, FixedCardinalityLabel)]
enum Method {
    Get,
    Post,
    Put,
    Delete,
}

/// The number of routes is that of the other counters.
#[derive(Clone, Copy, FixedCardinalityLabel)]
#[rustfmt::skip]
enum Route { R0, R1, R2, R3, R4, R5, R6, R7, R8, R9, R10, R11, R12, R13, R14, R15 }

#[derive(Clone, Copy, FixedCardinalityLabel)]
enum Status {
    Fine,
    Moved,
    Missing,
    Failed,
}

#[derive(Clone, Copy, LabelGroup)]
#[label(set = EnumsSet)]
struct Enums {
    method: Method,
    route: Route,
    status: Status,
}

const _: () = assert!(Method::Delete as usize + 1 == VALUES[0]);
const _: () = assert!(Route::R15 as usize + 1 == VALUES[1]);
const _: () = assert!(Status::Failed as usize + 1 == VALUES[2]);

/// By enums.
struct Dense(CounterVec<EnumsSet>);

rival! { Dense:
    add(self, n) => self.0.inc_by(black_box(hot()), n);
    sum(self) => self.0.get_metric(self.0.with_labels(hot())).count.load(Ordering::Relaxed);
}

fn hot() -> Enums {
    Enums { method: Method::Post, route: Route::R7, status: Status::Missing }
}

fn dense() -> Dense {
    let mut counters = CounterVec::dense_with_label_set(EnumsSet::default());
    counters.init_all_dense();
    assert_eq!(counters.get_cardinality(), (SERIES, Some(SERIES)));
    Dense(counters)
}

#[derive(Clone, Copy, LabelGroup)]
#[label(set = BorrowedSet)]
struct Borrowed<'a> {
    #[label(dynamic_with = ParaCord, default)]
    method: &'a str,
    #[label(dynamic_with = ParaCord, default)]
    route: &'a str,
    #[label(dynamic_with = ParaCord, default)]
    status: &'a str,
}

impl Borrowed<'_> {
    #[inline]
    fn of(texts: &Texts) -> Borrowed<'_> {
        let [method, route, status] = texts.lend();
        Borrowed { method, route, status }
    }
}

/// By texts.
struct Sparse(CounterVec<BorrowedSet>, Texts);

rival! { Sparse:
    add(self, n) => self.0.inc_by(Borrowed::of(&self.1), n);
    sum(self) => {
        self.0.get_metric(self.0.with_labels(Borrowed::of(&self.1))).count.load(Ordering::Relaxed)
    };
}

fn sparse() -> Sparse {
    let counters = CounterVec::sparse_with_label_set(BorrowedSet::default());
    all_sets().for_each(|set| counters.inc_by(Borrowed::of(&Texts::of(set)), 0));
    Sparse(counters, Texts::of(HOT))
}

/// Both, with all series, of which one is counted.
pub fn all() -> Vec<Contender> {
    vec![Contender::new(MEASURED_ENUMS, dense()), Contender::new(MEASURED_TEXTS, sparse())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_count() {
        for Contender { name, rival } in all() {
            assert_eq!(rival.sum(), 0, "{name}");
            rival.add(40);
            rival.add_many(2);
            assert_eq!(rival.sum(), 42, "{name}");
        }
    }
}
