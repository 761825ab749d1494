//! Sets of events that are wrong: written by hand, or by the macro.

use crate::{build, refuses, says};

/// Returns a set of events by hand, and the parts of it that a case is about.
fn by_hand(events: &str, cells: &str, more: &str) -> String {
    format!(
        "#![forbid(unsafe_code)]
use windrow::{{Event, Events, Kind, SlidingWindow, kind}};

struct It;

impl Events for It {{
    const EVENTS: &'static [(&'static str, Kind)] = &{events};
    type Cells = {cells};
    {more}
}}

const FIRST: Event<It, kind::Count> = Event::at(0);

fn main() {{
    let window = SlidingWindow::<It>::builder().build().unwrap();
    window.add(FIRST, 1);
}}
"
    )
}

/// One set may be a subtype of another, which has more cells: a window of the one, taken for a
/// window of the other, wrote beyond its block.
#[test]
fn a_window_and_an_event_of_a_subtype() {
    let sets = r#"#![allow(coherence_leak_check)]
use windrow::{Event, Events, Kind, SlidingWindow, kind, snapshot::Totals};

struct Set<T>(std::marker::PhantomData<T>);
type Many = Set<for<'a> fn(&'a ())>; // a subtype of the next
type One = Set<fn(&'static ())>;

impl Events for Many {
    const EVENTS: &'static [(&'static str, Kind)] = &[("n", Kind::Count); 3000];
    type Cells = [u64; 3000];
}

impl Events for One {
    const EVENTS: &'static [(&'static str, Kind)] = &[("n", Kind::Maximum)];
    type Cells = [u64; 2];
}
"#;
    for (name, line) in [
        ("window", "fn coerced(one: SlidingWindow<One>) -> SlidingWindow<Many> { one }"),
        ("window_back", "fn coerced(many: SlidingWindow<Many>) -> SlidingWindow<One> { many }"),
        ("totals", "fn coerced(one: Totals<One>) -> Totals<Many> { one }"),
        ("event", "fn coerced(many: Event<Many, kind::Count>) -> Event<One, kind::Count> { many }"),
        ("event_back", "fn coerced(one: Event<One>) -> Event<Many> { one }"),
        (
            "moment",
            "fn coerced(many: windrow::snapshot::Moment<Many>) -> windrow::snapshot::Moment<One> { many }",
        ),
    ] {
        let source = format!("{sets}\n{line}\n\nfn main() {{}}\n");
        says(&format!("subtype_{name}"), &source, &["one type is more general than the other"]);
    }
}

const ONE: &str = r#"[("It", Kind::Count)]"#;

/// Places could be said by an implementation, and were taken on trust: cell 4 of one cell was a
/// stranger's counter.
#[test]
fn an_implementation_cannot_say_where_cells_stand() {
    let places = "const PLACES: &'static [windrow::Place] = &[windrow::Place::Count { cell: 4 }];";
    let attack = by_hand(ONE, "[u64; 1]", places);
    says("places", &attack, &["`PLACES` is not a member of trait `Events`", "cannot find"]);
    assert_eq!(build("no_places", &by_hand(ONE, "[u64; 1]", "")), Ok(String::new()));
}

/// Only a set of events gives an event its kind and place.
#[test]
fn an_event_that_its_set_does_not_have() {
    let value = by_hand(r#"[("It", Kind::Value)]"#, "[u64; 4]", "");
    says("event_of_another_kind", &value, &["the event is of another kind"]);
    let none = by_hand("[]", "[u64; 0]", "");
    says("event_beyond", &none, &["the set has fewer events"]);
    let many = by_hand(r#"[("It", Kind::Count); 70_000]"#, "[u64; 70_000]", "");
    says("events_beyond_a_position", &many, &["a set has at most 65 536 events"]);
    let forged =
        "let forged = windrow::Event::<It, kind::Value> { index: 0, of: Default::default() };";
    let forged =
        by_hand(ONE, "[u64; 1]", "").replace("let window", &format!("{forged}\n    let window"));
    says("event_forged", &forged, &["of struct `Event` are private"]);
}

#[test]
fn cells_other_than_the_events_need() {
    let needs = "must be `[u64; N]`, N being the sum of all events' `Kind::cells`";
    says("fewer", &by_hand(ONE, "[u64; 0]", ""), &[needs]);
    says("more", &by_hand(ONE, "[u64; 5]", ""), &[needs]);
    says("no_array", &by_hand(ONE, "Vec<u64>", ""), &[needs]);
}

/// A window for them mapped the whole arena, and then counted in shared cells.
#[test]
fn more_cells_than_a_row_has_columns() {
    let most =
        "fits a row of 8192 cells: one for each `Count` or `Signed`, five for each `Value`, two";
    let values: Vec<_> = (0..2049).map(|value| format!("V{value}: Value")).collect();
    refuses("too_many", &format!("pub enum TooMany {{ {} }}", values.join(", ")), &[most]);
    let events = r#"[("It", Kind::Count); 8193]"#;
    says("too_many_by_hand", &by_hand(events, "[u64; 8193]", ""), &[most]);
}

#[test]
fn a_histogram_with_what_is_no_scale_or_that_does_not_fit() {
    let with = |scale: &str| format!("pub enum Http {{ Pass: Count, Rt: Histogram({scale}) }}");
    refuses(
        "no_schema",
        &with("windrow::histogram::Scale::fixed::<6, 1, 2>()"),
        &["a schema must be 0 to 5"],
    );
    let range = "`MIN` must be at least 1 and at most `MAX`";
    refuses("no_range", &with("windrow::histogram::Scale::fixed::<3, 2, 1>()"), &[range]);
    refuses("no_scale", &with("3"), &["expected `Scale`, found integer"]);
    let brackets = "only a `Histogram` has, its `windrow::histogram::Scale`";
    refuses("scale_of_count", "pub enum Http { Pass: Count(3) }", &[brackets]);
    let finest = "Histogram(windrow::histogram::Scale::fixed::<5, 1, { u64::MAX }>())";
    let two = format!("pub enum Http {{ Rt: {finest}, Size: {finest} }}");
    refuses(
        "too_fine",
        &two,
        &["fits a row of 8192 cells", "three for each cell of a `Histogram`'s scale"],
    );
}

#[test]
fn a_kind_that_is_left_out_or_unknown() {
    let needed = "each event needs a kind: `Pass: Count`, or another `windrow::Kind`";
    refuses("no_kind", "pub enum Http { Rt: Value, Pass }", &[needed]);
    let unknown = "`Counter` is no kind of event: write `Pass: Count`, or another `windrow::Kind`";
    let shown = "cannot find type `Counter` in module"; // where it stands
    refuses("unknown_kind", "pub enum Http { Pass: Counter }", &[unknown, shown]);
}

#[test]
fn an_event_with_the_name_of_the_sets_own_constant() {
    let taken = "`ALL` is the constant that has every event of the set";
    refuses("all", "pub enum Http { Pass: Count, ALL: Count }", &[taken]);
}

#[test]
fn a_set_of_no_events() {
    let needed = "an enum of events needs an event";
    refuses("empty", "pub enum Http {}", &[needed, "`enum Http { Pass: Count }`"]);
}

/// It would take the constant away, and leave the event.
#[test]
fn a_cfg_on_an_event() {
    let takes = "write two sets of events, each behind its `#[cfg]`";
    for attribute in ["cfg(any())", "cfg_attr(all(), doc = \"It.\")"] {
        let set = format!("pub enum Http {{ #[{attribute}] Rt: Value, Pass: Count }}");
        refuses("cfg", &set, &[takes]);
    }
}
