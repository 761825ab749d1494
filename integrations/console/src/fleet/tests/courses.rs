//! The courses of a fleet's series: each point is what the senders' books have for that round.

use std::cmp::Ordering;
use std::time::Duration;

use serde_json::{Value, json};

use super::super::answer;
use super::super::courses::{Courses, MOST_GONE, Point, ROUNDS};
use super::super::members::{Members, STALE};
use super::super::reading::Reading;
use super::super::view::View;
use super::simulated::{Book, Process, key};
use super::{Head, at, members_at, read, small};

/// Returns the points of a series, from the first round on.
fn points(courses: &Courses, key: &str) -> Vec<Option<Point>> {
    courses.points(key, ROUNDS).map(Iterator::collect).unwrap_or_default()
}

/// Ends the round of this second.
fn end(courses: &mut Courses, members: &Members, second: u64) {
    courses.end_round(at(second), &members.there(at(second)));
}

/// Returns a point from which no process is missing, of one second.
fn whole(count: u64, failed: u64) -> Point {
    Point { count, failed, rate: count as f64, lacks: 0 }
}

#[test]
fn each_point_is_what_the_books_have_for_that_second() {
    const ROUTES: usize = 3;
    let mut random = fastrand::Rng::with_seed(11);
    let processes: Vec<Process> = (0..4).map(|at| Process::new(&format!("shop-{at}"))).collect();
    let mut members = members_at(&["0:1", "1:1", "2:1", "3:1"]);
    let mut courses = Courses::default();
    let mut expected: [Vec<Option<Point>>; ROUTES] = std::array::from_fn(|_| Vec::new());
    for second in 1..=12 {
        let mut books: [Book; ROUTES] = std::array::from_fn(|_| Book::default());
        // The last route comes later.
        for _ in 0..random.u32(20..200) {
            let route = random.usize(0..if second < 5 { ROUTES - 1 } else { ROUTES });
            let process = &processes[random.usize(0..processes.len())];
            process.send(route, random.u64(0..1 << 30), random.u32(0..9) == 0, &mut books[route]);
        }
        for (address, process) in processes.iter().enumerate() {
            let mut reading = process.reading();
            reading.age_ms = 1_000 * second;
            members.note(&format!("{address}:1"), at(second), Ok(reading));
        }
        end(&mut courses, &members, second);
        for (route, book) in books.iter().enumerate() {
            let number = |count: u128| u64::try_from(count).unwrap();
            expected[route].push(match second {
                1 if route < ROUTES - 1 => Some(Point { lacks: 4, ..Point::default() }),
                1..5 if route == ROUTES - 1 => None,
                _ => Some(whole(number(book.pass), number(book.failed))),
            });
        }
    }
    for (route, expected) in expected.iter().enumerate() {
        assert_eq!(&points(&courses, &key(route)), expected, "route {route}");
    }
}

/// Returns the answer of a process with a window for each of these keys: its operations, and the
/// failed ones.
fn windows(instance: &str, epoch: &str, age_ms: u64, of: &[(&str, [u64; 2])]) -> Value {
    let series = |(key, [pass, failed]): &(&str, [u64; 2])| {
        let counts = json!([{ "Count": pass }, { "Count": failed }]);
        json!({ "key": key, "span_ns": 1_000_000_000, "all": counts, "last": counts })
    };
    let mut answer = small(instance, epoch, 0, 0);
    answer["age_ms"] = age_ms.into();
    answer["metrics"] = json!([{
        "name": "requests", "help": "", "form": "window", "unit": null,
        "events": [{ "name": "Pass", "unit": null }, { "name": "Failed", "unit": null }],
        "series": of.iter().map(series).collect::<Vec<_>>(),
    }]);
    answer
}

#[test]
fn a_process_that_does_not_answer_is_missing_and_nothing_of_it_is_lost_or_doubled() {
    const PROCESSES: usize = 5;
    let addresses = ["0:1", "1:1", "2:1", "3:1", "4:1"];
    let mut random = fastrand::Rng::with_seed(3);
    let (mut members, mut courses) = (members_at(&addresses), Courses::default());
    // What each has counted, what it had counted in its last answer, and the second of that.
    let (mut counted, mut told) = ([[0_u64; 2]; PROCESSES], [None; PROCESSES]);
    let (mut expected, mut all) = (Vec::new(), 0);
    for second in 1..=100 {
        let (mut point, mut lacks) = ([0; 2], 0);
        for (process, address) in addresses.iter().enumerate() {
            // One is started anew: the old one ends, and the new one begins.
            let restarts = process == 0 && second == 50;
            if restarts {
                (counted[0], told[0]) = ([0; 2], None);
                lacks += 1;
            }
            counted[process][0] += random.u64(0..100);
            counted[process][1] += random.u64(0..3);
            if !restarts && random.u32(0..5) == 0 {
                members.note(address, at(second), Err(super::Miss::Silent(String::new())));
                lacks += u32::from(told[process].is_some());
                continue;
            }
            let epoch = if process == 0 && second >= 50 { "2" } else { "1" };
            let answer = [("requests", counted[process])];
            let answer = windows(address, epoch, 1_000 * second, &answer);
            members.note(address, at(second), read(&answer));
            let Some((before, last)) = told[process].replace((counted[process], second)) else {
                lacks += 1;
                continue;
            };
            lacks += u32::from(last + 1 != second);
            let before: [u64; 2] = before;
            for number in 0..2 {
                point[number] += counted[process][number] - before[number];
            }
        }
        all += point[0];
        end(&mut courses, &members, second);
        expected.push((point, lacks));
    }
    let points = points(&courses, "requests");
    let seen: Vec<([u64; 2], u32)> =
        points.iter().flatten().map(|point| ([point.count, point.failed], point.lacks)).collect();
    assert_eq!(seen, expected);
    let sum: u64 = points.iter().flatten().map(|point| point.count).sum();
    assert_eq!(sum, all);
    assert!(seen.iter().any(|(_, lacks)| *lacks == 0) && seen.iter().any(|(_, lacks)| *lacks > 1));
}

#[test]
fn a_late_answer_has_the_mean_rate_of_its_time() {
    let (mut members, mut courses) = (members_at(&["a:1"]), Courses::default());
    for (second, answer) in [(1, Some(10)), (2, Some(20)), (3, None), (4, None), (5, Some(80))] {
        if let Some(pass) = answer {
            let answer = windows("a", "1", 1_000 * second, &[("requests", [pass, 0])]);
            members.note("a:1", at(second), read(&answer));
        }
        end(&mut courses, &members, second);
    }
    let missing = |lacks| Some(Point { lacks, ..Point::default() });
    let late = Some(Point { count: 60, failed: 0, rate: 20.0, lacks: 1 });
    let expected = [missing(1), Some(whole(10, 0)), missing(1), missing(1), late];
    assert_eq!(points(&courses, "requests"), expected);
}

#[test]
fn answers_that_are_not_a_second_apart_are_not_of_one_round() {
    let (mut members, mut courses) = (members_at(&["a:1"]), Courses::default());
    // The fleet stalls before the third answer, and asks again at once.
    let ages = [1_000, 2_000, 9_000, 9_001, 9_501, 11_001, 12_502];
    for (second, age) in (1_u64..).zip(ages) {
        let answer = windows("a", "1", age, &[("requests", [12 * second, 0])]);
        members.note("a:1", at(second), read(&answer));
        end(&mut courses, &members, second);
    }
    let seen: Vec<(u64, u32)> =
        points(&courses, "requests").iter().flatten().map(|it| (it.count, it.lacks)).collect();
    assert_eq!(seen, [(0, 1), (12, 0), (12, 1), (12, 1), (12, 0), (12, 0), (12, 1)]);
}

/// Ends rounds in which two processes answer, with one more operation in each second. The second
/// one is silent from this second on, and answers in the last one.
fn with_a_silence(courses: &mut Courses, from: u64, last: u64) {
    let mut members = members_at(&["a:1", "b:1"]);
    for second in 1..=last {
        for address in ["a:1", "b:1"] {
            if address == "a:1" || second < from || second == last {
                let answer = windows(address, "1", 1_000 * second, &[("requests", [second, 0])]);
                members.note(address, at(second), read(&answer));
            }
        }
        end(courses, &members, second);
    }
}

#[test]
fn the_operations_of_a_long_silence_are_in_the_point_of_the_next_answer() {
    let last = |courses: &Courses| points(courses, "requests").pop().flatten();
    let mut courses = Courses::default();
    with_a_silence(&mut courses, 5, 60);
    let all: u64 = points(&courses, "requests").iter().flatten().map(|point| point.count).sum();
    assert_eq!(all, 59 + 59);
    assert_eq!(last(&courses), Some(Point { count: 57, failed: 0, rate: 2.0, lacks: 1 }));
    // It is missing as long as it was taken to be there, and in the point of its end.
    let lacks: u32 = points(&courses, "requests").iter().flatten().map(|point| point.lacks).sum();
    assert_eq!(lacks, 2 + 11 + 1);
    // After two minutes, or beyond the limit, its answer is one of a new process.
    let unknown = Some(Point { lacks: 1, ..whole(1, 0) });
    let mut courses = Courses::default();
    with_a_silence(&mut courses, 5, 5 + STALE.as_secs() + ROUNDS as u64 + 1);
    assert_eq!(last(&courses), unknown);
    let mut courses = Courses::with_limits(2, 1);
    with_a_silence(&mut courses, 5, 60);
    assert_eq!(last(&courses), unknown);
}

#[test]
fn a_series_with_a_very_long_key_has_no_course() {
    let (mut members, mut courses) = (members_at(&["a:1"]), Courses::default());
    let [longest, longer] = [1_024, 1_025].map(|length| "x".repeat(length));
    let of = [(longest.as_str(), [1, 0]), (longer.as_str(), [1, 0])];
    members.note("a:1", at(1), read(&windows("a", "1", 1_000, &of)));
    end(&mut courses, &members, 1);
    assert_eq!(courses.keys().collect::<Vec<_>>(), [longest]);
}

#[test]
fn a_process_that_is_gone_is_missing_no_longer() {
    let (mut members, mut courses) = (members_at(&["a:1", "b:1"]), Courses::default());
    for second in 1..=20 {
        for (address, last) in [("a:1", 20), ("b:1", 3)] {
            if second <= last {
                let answer = windows(address, "1", 1_000 * second, &[("requests", [second, 0])]);
                members.note(address, at(second), read(&answer));
            }
        }
        end(&mut courses, &members, second);
    }
    let gone = 4 + STALE.as_secs();
    let expected: Vec<Option<Point>> = (1..=20)
        .map(|second| match second {
            1 => Some(Point { lacks: 2, ..Point::default() }),
            2..=3 => Some(whole(2, 0)),
            // In the last of these rounds, it has ended.
            _ => Some(Point { lacks: u32::from(second <= gone), ..whole(1, 0) }),
        })
        .collect();
    assert_eq!(points(&courses, "requests"), expected);
}

#[test]
fn what_is_no_count_of_operations_has_no_course_and_what_falls_lacks() {
    let (mut members, mut courses) = (members_at(&["a:1", "b:1"]), Courses::default());
    for (second, visits, age) in [(1, 10, 1_000), (2, 17, 2_000), (3, 4, 3_000), (4, 5, 4_000)] {
        let mut answer = small("a", "1", visits, 3);
        answer["age_ms"] = age.into();
        members.note("a:1", at(second), read(&answer));
        // It is of another type: its numbers are not added.
        answer["instance"] = "b".into();
        answer["metrics"][1]["form"] = "counter".into();
        members.note("b:1", at(second), read(&answer));
        end(&mut courses, &members, second);
    }
    let lacks = Some(Point { lacks: 1, ..Point::default() });
    assert_eq!(points(&courses, "visits"), [lacks, Some(whole(7, 0)), lacks, Some(whole(1, 0))]);
    assert_eq!(points(&courses, "open"), [], "it is a level");
}

#[test]
fn courses_and_their_rounds_have_a_limit_and_series_that_are_gone_make_room() {
    let mut members = members_at(&["a:1"]);
    let mut courses = Courses::with_limits(2, MOST_GONE);
    let rounds = ROUNDS as u64;
    for second in 1..=2 * rounds {
        let first = if second < 5 { "/1" } else { "/4" };
        let of = [(first, [second, 0]), ("/2", [second, 0]), ("/3", [second, 0])];
        members.note("a:1", at(second), read(&windows("a", "1", 1_000 * second, &of)));
        end(&mut courses, &members, second);
        let mut keys: Vec<&str> = courses.keys().collect();
        keys.sort_unstable();
        // The first one has been dropped in round 5, and leaves with its last point.
        let expected = match second.cmp(&(5 + rounds)) {
            Ordering::Less => &["/1", "/2"][..],
            Ordering::Equal => &["/2"],
            Ordering::Greater => &["/2", "/4"],
        };
        assert_eq!(keys, expected, "round {second}");
    }
    assert_eq!(points(&courses, "/2"), vec![Some(whole(1, 0)); ROUNDS]);
    // It was left out before: what it had counted by then is in no point.
    let mut of_a_place = points(&courses, "/4").into_iter().flatten();
    assert_eq!(of_a_place.next(), Some(Point { lacks: 1, ..Point::default() }));
    assert!(of_a_place.all(|point| point == whole(1, 0)));
    let ends: Vec<Duration> = courses.ends(2).collect();
    assert_eq!(ends, [at(2 * rounds - 1), at(2 * rounds)]);
}

#[test]
fn the_room_of_series_that_are_gone_is_freed() {
    let (mut members, mut courses) = (members_at(&["a:1", "b:1"]), Courses::default());
    let many: Vec<String> = (0..3_000).map(|number| number.to_string()).collect();
    let many: Vec<(&str, [u64; 2])> = many.iter().map(|key| (key.as_str(), [1, 0])).collect();
    let few = [("requests", [1, 0])];
    let mut answer = |second: u64, address: &str, of: &[(&str, [u64; 2])]| {
        members.note(address, at(second), read(&windows(address, "1", 1_000 * second, of)));
        end(&mut courses, &members, second);
        courses.room()
    };
    // A process drops most of its series: their counts go at once, their courses with their points.
    assert!((6_000..16_000).contains(&answer(1, "a:1", &many)));
    let dropped = answer(2, "a:1", &few);
    assert!((3_000..8_000).contains(&dropped), "{dropped}");
    let rounds = ROUNDS as u64;
    let last = (3..=rounds + 2).map(|second| answer(second, "a:1", &few)).last().unwrap();
    assert!(last < 200, "{last}");
    // A process with many is gone.
    assert!(answer(rounds + 3, "b:1", &many) > 6_000);
    let end = 2 * rounds + 5 + STALE.as_secs();
    let last = (rounds + 4..=end).map(|second| answer(second, "a:1", &few)).last().unwrap();
    assert!(last < 200, "{last}");
}

#[test]
fn the_room_of_processes_that_are_gone_is_freed() {
    let addresses: Vec<String> = (0..300).map(|number| format!("{number}:1")).collect();
    let mut members = members_at(&addresses.iter().map(String::as_str).collect::<Vec<_>>());
    let mut courses = Courses::default();
    for address in &addresses {
        let answer = windows(address, "1", 1_000, &[("requests", [1, 0])]);
        members.note(address, at(1), read(&answer));
    }
    end(&mut courses, &members, 1);
    assert!(courses.room() > 600);
    (2..=ROUNDS as u64 + STALE.as_secs() + 3)
        .for_each(|second| end(&mut courses, &members, second));
    assert!(courses.room() < 200, "{}", courses.room());
}

#[test]
fn the_courses_are_in_the_answers() {
    let (mut members, mut courses) = (members_at(&["a:1"]), Courses::default());
    for (second, pass, failed) in [(1, 5, 0), (2, 5, 0), (3, 9, 1), (5, 17, 1), (6, 25, 5)] {
        let of = [("requests", [pass, failed])];
        members.note("a:1", at(second), read(&windows("a", "1", 1_000 * second, &of)));
        end(&mut courses, &members, second);
        if second == 3 {
            end(&mut courses, &members, 4);
        }
    }
    let head = Head { name: "shop".to_owned(), begun: 100_000, troubles: Vec::new() };
    let view = View::of(&members, at(6));
    let json = |most| -> Value {
        let json = answer::with_courses(&answer::json(&head, &view), &head, &courses, most);
        serde_json::from_str(&json).unwrap()
    };
    let all = json!([
        [0, 0, 0.0, 1],
        [0, 0, 0.0, 0],
        [4, 1, 4.0, 0],
        [0, 0, 0.0, 1],
        [8, 0, 4.0, 1],
        [8, 4, 8.0, 0]
    ]);
    let ends = json!([101_000, 102_000, 103_000, 104_000, 105_000, 106_000]);
    assert_eq!(json(ROUNDS)["courses"], json!({ "ends_ms": ends, "rows": { "requests": all } }));
    let two = json!({ "requests": [all[4], all[5]] });
    assert_eq!(json(2)["courses"], json!({ "ends_ms": [105_000, 106_000], "rows": two }));
    let one = answer::series(&head, &view, &courses, "requests").unwrap();
    let one: Value = serde_json::from_str(&one).unwrap();
    assert_eq!(one["series"]["course"], json!({ "ends_ms": ends, "points": all }));
    let text = answer::text(&head, &view, &courses);
    let line = "  last minute 0 to 8/s ·▁▅··█\n";
    assert!(text.ends_with(line), "{text}");
}

#[test]
fn an_answer_without_a_course_is_whole() {
    let mut reading = Reading::parse(small("a", "1", 1, 1).to_string().as_bytes()).unwrap();
    reading.metrics.clear();
    let mut members = members_at(&["a:1"]);
    members.note("a:1", at(1), Ok(reading));
    let head = Head { name: "shop".to_owned(), begun: 0, troubles: Vec::new() };
    let json = answer::json(&head, &View::of(&members, at(1)));
    let json = answer::with_courses(&json, &head, &Courses::default(), ROUNDS);
    let seen: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(seen["courses"], json!({ "ends_ms": [], "rows": {} }));
}
