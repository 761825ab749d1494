//! Names and labels that cannot be exported.

use std::sync::Arc;

use opentelemetry_sdk::metrics::Temporality;
use windrow::{Counter, Family, Histogram, SlidingWindow, labels};
use windrow_opentelemetry::ObserveError;

use crate::{Queue, Sdk, User};

labels! {
    struct Overflow { overflow: str }
    struct Event { event: str }
    struct Bound { le: u64 }
}

#[test]
fn names_that_the_sdk_would_not_take_are_refused() {
    static HITS: Counter = Counter::new();
    let mut observer = Sdk::new(Temporality::Cumulative, None).observer();
    let refused = |name: &str, problem: &str| {
        Err(ObserveError::Name { name: name.to_owned(), problem: problem.to_owned() })
    };
    assert_eq!(observer.observe("", "", &HITS), refused("", "is empty"));
    for (name, character) in [("1a", '1'), ("_a", '_'), ("a b", ' '), ("ä", 'ä'), ("a\n", '\n')] {
        let error = observer.observe(name, "", &HITS).unwrap_err().to_string();
        let begin = format!("the name `{name}` has {character:?}; a name is made of ASCII letters");
        assert!(error.starts_with(&begin), "{error}");
    }
    let long = "a".repeat(256);
    let too_long = refused(&long, "has 256 characters, of 255 at most");
    assert_eq!(observer.observe(&long, "", &HITS), too_long);
    observer.observe(&"a".repeat(255), "", &HITS).unwrap();

    observer.observe("hits", "", &HITS).unwrap();
    let taken = |name: &str| refused(name, "is taken; case makes no difference");
    assert_eq!(observer.observe("HITS", "", &HITS), taken("HITS"));
    let users = Arc::new(Family::<User, Counter>::new());
    observer.observe("users.overflow", "", &HITS).unwrap();
    assert_eq!(observer.observe("users", "", Arc::downgrade(&users)), taken("users.overflow"));
    // Nothing of it is exported.
    observer.observe("users", "", &HITS).unwrap();
}

#[test]
fn labels_of_our_own_names_are_refused() {
    let mut observer = Sdk::new(Temporality::Cumulative, None).observer();
    let twice = |label: &str| Err(ObserveError::LabelTwice { label: label.to_owned() });
    let overflow = Arc::new(Family::<Overflow, Counter>::new());
    assert_eq!(observer.observe("a", "", Arc::downgrade(&overflow)), twice("overflow"));
    let make = || SlidingWindow::<Queue>::builder().build().unwrap();
    let windows = Arc::new(
        Family::<Event, SlidingWindow<Queue>, _>::with_constructor(make).with_max_series(9),
    );
    assert_eq!(observer.observe("a", "", Arc::downgrade(&windows)), twice("event"));
    let bounds = Arc::new(Family::<Bound, Histogram>::new().with_max_series(9));
    assert_eq!(observer.observe("a", "", Arc::downgrade(&bounds)), twice("le"));
    let bounds = Family::<_, Histogram>::with_names(["route", "le"]).unwrap().with_max_series(9);
    let bounds = Arc::new(bounds);
    assert_eq!(observer.observe("a", "", Arc::downgrade(&bounds)), twice("le"));
    let events = Arc::new(Family::<Event, Counter>::new());
    observer.observe("a", "", Arc::downgrade(&events)).unwrap();
}
