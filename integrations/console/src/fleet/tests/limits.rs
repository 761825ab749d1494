//! The limits of a fleet: a number beyond them is refused or left out, and the fleet says so.

use serde_json::{Value, json};
use windrow::Histogram;

use super::super::answer;
use super::super::courses::Courses;
use super::super::members::{Limits, Members, STALE};
use super::{Head, at, members_at, noted, read, seen, small, sums};

/// Returns a fleet of these addresses with other limits.
fn limited(addresses: &[&str], limits: Limits) -> Members {
    let mut members = members_at(addresses);
    members.limits = limits;
    members
}

/// Returns the length of an answer.
fn length(answer: &Value) -> usize {
    answer.to_string().len()
}

/// Returns the instances that are there.
fn instances(seen: &Value) -> Vec<&str> {
    let processes = seen["processes"].as_array().unwrap().iter();
    processes.map(|process| process["instance"].as_str().unwrap()).collect()
}

#[test]
fn of_too_many_processes_the_new_one_is_refused() {
    let limits = Limits { lives: 2, ..Limits::default() };
    let mut members = limited(&["a:1", "b:1", "c:1"], limits);
    for second in 1..4 {
        for address in ["a:1", "b:1", "c:1"] {
            members.note(address, at(second), read(&small(address, "1", 10 + second, 1)));
        }
    }
    let now = seen(&members, at(3));
    assert_eq!(instances(&now), ["a:1", "b:1"]);
    let why = "the fleet has more than 2 processes, or 128 MiB of numbers";
    assert_eq!(
        (&now["failing"][0]["address"], &now["failing"][0]["why"]),
        (&"c:1".into(), &why.into())
    );
    // One that is started anew takes the place of the process before it, at once.
    members.note("a:1", at(4), read(&small("a:1", "2", 1, 1)));
    assert_eq!(sums(&members, at(4)), [13 + 13 + 1, 2]);
    assert_eq!(seen(&members, at(4))["failing"].as_array().unwrap().len(), 1);
    // Once one is gone, there is room.
    let late = at(5) + STALE;
    for address in ["b:1", "c:1"] {
        members.note(address, late, read(&small(address, "1", 20, 1)));
    }
    let now = seen(&members, late);
    assert_eq!((instances(&now), &now["failing"]), (vec!["b:1", "c:1"], &json!([])));
    assert_eq!(sums(&members, late), [13 + 1 + 20 + 20, 2]);
}

#[test]
fn an_answer_for_which_there_is_no_room_removes_no_other() {
    let [a, b] = ["a:1", "b:1"].map(|address| small(address, "1", 10, 1));
    let limits = Limits { bytes: length(&a) + length(&b), ..Limits::default() };
    let mut members = limited(&["a:1", "b:1"], limits);
    members.note("a:1", at(1), read(&a));
    members.note("b:1", at(1), read(&b));
    // The answer of the first one grows.
    let mut grown = small("a:1", "1", 11, 1);
    grown["metrics"][0]["help"] = "longer".into();
    members.note("a:1", at(2), read(&grown));
    members.note("b:1", at(2), read(&small("b:1", "1", 12, 1)));
    let now = seen(&members, at(2));
    assert_eq!(instances(&now), ["a:1", "b:1"]);
    assert_eq!(sums(&members, at(2)), [22, 2], "its numbers are those before");
    assert_eq!(
        (&now["failing"][0]["address"], &now["failing"][0]["state"]),
        (&"a:1".into(), &"refused".into())
    );
    // The other one is gone: there is room.
    let late = at(3) + STALE;
    members.note("a:1", late, read(&grown));
    assert_eq!(seen(&members, late)["failing"], json!([]));
    assert_eq!(sums(&members, late), [23, 1]);
}

/// Returns the answer of a process with a counter of one series, which has this route.
fn routed(instance: &str, route: &str) -> Value {
    let mut answer = small(instance, "1", 1, 1);
    answer["metrics"][0]["series"][0]["key"] = format!("visits{{route={route:?}}}").into();
    answer
}

#[test]
fn the_sums_of_processes_that_are_gone_have_a_limit_and_what_is_missing_is_said() {
    // Two texts of the metric, one of its event, and for each key a text and a sum.
    let limits = Limits { lives: 1, sums: 3 + 2 * 10, ..Limits::default() };
    let mut members = limited(&["a:1"], limits);
    let long = "x".repeat(256);
    for life in 0..20 {
        // Each key comes twice.
        let route = if life == 4 { long.clone() } else { (life / 2).to_string() };
        members.note("a:1", at(life), read(&routed(&format!("life {life}"), &route)));
    }
    let kept: Vec<usize> = members.past.metrics.iter().map(|metric| metric.rows.len()).collect();
    // 0, 1, the long one, whose text counts twice, and 2 to 7: 8 and 9 are beyond the limit.
    assert_eq!(kept, [9]);
    let seen = seen(&members, at(20));
    let rows = seen["metrics"][0]["rows"].as_array().unwrap();
    let counts: u64 = rows.iter().map(|row| row["all"]["visits"]["count"].as_u64().unwrap()).sum();
    assert_eq!(counts, 20 - members.left_out as u64);
    // Two with 8, and one with 9: another one with that is there.
    assert_eq!(members.left_out, 3);
    let says = seen["says"].as_array().unwrap().iter().find(|says| says["what"] == "left-out");
    let expected = "all-time sums lack 3 series of processes that are gone: there are too many";
    assert_eq!(says.unwrap()["text"], expected);
}

/// Returns the answer of a process with a histogram of these powers of two, each in its own cell.
fn spread(instance: &str, powers: std::ops::Range<u32>) -> Value {
    let values = Histogram::new();
    powers.for_each(|power| values.record(1 << power));
    let values = json!([{ "Histogram": values.distribution() }]);
    let mut answer = small(instance, "1", 1, 1);
    answer["metrics"] = json!([{
        "name": "times", "help": "", "form": "histogram", "unit": null, "events": [],
        "series": [{ "key": "times", "span_ns": 0, "all": values, "last": values }],
    }]);
    answer
}

#[test]
fn the_sums_of_distributions_count_by_their_cells() {
    // Two texts of the metric, one of its event, those of the key and its sum, and 16 cells.
    let limits = Limits { lives: 1, sums: 3 + 2 + 1, ..Limits::default() };
    let mut members = limited(&["a:1"], limits);
    for (second, powers) in (0..).zip([10..26, 10..26, 9..25, 12..20, 10..26, 10..11]) {
        members.note("a:1", at(second), read(&spread(&format!("life {second}"), powers)));
    }
    // The third one has a cell more, and is left out; the last one is there.
    assert_eq!(members.left_out, 1);
    let seen = seen(&members, at(6));
    let all = &seen["metrics"][0]["rows"][0]["all"]["times"];
    assert_eq!(all["count"], 16 + 16 + 8 + 16 + 1);
    assert_eq!(all["min"], 1 << 10);
}

#[test]
fn of_many_sentences_the_most_urgent_are_told_and_the_number_of_the_others() {
    let mut members = members_at(&["a:1", "b:1", "c:1"]);
    let change = |key: u64| json!({ "key": format!("series {key}"), "what": "slow", "since_ms": 1, "says": "p99" });
    for (address, keys) in [("a:1", 0..150), ("b:1", 149..150)] {
        let mut answer = small(address, "1", 1, 1);
        answer["unusual"]["changes"] = keys.map(change).collect();
        members.note(address, at(1), read(&answer));
    }
    members.note("c:1", at(1), read(&json!({ "form": 9 })));
    let seen = seen(&members, at(1));
    let says = seen["says"].as_array().unwrap();
    assert_eq!((says.len(), &seen["says_more"]), (100, &json!(51)));
    assert_eq!(says[0]["what"], "refused-member");
    assert_eq!(says[1]["text"], "series 149 p99, in all 2 processes");
    let text = text(&members);
    assert!(text.contains("\nwrong: and 51 more\n"), "{text}");
    assert_eq!(text.matches("wrong: ").count(), 101);
}

#[test]
fn of_many_lists_of_heavy_keys_the_first_are_shown_and_the_number_of_the_others() {
    let mut members = members_at(&["a:1"]);
    let mut answer = small("a", "1", 1, 1);
    let list = |number: u64| {
        let keys = json!({ "total": 5, "max_error": 0, "keys": [["acme", 5, 5]] });
        let span = |millis: u64| json!({ "span_ms": millis, "keys": keys });
        json!({ "name": format!("list {number:02}"), "help": "", "spans": [span(1_000), span(2_000)] })
    };
    answer["heavy"] = (0..75).map(list).collect();
    answer["heavy"][0]["spans"].as_array_mut().unwrap().pop();
    members.note("a:1", at(1), read(&answer));
    let seen = seen(&members, at(1));
    let spans: Vec<usize> = (seen["heavy"].as_array().unwrap().iter())
        .map(|list| list["spans"].as_array().unwrap().len())
        .collect();
    assert_eq!((spans.len(), spans.iter().sum(), spans[0], spans[50]), (51, 100, 1, 1));
    assert_eq!(seen["heavy_more"], 49);
    assert!(text(&members).contains("\nand 49 more lists of heavy keys\n"));
}

/// Returns the fleet as a terminal shows it.
fn text(members: &Members) -> String {
    let head = Head { name: "shop".to_owned(), begun: 0, troubles: Vec::new() };
    answer::text(&head, &noted(members, at(1)), &Courses::default())
}
