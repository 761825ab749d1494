//! windrow's families.

use std::hint::black_box;

use windrow::{Counter, Family, family::Handle};

use crate::harness::{Contender, Rival, rival};
use crate::rivals::labelled::{HOT, SERIES, Texts, VALUES, all_sets};

windrow::labels! {
    enum Method { Get, Post, Put, Delete }
    enum Route { R0, R1, R2, R3, R4, R5, R6, R7, R8, R9, R10, R11, R12, R13, R14, R15 }
    enum Status { Fine, Moved, Missing, Failed }

    struct Enums { method: Method, route: Route, status: Status }
    struct Strings { method: str, route: str, status: str }
}

const METHODS: [Method; VALUES[0]] = [Method::Get, Method::Post, Method::Put, Method::Delete];
#[rustfmt::skip]
const ROUTES: [Route; VALUES[1]] = [
    Route::R0, Route::R1, Route::R2, Route::R3, Route::R4, Route::R5, Route::R6, Route::R7,
    Route::R8, Route::R9, Route::R10, Route::R11, Route::R12, Route::R13, Route::R14, Route::R15,
];
const STATUSES: [Status; VALUES[2]] =
    [Status::Fine, Status::Moved, Status::Missing, Status::Failed];

impl Enums {
    fn of([method, route, status]: [usize; 3]) -> Enums {
        Enums { method: METHODS[method], route: ROUTES[route], status: STATUSES[status] }
    }
}

impl Strings<'_> {
    #[inline]
    fn of(texts: &Texts) -> Strings<'_> {
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

/// By three texts.
struct ByTexts(Family<Strings<'static>, Counter>, Texts);

rival! { ByTexts:
    add(self, n) => self.0.with(Strings::of(&self.1)).add(n);
    sum(self) => self.0.with(Strings::of(&self.1)).sum();
}

fn texts() -> Family<Strings<'static>, Counter> {
    let family = Family::new();
    all_sets().for_each(|set| _ = family.with(Strings::of(&Texts::of(set))));
    assert_eq!(family.len(), SERIES);
    family
}

// A series that is kept.
rival! { Handle<Strings<'static>, Counter>:
    add(self, n) => Counter::add(self, n);
    sum(self) => Counter::sum(self);
}

/// The name of an add to a family labelled by borrowed texts.
pub const TEXTS: &str = "windrow, 3 texts";

/// Returns all of them, with all series, of which one is counted.
pub fn all() -> Vec<Contender> {
    let enums = Family::new();
    all_sets().for_each(|set| _ = enums.with(Enums::of(set)));
    let hot = Texts::of(HOT);
    vec![
        Contender::new("windrow, handle kept", texts().handle(Strings::of(&hot))),
        Contender::new("windrow, 3 enums", ByEnums(enums, Enums::of(HOT))),
        Contender::new(TEXTS, ByTexts(texts(), hot)),
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
