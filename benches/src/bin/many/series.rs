//! Series of counters by route and status.

use std::hint::black_box;

use windrow::{Counter, Family, labels};

use crate::part::{AT_RANDOM, Part, Row, at_random, bytes, nanos, sets};

labels! { struct Request { route: str, status: u16 } }

type Series = Family<Request<'static>, Counter>;

/// Measures this number of series.
fn measure(count: usize) -> Row {
    let routes: Vec<String> = (0..count).map(|number| format!("/api/v1/item{number}")).collect();
    let add =
        |family: &Series, route: &str| family.with(Request { route, status: 200 }).increment();
    let add_all = |family: &Series| routes.iter().for_each(|route| add(family, route));
    let make = || Series::new().with_max_series(count);
    let (family, bytes) = bytes(|| {
        let family = make();
        add_all(&family);
        family
    });
    let order = at_random(count);
    let again = nanos(AT_RANDOM, || {
        for number in &order {
            add(&family, black_box(&routes[*number as usize]));
        }
    });
    let families: Vec<Series> = (0..sets(count)).map(|_| make()).collect();
    let first = nanos(sets(count) * count, || families.iter().for_each(add_all));
    Row { contender: "windrow", count, figures: vec![bytes as f64 / count as f64, first, again] }
}

pub(crate) const PART: Part = Part {
    name: "series",
    about: "Series of counters by route and status.",
    columns: &["bytes", "first add", "add at random"],
    measure: |count| vec![measure(count)],
};
