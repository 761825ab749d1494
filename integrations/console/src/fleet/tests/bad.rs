//! Answers that are none of a member: they are refused, with the reason, and nothing of them
//! counts.

use serde_json::{Value, json};

use super::super::merge::Merged;
use super::super::reading::Reading;
use super::{at, members_at, read, seen, small, sums};

/// Returns why an answer is refused.
fn flaw(answer: &Value) -> String {
    Reading::parse(answer.to_string().as_bytes()).unwrap_err().to_string()
}

/// Returns an answer whose one series has these numbers.
fn with(form: &str, all: &Value) -> Value {
    let mut answer = small("a", "1", 1, 1);
    let last = if form == "histogram" { json!([all]) } else { json!([]) };
    answer["metrics"] = json!([{
        "name": "x", "help": "", "form": form, "unit": null, "events": [],
        "series": [{ "key": "x", "span_ns": 0, "all": [all], "last": last }],
    }]);
    answer
}

#[test]
fn what_is_no_console_is_refused() {
    for answer in [&b""[..], b"<html>", b"{}", b"null", b"[1]", b"{\"form\":1}", b"\xff\xfe"] {
        let flaw = Reading::parse(answer).unwrap_err().to_string();
        assert!(flaw.starts_with("the answer is none of a console's: "), "{flaw}");
    }
    let deep = "[".repeat(100_000);
    assert!(Reading::parse(deep.as_bytes()).is_err());
}

#[test]
fn another_form_is_refused_by_its_number() {
    let expected = "it is a console of form 2, and this one reads form 1";
    assert_eq!(flaw(&json!({ "form": 2, "all": "else" })), expected);
    let mut answer = small("a", "1", 1, 1);
    answer["form"] = 2.into();
    assert_eq!(flaw(&answer), expected);
}

#[test]
fn the_reason_is_short_however_long_the_answer_is() {
    let long = "x".repeat(1 << 20);
    let answer = json!({ "form": long });
    assert!(flaw(&answer).starts_with("the answer is none of a console's: "));
    let mut named = small("a", "1", 1, 1);
    named["metrics"][0]["name"] = long.as_str().into();
    named["metrics"][0]["form"] = long.as_str().into();
    let mut numbered = small("a", "1", 1, 1);
    numbered["metrics"][0]["series"][0]["all"] = json!([{ long.as_str(): 1 }]);
    for answer in [answer, named, numbered] {
        let flaw = flaw(&answer);
        assert!(flaw.chars().count() < 500, "{} characters", flaw.len());
    }
}

#[test]
fn a_metric_of_an_unknown_type_is_refused() {
    let mut answer = small("a", "1", 1, 1);
    answer["metrics"][1]["form"] = "summary".into();
    assert_eq!(flaw(&answer), "`open` is of an unknown type: `summary`");
    for form in ["counter", "gauge", "maximum", "minimum"] {
        answer["metrics"][1]["form"] = form.into();
        assert!(read(&answer).is_ok(), "{form}");
    }
}

#[test]
fn a_metric_of_very_many_events_is_refused() {
    let with = |number: usize| {
        let mut answer = small("a", "1", 1, 1);
        let event = |at: usize| json!({ "name": at.to_string(), "unit": null });
        answer["metrics"][0]["events"] = (0..number).map(event).collect();
        answer
    };
    assert!(read(&with(1_000)).is_ok());
    assert_eq!(flaw(&with(1_001)), "`visits` has 1001 events: more than 1000");
}

#[test]
fn what_differs_is_said_briefly() {
    let mut members = members_at(&["a:1", "b:1"]);
    let long = "x".repeat(100_000);
    for (address, form) in [("a:1", "counter"), ("b:1", "gauge")] {
        let mut answer = small(address, "1", 1, 1);
        answer["metrics"][0]["name"] = long.as_str().into();
        answer["metrics"][0]["form"] = form.into();
        members.note(address, at(1), read(&answer));
    }
    let seen = seen(&members, at(1));
    let differs = seen["processes"][1]["differs"].as_str().unwrap();
    assert!(differs.ends_with("is a gauge here, and a counter there"), "{}", differs.len());
    assert!(differs.chars().count() < 500, "{} characters", differs.len());
}

#[test]
fn impossible_numbers_are_refused() {
    let values = |extremes: Value, cells: Value| {
        let scale = json!([3, 513, 68_719_476_736_u64]);
        let values = json!({ "scale": scale, "sum": 1, "extremes": extremes, "cells": cells });
        with("histogram", &json!({ "Histogram": values }))
    };
    assert!(read(&values(json!([600, 600, true]), json!([[608, 1]]))).is_ok(), "the test's own");
    let refused = [
        with("counter", &json!({ "Count": -1 })),
        with("counter", &json!({ "Count": 1.5 })),
        with("counter", &json!({ "Count": 1e30 })),
        with("counter", &json!({ "Count": "7" })),
        with("counter", &json!({ "Many": 7 })),
        with("window", &json!({ "Value": { "count": 1, "sum": 1, "min": 2, "max": 1 } })),
        values(json!([600, 600, true]), json!([[607, 1]])),
        values(json!([600, 600, true]), json!([[608, 0]])),
        values(json!([600, 600, true]), json!([[608, 1], [608, 1]])),
        values(json!([1, 600, true]), json!([[608, 1]])),
        values(json!([600, 600, true]), json!([])),
    ];
    for answer in refused {
        let flaw = flaw(&answer);
        assert!(flaw.starts_with("the answer is none of a console's: "), "{flaw}");
    }
}

#[test]
fn numbers_that_are_not_of_the_events_are_refused() {
    let mut answer = small("a", "1", 1, 1);
    answer["metrics"][0]["form"] = "window".into();
    assert_eq!(flaw(&answer), "the numbers of `visits` are not of its events");
    let mut answer = small("a", "1", 1, 1);
    answer["metrics"][1]["name"] = "visits".into();
    assert_eq!(flaw(&answer), "`visits` is there twice");
    let mut answer = small("a", "1", 1, 1);
    answer["metrics"][1]["series"][0]["key"] = "visits".into();
    assert_eq!(flaw(&answer), "`visits` is there twice", "in two metrics");
    let mut answer = small("a", "1", 1, 1);
    let series = answer["metrics"][0]["series"][0].clone();
    answer["metrics"][0]["series"].as_array_mut().unwrap().push(series);
    assert_eq!(flaw(&answer), "`visits` is there twice");
    let mut answer = small("a", "1", 1, 1);
    let mut other = answer["metrics"][0]["series"][0].clone();
    other["key"] = "other".into();
    other["all"] = json!([{ "Signed": 1 }]);
    answer["metrics"][0]["series"].as_array_mut().unwrap().push(other);
    assert_eq!(flaw(&answer), "the numbers of `other` are not of its events");
}

#[test]
fn a_process_without_a_name_or_with_an_endless_one_is_refused() {
    assert_eq!(flaw(&small("a", "", 1, 1)), "its epoch is empty or longer than 256 bytes");
    let long = "x".repeat(257);
    assert_eq!(flaw(&small(&long, "1", 1, 1)), "its instance is empty or longer than 256 bytes");
}

#[test]
fn others_count_as_before_beside_a_bad_one() {
    let mut members = members_at(&["a:1", "b:1"]);
    members.note("a:1", at(1), read(&small("a", "1", 10, 3)));
    members.note("b:1", at(1), read(&json!({ "form": 9 })));
    assert_eq!(sums(&members, at(1)), [10, 3]);
    let seen = seen(&members, at(1));
    assert_eq!(seen["failing"][0]["state"], "refused");
    assert_eq!(
        seen["says"][0]["text"],
        "1 of 2 addresses is refused: b:1 (it is a console of form 9, and this one reads form 1)"
    );
}

#[test]
fn a_process_whose_metric_is_another_is_shown_and_not_added() {
    let mut members = members_at(&["a:1", "b:1"]);
    members.note("a:1", at(1), read(&small("a", "1", 10, 3)));
    let mut other = small("b", "1", 100, 100);
    other["metrics"][1]["form"] = "counter".into();
    other["metrics"][1]["series"][0]["all"] = json!([{ "Count": 7 }]);
    members.note("b:1", at(1), read(&other));
    assert_eq!(sums(&members, at(1)), [10, 3], "nothing of it, not even the metric that fits");
    let seen = seen(&members, at(1));
    assert_eq!(seen["processes"][1]["differs"], "`open` is a counter here, and a gauge there");
    assert_eq!(seen["says"][0]["what"], "differs");
}

#[test]
fn the_greatest_numbers_do_not_overflow() {
    let mut members = members_at(&["a:1", "b:1"]);
    for address in ["a:1", "b:1"] {
        members.note(address, at(1), read(&small(address, "1", u64::MAX, i64::MAX)));
    }
    let seen = seen(&members, at(1));
    let all = |metric: usize| &seen["metrics"][metric]["rows"][0]["all"];
    assert_eq!(all(0)["visits"]["count"], "36893488147419103230");
    assert_eq!(all(1)["open"]["sum"], "18446744073709551614");
}

#[test]
fn distributions_without_common_cells_have_no_percentiles_and_a_count() {
    let answer = |instance: &str, scale: [u64; 3], extremes: Value, cells: Value| {
        let values = json!({ "scale": scale, "sum": 9, "extremes": extremes, "cells": cells });
        let mut answer = with("histogram", &json!({ "Histogram": values }));
        answer["instance"] = instance.into();
        read(&answer).unwrap()
    };
    let mut merged = Merged::default();
    merged
        .add(0, &answer("a", [3, 513, 68_719_476_736], json!([600, 600, true]), json!([[608, 2]])));
    // Two values somewhere above 1024, which the other one tells apart.
    let above = json!([[u64::MAX, 2]]);
    merged.add(1, &answer("b", [3, 513, 1_024], json!([2_000, 90_000, true]), above));
    let shown = format!("{:?}", merged.metrics[0].rows["x"].all);
    assert_eq!(shown, "[Some(Histogram { count: 4, values: None })]");
}
