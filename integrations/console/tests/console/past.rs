//! `/past`: the sums of a log's lines, in bins, and the starts of processes.

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
