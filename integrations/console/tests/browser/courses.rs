//! The page of a fleet: what a person reads of the last two minutes of a series, and of what is
//! wrong with it.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::thread;
use std::time::SystemTime;

use serde_json::{Value, json};
use windrow_console::Fleet;

use crate::browser::Browser;
use crate::page::open_fleet;

/// Serves a process whose answers are a second apart by its own clock, however far they are from
/// each other. In turn, 10 requests and none of them fails, or 40 and 10 of them fail, if it is
/// `busy`; otherwise it has none, and does not answer every fifth question. The busy one finds that
/// unusual since a time in milliseconds since 1970, and something else since three days before.
fn serve(instance: &'static str, busy: bool, since: u64) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let (mut pass, mut failed) = (0, 0);
        for (question, stream) in listener.incoming().enumerate() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]);
            if !busy && question % 5 == 4 {
                continue;
            }
            if busy {
                pass += if question % 2 == 0 { 10 } else { 40 };
                failed += if question % 2 == 0 { 0 } else { 10 };
            }
            let answer = answer(instance, question, pass, failed, since).to_string();
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", answer.len());
            let _ = stream.write_all((head + &answer).as_bytes());
        }
    });
    address
}

fn answer(instance: &str, question: usize, pass: usize, failed: usize, since: u64) -> Value {
    let series = |key: &str, all: [usize; 2], last: [usize; 2]| {
        let counts = |of: [usize; 2]| json!([{ "Count": of[0] }, { "Count": of[1] }]);
        let span = 1_000_000_000;
        json!({ "key": key, "span_ns": span, "all": counts(all), "last": counts(last) })
    };
    let change = |key: &str, what: &str, since: u64, says: &str| json!({ "key": key, "what": what, "since_ms": since, "says": says });
    let changes = json!([
        change("requests", "failing", since, "failures 1 % to 25 %"),
        change("refunds", "busy", since - 3 * 86_400_000, "traffic ×9, 0.1/s to 0.9/s"),
    ]);
    json!({
        "form": 1, "service": "shop", "instance": instance, "version": "1", "epoch": instance,
        "age_ms": 1_000 * question,
        "unusual": { "changes": if pass > 0 { changes } else { json!([]) }, "calm_since_ms": null },
        "metrics": [{
            "name": "requests", "help": "", "form": "window", "unit": null,
            "events": [{ "name": "Pass", "unit": null }, { "name": "Failed", "unit": null }],
            "series": [
                series("requests", [pass, failed], [25, 5]),
                // It has the higher rate, and nothing is wrong with it.
                series("orders", [90 * question, 0], [90, 0]),
                series("refunds", [question, 0], [1, 0]),
            ],
        }],
    })
}

/// Returns a part of the first row.
fn first(browser: &mut Browser, part: &str) -> Value {
    browser.value(&format!("document.querySelector('#body tr:first-child {part}"))
}

#[test]
#[ignore = "`cargo xtask browser`: needs chromium-headless-shell"]
fn the_last_minutes_and_the_fault_of_a_series_are_read_in_its_row() {
    let mut fleet = Fleet::new("shop");
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let begun = now.as_millis() as u64 - 180_000;
    for address in [serve("shop-1", true, begun), serve("shop-2", false, begun)] {
        fleet.target(&address.to_string()).unwrap();
    }
    let (_server, mut browser, origin) = open_fleet(&fleet);
    // Both numbers have come while both processes answered, and one of them also has not; and there
    // are more points than an answer has that continues an earlier one.
    let range = "rate in the last 2 min: 10/s to 40/s; ";
    browser.wait_for(&format!(
        "document.querySelector('#body tr:first-child [data-col=course] svg')
            ?.getAttribute('aria-label').startsWith('{range}')
            && document.querySelector('#body tr:first-child svg').dataset.lacking > 3
            && document.querySelector('#body tr:first-child svg').dataset.points > 15"
    ));

    // The row with the fault is above the one with the higher rate, and says what and since when.
    assert_eq!(first(&mut browser, "').dataset.series"), "requests");
    let why = first(&mut browser, ".why').textContent");
    assert_eq!(why, "failures 1 % to 25 %, in 1 of 2 processes: shop-1");
    let since = browser.value(&format!("new Date({begun}).toTimeString().slice(0, 5)"));
    assert_eq!(first(&mut browser, "[data-col=since]').textContent"), since);
    assert_eq!(first(&mut browser, "[data-col=since]').dataset.value"), begun.to_string());
    let other =
        "[...document.querySelectorAll('tr[data-series=orders] :is(.why, [data-col=since])')]
        .map(part => part.textContent)";
    assert_eq!(browser.value(other), json!([""]));

    let rows = "[...document.querySelectorAll('#body tr')]
        .map(row => [row.dataset.series, row.querySelector('[data-col=since]').textContent])";
    let expected = json!([["requests", since], ["refunds", "3 d"], ["orders", ""]]);
    assert_eq!(browser.value(rows), expected);

    // The words of the lines: also of points that miss a process.
    let words = first(&mut browser, "[data-col=course] svg').getAttribute('aria-label')");
    let words = words.as_str().unwrap().strip_prefix(range).unwrap().to_owned();
    let [lacking, all]: [u32; 2] = ["lacking", "points"].map(|number| {
        let number = first(&mut browser, &format!("svg').dataset.{number}"));
        number.as_str().unwrap().parse().unwrap()
    });
    assert_eq!(words, format!("{lacking} of {all} points miss a process"));
    let failures = first(&mut browser, "[data-col=course-failed] svg').getAttribute('aria-label')");
    let failures = failures.as_str().unwrap().to_owned();
    let expected = "failures in the last 2 min: 0\u{202f}% to 25\u{202f}%";
    assert!(failures.starts_with(expected), "{failures}");

    // The line itself: 40 is at its top, 10 at a quarter of its height, and a dot stands for each
    // point that misses a process.
    let heights = |path: &str| {
        format!(
            "[...document.querySelectorAll('#body tr:first-child [data-col=course] {path}')]
                .flatMap(path => [...path.getAttribute('d').matchAll(/[ML][\\d.]+ ([\\d.]+)/g)])
                .map(found => found[1])"
        )
    };
    let whole: Vec<String> =
        serde_json::from_value(browser.value(&heights("path:not([class])"))).unwrap();
    assert!(whole.iter().all(|y| y == "2.0" || y == "17.0"), "{whole:?}");
    let dots: Vec<String> =
        serde_json::from_value(browser.value(&heights("path.lacking"))).unwrap();
    assert!(dots.len() > 3 && whole.len() > 1, "{dots:?} {whole:?}");

    // A page that is opened now has the points from before.
    browser.open("about:blank");
    browser.open(&origin);
    browser.wait_for("document.querySelector('#body tr:first-child svg')");
    let points = first(&mut browser, "svg').dataset.points");
    assert!(points.as_str().unwrap().parse::<u32>().unwrap() >= all, "{points}");
    let seen = browser.seen();
    assert!(seen.complaints.is_empty(), "{:?}", seen.complaints);
}
