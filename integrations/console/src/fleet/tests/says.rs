//! The beginnings of the sentences that no past of a process has.

use serde_json::Value;

use super::super::answer;
use super::super::says::{Beginnings, MOST_BEGINNINGS, Says, Since};
use super::super::view::View;
use super::simulated::{key, ten};
use super::{Head, Members, at, members_at, read, small};

#[test]
fn a_process_is_unlike_the_others_since_the_first_view_that_says_so() {
    let slow = ten(1, |process| if process == 6 { 20 } else { 1 }, |_| 20);
    let alike = ten(1, |_| 1, |_| 20);
    let mut beginnings = Beginnings::default();
    let mut since = |members: &Members, second| {
        let mut view = View { now: at(second), ..View::of(members, at(10)) };
        view.note(&mut beginnings);
        let head = Head { name: "shop".to_owned(), begun: 0, troubles: Vec::new() };
        let seen: Value = serde_json::from_str(&answer::json(&head, &view)).unwrap();
        seen["says"].get(0).map(|says| {
            let why = says["why"].as_str().unwrap();
            assert!(why.starts_with("p99 ") && why.ends_with(", in shop-6 only"), "{why}");
            assert_eq!(says["text"], format!("{} {why}", key(0)));
            says["since_ms"].as_u64().unwrap()
        })
    };
    let seen = [(&slow, 10), (&slow, 20), (&alike, 30), (&slow, 40), (&slow, 50)]
        .map(|(members, second)| since(members, second));
    assert_eq!(seen, [10_000, 10_000, 0, 40_000, 40_000].map(|at| (at > 0).then_some(at)));
}

#[test]
fn each_process_is_unlike_the_others_since_a_time_of_its_own() {
    let slow = |one: usize, other: usize| {
        ten(1, |process| if process == one || process == other { 20 } else { 1 }, |_| 20)
    };
    let (first, both, second) = (slow(6, 6), slow(6, 7), slow(7, 7));
    let mut beginnings = Beginnings::default();
    let mut since = |members: &Members, now| {
        let mut view = View { now: at(now), ..View::of(members, at(10)) };
        view.note(&mut beginnings);
        view.says[0].since
    };
    let seen = [(&first, 20), (&both, 30), (&second, 40)].map(|(of, now)| since(of, now));
    assert_eq!(seen, [20, 20, 30].map(|second| Since::Fleet(at(second))));
}

/// Returns a view in which one process is slow, after this number of more urgent sentences.
fn behind(more: usize, now: u64) -> View {
    let slow = ten(1, |process| if process == 6 { 20 } else { 1 }, |_| 20);
    let mut view = View { now: at(now), ..View::of(&slow, at(10)) };
    let unlike = view.says.remove(0);
    let urgent = |at: usize| Says { key: Some(at.to_string()), ..unlike.clone() };
    view.says = (0..more).map(urgent).chain([unlike.clone()]).collect();
    view
}

#[test]
fn the_beginning_of_a_sentence_that_is_not_shown_is_kept() {
    let mut beginnings = Beginnings::default();
    let mut last = |now, more| {
        let mut view = behind(more, now);
        view.note(&mut beginnings);
        (view.says.last().unwrap().since, view.more)
    };
    let seen = [last(20, 0), last(30, 200), last(40, 0)];
    assert_eq!(
        seen,
        [(20, 0), (30, 101), (20, 0)].map(|(now, more)| (Since::Fleet(at(now)), more))
    );
}

#[test]
fn the_number_of_beginnings_has_a_limit() {
    let mut beginnings = Beginnings::default();
    let mut last = |now, more| {
        let mut view = behind(more, now);
        beginnings.note(view.now, &view.processes, &mut view.says);
        view.says.last().unwrap().since
    };
    let seen = [last(20, 0), last(30, MOST_BEGINNINGS - 1), last(40, MOST_BEGINNINGS)];
    assert_eq!(seen, [Since::Fleet(at(20)), Since::Fleet(at(20)), Since::Unknown]);
}

#[test]
fn numbers_differ_since_the_first_view_that_says_so() {
    let mut members = members_at(&["a:1", "b:1"]);
    let mut beginnings = Beginnings::default();
    let mut seen = Vec::new();
    for (second, form) in [(1, "gauge"), (2, "counter"), (3, "counter")] {
        let mut answer = small("b", "1", second, 1);
        answer["metrics"][1]["form"] = form.into();
        members.note("a:1", at(second), read(&small("a", "1", second, 1)));
        members.note("b:1", at(second), read(&answer));
        let mut view = View::of(&members, at(second));
        view.note(&mut beginnings);
        seen.extend(view.says.iter().map(|says| (says.what, says.since)));
    }
    assert_eq!(seen, [("differs", Since::Fleet(at(2))); 2]);
}
