//! Names that an exposition takes and refuses.

use std::sync::Arc;

use windrow::export::Catalog;
use windrow::{Counter, Family, Gauge, Histogram, labels};
use windrow_prometheus::{Buckets, Exposition, Format, RegisterError, buckets};

use crate::formats::read;
use crate::spec::text::Rules;

labels! { struct Overflow { overflow: str } }

#[test]
fn names_that_scrapers_would_see_as_one_are_refused() {
    static HITS: Counter = Counter::new();
    let taken = |name: &str| Err(RegisterError::NameTaken { name: name.to_owned() });
    let mut metrics = Exposition::new();
    metrics.register("a.b", "", &HITS).unwrap();
    for name in ["a.b", "a_b", "a-b", "U__a_2e_b_"] {
        assert_eq!(metrics.register(name, "", &HITS), taken(name));
    }
    for name in ["a.b_total", "a_b_created", "U__a_2e_b__total"] {
        assert_eq!(metrics.register(name, "", Arc::new(Gauge::new())), taken(name), "{name}");
    }
    let before = metrics.to_string();
    assert_eq!(metrics.info("a_b", "", &[]), taken("a_b"));
    let total = RegisterError::Total { name: "x_total".to_owned() };
    assert_eq!(metrics.register("x_total", "", &HITS), Err(total));
    let info = RegisterError::Info { name: "x_info".to_owned() };
    assert_eq!(metrics.info("x_info", "", &[]), Err(info));
    assert_eq!(metrics.register("", "", &HITS), Err(RegisterError::NoName));
    assert_eq!(metrics.info("", "", &[]), Err(RegisterError::NoName));
    let unit = RegisterError::Unit { unit: "m/s".to_owned(), character: '/' };
    assert_eq!(metrics.register_in("m/s", "speed", "", &HITS), Err(unit));
    let per_zero = RegisterError::PerZero { name: "rt".to_owned() };
    let zero = buckets(Arc::new(Histogram::new()), Buckets::octaves().per(0));
    assert_eq!(metrics.register("rt", "", zero), Err(per_zero));
    assert_eq!(metrics.to_string(), before, "something of it is shown");
}

#[test]
fn plain_names_have_plain_prefixes_and_labels() {
    static HITS: Counter = Counter::new();
    let name =
        |name: &str, character| Err(RegisterError::Name { name: name.to_owned(), character });
    let label = |label: &str, character| {
        let label = label.to_owned();
        Err(RegisterError::Label { label, character: Some(character) })
    };
    let mut metrics = Exposition::new().with_plain_names();
    assert_eq!(metrics.register("a.b", "", &HITS), name("a.b", '.'));
    assert_eq!(metrics.info("a-b", "", &[]), name("a-b", '-'));
    assert_eq!(metrics.info("a", "", &[("b:c", "")]), label("b:c", ':'));
    metrics.register("a:b", "", &HITS).unwrap();
    let mut metrics = metrics.with_prefix("my.shop");
    assert_eq!(metrics.register("a", "", &HITS), name("my.shop_a", '.'));
    assert_eq!(metrics.info("a", "", &[]), name("my.shop_a", '.'));
    let mut metrics = metrics.with_prefix("").with_label("1st", "");
    assert_eq!(metrics.register("a", "", &HITS), label("1st", '1'));
    assert_eq!(metrics.to_string().lines().count(), 2);
}

#[test]
fn labels_that_scrapers_would_see_as_one_are_refused() {
    let family = |names: [&str; 2]| Arc::new(Family::<_, Counter>::with_names(names).unwrap());
    let twice = |label: &str| Err(RegisterError::LabelTwice { label: label.to_owned() });
    let reserved = |label: &str| Err(RegisterError::ReservedLabel { label: label.to_owned() });
    let mut metrics = Exposition::new();
    assert_eq!(metrics.register("a", "", family(["b.c", "b_c"])), twice("b_c"));
    assert_eq!(metrics.register("a", "", family(["b.c", "U__b_2e_c"])), twice("U__b_2e_c"));
    assert_eq!(metrics.register("a", "", family(["__b", "c"])), reserved("__b"));
    let overflow = Arc::new(Family::<Overflow, Counter>::new());
    assert_eq!(metrics.register("a", "", overflow), reserved("overflow"));
    metrics.register("a", "", family(["b.c", "b"])).unwrap();
    let mut metrics = metrics.with_label("zone.x", "");
    assert_eq!(metrics.register("b", "", family(["c", "zone_x"])), twice("zone_x"));
    assert_eq!(metrics.info("b", "", &[("zone.x", "")]), twice("zone.x"));
    let mut metrics = metrics.with_label("overflow", "");
    assert_eq!(metrics.register("b", "", family(["c", "d"])), reserved("overflow"));
    metrics.register("b", "", Arc::new(Counter::new())).unwrap();
}

#[test]
fn a_catalogs_units_become_those_of_prometheus() {
    let mut catalog = Catalog::new();
    for (name, unit) in [("a", "ns"), ("b_bytes", "By"), ("c", "{request}"), ("d", "")] {
        let source = Arc::new(Histogram::new());
        catalog.add(name, "", source).unwrap().unit = unit.into();
    }
    let mut metrics = Exposition::new();
    metrics.register_all(&catalog).unwrap();
    let found = read(&metrics, Format::OPENMETRICS, Rules::OpenMetrics);
    let units: Vec<_> = found.iter().map(|one| (one.name.as_str(), one.unit.as_str())).collect();
    let expected = [("a_nanoseconds", "nanoseconds"), ("b_bytes", "bytes"), ("c", ""), ("d", "")];
    assert_eq!(units, expected);
    assert!(metrics.register_all(&catalog).is_err(), "the names are taken");
}
