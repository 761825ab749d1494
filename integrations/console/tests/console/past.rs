//! `/past`: the sums of a log's lines, in bins, and the starts of processes.

use std::fs;

use serde_json::{Value, json};
use windrow_console::{Console, Server};

use crate::week::{DAY, MINUTE, Week, now};
use crate::{encoded, get, json, routes, served, text};

const SERIES: &str = "requests{route=\"/cart\",status=\"200\"}";

fn console(week: &Week) -> Server {
    let mut console = Console::new("shop");
    console.show("requests", "Requests by route", routes()).unwrap();
    console.log(week.directory.path());
    served(&console.build())
}

/// Asks until the whole log is read.
async fn ask(server: &Server, from: u64, to: u64) -> Value {
    let path = format!("/past?series={}&from={from}&to={to}", encoded(SERIES));
    loop {
        let answer = json(server.address(), &path).await;
        if answer["unread"] == 0 {
            return answer;
        }
    }
}

/// Returns the bins of an event's numbers.
fn numbers(answer: &Value, event: &str, number: &str) -> Vec<Option<u64>> {
    let events = answer["events"].as_array().unwrap();
    let event = events.iter().find(|known| known["name"] == event).unwrap();
    event[number].as_array().unwrap().iter().map(Value::as_u64).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_bin_is_the_sum_of_the_lines_across_restarts() {
    let end = now() / MINUTE * MINUTE;
    let mut week = Week::write(SERIES, end);
    let server = console(&week);
    for (from, to, minutes) in [
        (end - 7 * DAY, end, 30),
        (end - 3 * DAY - 123_456, end - 2 * DAY - 7, 5),
        (end - DAY, end, 5),
        (end - 3_600_000, end, 1),
        (end - 20 * DAY, end + DAY, 180),
    ] {
        let answer = ask(&server, from, to).await;
        let length = answer["bin_ms"].as_u64().unwrap();
        assert_eq!(length, minutes * MINUTE, "{from} to {to}");
        let (first, bins) = (answer["from"].as_u64().unwrap(), answer["bins"].as_u64().unwrap());
        assert!(first <= from && from < first + length);
        assert!(first + bins * length >= to && bins <= 400);
        let columns = ["count", "sum", "min", "max"].map(|name| numbers(&answer, "Rt", name));
        let [passed, failed] = ["Pass", "Exception"].map(|name| numbers(&answer, name, "count"));
        assert_eq!(passed.len() as u64, bins);
        for bin in 0..bins {
            let sum = week.sum(first + bin * length, first + (bin + 1) * length);
            let bin = usize::try_from(bin).unwrap();
            let has_lines = sum.pass > 0;
            let found = [passed[bin], failed[bin], columns[1][bin]];
            assert_eq!(found, [sum.pass, sum.failed, sum.rt].map(Some));
            let limits = [has_lines.then_some(sum.min), has_lines.then_some(sum.max)];
            assert_eq!([columns[2][bin], columns[3][bin]], limits);
            assert_eq!(columns[0], passed);
        }
        let last = first + bins * length;
        let starts = week.starts.iter().filter(|start| **start > first && **start <= last);
        let starts: Vec<u64> = starts.copied().collect();
        let found = answer["starts"].as_array().unwrap().iter();
        assert_eq!(found.map(|start| start[0].as_u64().unwrap()).collect::<Vec<_>>(), starts);
        assert_eq!(answer["held"], json!([end - 8 * DAY + MINUTE, end]));
    }
    // Another process begins, and goes on with the log.
    drop(week.restart());
    let answer = ask(&server, end - DAY, now() + MINUTE).await;
    let started = answer["starts"].as_array().unwrap().last().unwrap()[0].as_u64().unwrap();
    assert!(started.abs_diff(*week.starts.last().unwrap()) < 60_000, "{started}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_answered_is_said() {
    let week = Week::write("other", now());
    let server = console(&week);
    let address = server.address();
    let unknown = ask(&server, 0, now()).await;
    assert_eq!((&unknown["events"], unknown["bins"].as_u64().unwrap() > 1), (&json!([]), true));
    for (path, status) in [
        ("/past", 400),
        ("/past?from=1", 400),
        ("/past?series=a&from=x", 400),
        ("/past?series=a&to=1.5", 400),
        ("/past?series=a&from=9&to=1", 200),
        ("/past?series=a&from=-9223372036854775808&to=9223372036854775807", 200),
    ] {
        let answer = get(address, path).await;
        assert_eq!(answer.status(), status, "{path}");
        assert!(text(answer).await.len() < 10_000);
    }
    let directory = week.directory.path().to_owned();
    drop(week);
    let answer = json(address, "/past?series=a").await;
    let said = answer["error"].as_str().unwrap();
    assert!(said.contains(directory.to_str().unwrap()), "{said}");
    // Without a log, there is none.
    let server = served(&Console::new("shop").build());
    assert_eq!(get(server.address(), "/past?series=a").await.status(), 404);
}

/// Many clients at once: each has its answer, or is told to come back.
#[tokio::test(flavor = "multi_thread")]
async fn clients_that_ask_at_once_are_all_answered() {
    let week = Week::write(SERIES, now());
    let server = console(&week);
    let address = server.address();
    let path = format!("/past?series={}", encoded(SERIES));
    let asks: Vec<_> = (0..100)
        .map(|_| {
            let path = path.clone();
            tokio::spawn(async move { get(address, &path).await.status().as_u16() })
        })
        .collect();
    let mut answered = 0;
    for ask in asks {
        let status = ask.await.unwrap();
        assert!(status == 200 || status == 503, "{status}");
        answered += u64::from(status == 200);
    }
    assert!(answered > 0);
}

/// Returns a line of a bucket of a second with events in JSON.
fn line(events: &str) -> String {
    format!(
        "{{\"bucket\":{{\"resource\":\"a\",\"start\":\"2026-11-22T08:00:00Z\",\
         \"length_ns\":1000000000,\"at_ns\":7,\"events\":{{{events}}}}}}}\n"
    )
}

/// Serves a log of one file with these lines.
fn of_lines(lines: &str) -> (tempfile::TempDir, Server) {
    let directory = tempfile::tempdir().unwrap();
    let head = "{\"run\":{\"windrow\":1,\"id\":\"a\",\"started\":\"2026-11-22T07:59:59Z\"}}\n";
    let path = directory.path().join("windrow-0000000001.jsonl");
    fs::write(path, head.to_owned() + lines).unwrap();
    let mut console = Console::new("shop");
    console.log(directory.path());
    let server = served(&console.build());
    (directory, server)
}

/// The milliseconds of 2026-11-22T08:00:00Z.
const EIGHT: u64 = 1_795_334_400_000;

#[tokio::test(flavor = "multi_thread")]
async fn each_member_of_an_answer_is_what_the_readme_says() {
    let count = "\"Pass\":{\"count\":3,\"sum\":3}";
    let values = "\"Rt\":{\"count\":3,\"sum\":60,\"min\":10,\"max\":30}";
    let big = "\"Big\":{\"count\":1,\"sum\":9007199254740993}";
    let long = "\u{e9}".repeat(1_000);
    let lines = [
        &line(&format!("{count},{values}")),
        &line(&format!("{values},{big}")),
        "{\"dropped\":{\"lines\":12,\"from\":\"2026-11-22T08:00:00Z\",\"to\":\"2026-11-22T08:00:01Z\"}}\n",
        "{\"bucket\":7}\n",
        &format!("{{\"run\":{{\"windrow\":1,\"id\":\"{}\",\"started\":\"2026-11-22T08:00:01Z\"}}}}\n", &long[..64]),
    ]
    .concat();
    let (_directory, server) = of_lines(&lines);
    let path = format!("/past?series=a&from={EIGHT}&to={}", EIGHT + 2_000);
    let expected = json!({
        "from": EIGHT, "bin_ms": 1_000, "bins": 2,
        "events": [
            { "name": "Pass", "count": [3, 0] },
            { "name": "Rt", "count": [6, 0], "sum": [120, 0], "min": [10, null], "max": [30, null] },
            { "name": "Big", "count": [1, 0], "sum": ["9007199254740993", 0], "min": [null, null], "max": [null, null] },
        ],
        "more_events": false,
        "starts": [[EIGHT + 1_000, &long[..64]]], "earlier_starts": 0,
        "dropped": 12, "unread": 0, "unreadable": 1,
        "held": [EIGHT + 1_000, EIGHT + 1_000],
    });
    assert_eq!(json(server.address(), &path).await, expected);
    // Elsewhere, there is nothing of it but what is true of the whole log.
    let path = format!("/past?series=a&from={}&to={}", EIGHT - 3_000, EIGHT - 2_000);
    let before = json(server.address(), &path).await;
    assert_eq!((&before["events"], &before["starts"]), (&json!([]), &json!([])));
    assert_eq!((&before["dropped"], &before["unreadable"]), (&json!(0), &json!(1)));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_more_than_an_answer_has_is_said() {
    let events: Vec<String> =
        (0..33).map(|event| format!("\"e{event}\":{{\"count\":1,\"sum\":1}}")).collect();
    let run = |number: u64| {
        let (id, millis) = (format!("{number}"), number * 1_000 / 250);
        format!(
            "{{\"run\":{{\"windrow\":1,\"id\":\"{id}\",\"started\":\"2026-11-22T08:00:00.{millis:03}Z\"}}}}\n"
        )
    };
    for (many, more) in [(32, false), (33, true)] {
        let lines = line(&events[..many].join(","));
        let runs: String = (1..if more { 250 } else { 200 }).map(run).collect();
        let (_directory, server) = of_lines(&(lines + &runs));
        let path = format!("/past?series=a&from={EIGHT}&to={}", EIGHT + 1_000);
        let answer = json(server.address(), &path).await;
        assert_eq!(answer["events"].as_array().unwrap().len(), 32);
        assert_eq!(answer["more_events"], more, "{many} events");
        let starts = answer["starts"].as_array().unwrap();
        assert_eq!(starts.last().unwrap()[1], if more { "249" } else { "199" });
        let expected = if more { (200, json!(49)) } else { (199, json!(0)) };
        assert_eq!((starts.len(), &answer["earlier_starts"]), (expected.0, &expected.1));
    }
}

/// A log of which nothing, or a part, cannot be read.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn what_can_be_read_is_answered_beside_the_error() {
    let end = now() / MINUTE * MINUTE;
    let week = Week::write(SERIES, end);
    let (begin, directory) = (end - 8 * DAY, week.directory.path());
    let second = directory.join("windrow-0000000002.jsonl");
    let held = testkit::held::Held::of(&second);
    let server = console(&week);
    let address = server.address();
    let path = format!("/past?series={}&from={begin}&to={end}", encoded(SERIES));
    let passed = |answer: &Value| numbers(answer, "Pass", "count").iter().flatten().sum::<u64>();
    let (of_all, of_second) =
        (week.sum(begin, end).pass, week.sum(begin + 2 * DAY, begin + 4 * DAY).pass);
    for _ in 0..3 {
        let answer = json(address, &path).await;
        assert_eq!(passed(&answer), of_all - of_second);
        assert_eq!(answer["unread"], fs::metadata(&second).unwrap().len());
        let said = answer["error"].as_str().unwrap();
        assert!(said.starts_with(&format!("cannot read `{}`: ", second.display())), "{said}");
        assert!(!said.contains("more"), "{said}");
    }
    drop(held);
    let answer = json(address, &path).await;
    assert_eq!((passed(&answer), answer["unread"].as_u64()), (of_all, Some(0)));
    assert_eq!(answer.get("error"), None);
    // The directory is gone: the numbers that it had are there.
    fs::remove_dir_all(directory).unwrap();
    let answer = json(address, &path).await;
    assert_eq!(passed(&answer), of_all);
    let said = answer["error"].as_str().unwrap();
    assert!(said.starts_with(&format!("cannot read `{}`: ", directory.display())), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_times_it_is_the_last_day() {
    let week = Week::write(SERIES, now() / MINUTE * MINUTE);
    let server = console(&week);
    let path = format!("/past?series={}", encoded(SERIES));
    let (before, answer) = (now(), json(server.address(), &path).await);
    let from = answer["from"].as_u64().unwrap();
    let length = answer["bin_ms"].as_u64().unwrap();
    let to = from + answer["bins"].as_u64().unwrap() * length;
    assert!(from <= now() - DAY && from + length > before - DAY, "{from}");
    assert!(before <= to && to < now() + length, "{to}");
    let pass = numbers(&answer, "Pass", "count").iter().flatten().sum::<u64>();
    assert_eq!(pass, week.sum(from, to).pass);
}
