//! windrow's families, and beside them the counter that they find.

use std::hint::black_box;

use windrow::{Counter, Family, family::Handle};

use crate::harness::{Contender, Rival, rival};
use crate::rivals::labelled::{HOT, SERIES, Texts, VALUES, all_sets};

windrow::labels! {
    enum Method { Get, Post, Put, Delete }
    enum Route { R0, R1, R2, R3, R4, R5, R6, R7, R8, R9, R10, R11, R12, R13, R14, R15 }
    enum Status { Fine, Moved, Missing, Failed }

    struct Enums { method: Method, route: Route, status: Status }
    struct Mixed { method: Method, route: str, status: u16 }
    pub(super) struct Strings { method: str, route: str, status: str }
}

const METHODS: [Method; VALUES[0]] = [Method::Get, Method::Post, Method::Put, Method::Delete];
#[rustfmt::skip]
const ROUTES: [Route; VALUES[1]] = [
    Route::R0, Route::R1, Route::R2, Route::R3, Route::R4, Route::R5, Route::R6, Route::R7,
    Route::R8, Route::R9, Route::R10, Route::R11, Route::R12, Route::R13, Route::R14, Route::R15,
];
const STATUSES: [Status; VALUES[2]] =
    [Status::Fine, Status::Moved, Status::Missing, Status::Failed];
/// The numbers in the place of [`Texts::status`].
const NUMBERS: [u16; VALUES[2]] = [200, 301, 404, 500];

impl Enums {
    fn of([method, route, status]: [usize; 3]) -> Enums {
        Enums { method: METHODS[method], route: ROUTES[route], status: STATUSES[status] }
    }
}

impl Mixed<'_> {
    fn of([method, _, status]: [usize; 3], route: &str) -> Mixed<'_> {
        Mixed { method: METHODS[method], route, status: NUMBERS[status] }
    }
}

impl Strings<'_> {
    #[inline]
    pub(super) fn of(texts: &Texts) -> Strings<'_> {
        let [method, route, status] = texts.lend();
        Strings { method, route, status }
    }
}

/// By three enums.
struct ByEnums(Family<Enums, Counter>, Enums);

rival! { ByEnums:
    add(self, n) => self.0.with(*black_box(&self.1)).add(n);
    sum(self) => self.0.with(self.1).sum();
}

fn by_enums() -> ByEnums {
    let family = Family::new();
    all_sets().for_each(|set| _ = family.with(Enums::of(set)));
    ByEnums(family, Enums::of(HOT))
}

/// By an enum, a text and a number.
struct ByMixed {
    family: Family<Mixed<'static>, Counter>,
    method: Method,
    route: String,
    status: u16,
}

rival! { ByMixed:
    add(self, n) => {
        let ByMixed { family, method, route, status } = black_box(self);
        family.with(Mixed { method: *method, route, status: *status }).add(n);
    };
    sum(self) => {
        let ByMixed { family, method, route, status } = self;
        family.with(Mixed { method: *method, route, status: *status }).sum()
    };
}

fn by_mixed() -> ByMixed {
    let family = Family::new();
    all_sets().for_each(|set| _ = family.with(Mixed::of(set, &Texts::of(set).route)));
    let route = Texts::of(HOT).route;
    let Mixed { method, status, .. } = Mixed::of(HOT, "");
    ByMixed { family, method, route, status }
}

/// By three texts.
struct ByTexts(Family<Strings<'static>, Counter>, Texts);

rival! { ByTexts:
    add(self, n) => self.0.with(Strings::of(&self.1)).add(n);
    sum(self) => self.0.with(Strings::of(&self.1)).sum();
}

fn by_texts() -> ByTexts {
    let family = Family::new();
    all_sets().for_each(|set| _ = family.with(Strings::of(&Texts::of(set))));
    assert_eq!(family.len(), SERIES);
    ByTexts(family, Texts::of(HOT))
}

// A series that is kept.
rival! { Handle<Strings<'static>, Counter>:
    add(self, n) => Counter::add(self, n);
    sum(self) => Counter::sum(self);
}

/// The name of a counter without a family.
pub const BARE: &str = "windrow, no labels";
/// The name of an add by a kept handle.
pub const KEPT: &str = "windrow, handle kept";
/// The name of an add to a family labelled by enums.
pub const ENUMS: &str = "windrow, 3 enums";
/// The name of an add to a family labelled by borrowed texts.
pub const TEXTS: &str = "windrow, 3 texts";
/// The name of an add to a family labelled by an enum, a borrowed text and a number.
pub const MIXED: &str = "windrow, enum, text, number";

/// Returns all of them, with all series, of which one is counted.
pub fn all() -> Vec<Contender> {
    let ByTexts(family, hot) = by_texts();
    vec![
        Contender::new(BARE, Counter::new()),
        Contender::new(KEPT, family.handle(Strings::of(&hot))),
        Contender::new(ENUMS, by_enums()),
        Contender::new(MIXED, by_mixed()),
        Contender::new(TEXTS, by_texts()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_family_counts_the_hot_series() {
        for Contender { name, rival } in all() {
            assert_eq!(rival.sum(), 0, "{name}");
            rival.add(40);
            rival.add_many(2);
            assert_eq!(rival.sum(), 42, "{name}");
        }
    }
}
