//! The page of a fleet: what a person reads of three processes, of which one is slow, and of an
//! address without an answer.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use windrow::clock::Manual;
use windrow::{HeavyKeys, SlidingWindow, Timestamp, events};
use windrow_console::{Console, Fleet, Server};

use crate::browser::Browser;
use crate::page::open_fleet;

events! { enum Http { Pass: Count, Exception: Count, Rt: Histogram } }

/// Serves a process in which a hundred operations of the last second took these times.
fn process(instance: &str, nanos: u64) -> Server {
    let builder = SlidingWindow::<Http>::builder().clock(Manual::default()).buckets(60);
    let window = builder.interval(Duration::from_secs(60)).build().unwrap();
    window.clock().set(Timestamp::from_secs(100));
    for operation in 0..100 {
        window.add(Http::Pass, 1);
        window.record(Http::Rt, nanos + operation);
    }
    window.add(Http::Exception, 1);
    window.clock().set(Timestamp::from_secs(159));
    let mut console = Console::new("shop");
    console.instance(instance);
    console.show("requests", "Requests", Arc::new(window)).unwrap();
    console.nanoseconds("Rt");
    let clients = HeavyKeys::<str>::builder(10).clock(Manual::default()).build().unwrap();
    clients.add("acme", 15);
    clients.add(instance, 1);
    console.show_heavy("clients", "Requests by client", Arc::new(clients));
    console.build().serve("127.0.0.1:0").unwrap()
}

/// Returns the number, and the process, behind a cell of the row.
fn cell(browser: &mut Browser, column: &str) -> Value {
    browser.value(&format!(
        "(cell => [Number(cell.dataset.value), cell.dataset.process ?? null])
            (document.querySelector('tr[data-series=requests] td[data-col={column}]'))"
    ))
}

#[test]
#[ignore = "`cargo xtask browser`: needs chromium-headless-shell"]
fn the_slow_one_and_the_silent_one_are_read_on_the_page_of_a_fleet() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let hostile = "<img src=x onerror=\"window.pwned = 1\">";
    let members = [("shop-1", 2_000_000), (hostile, 80_000_000), ("shop-3", 2_000_000)];
    let members = members.map(|(instance, nanos)| process(instance, nanos));
    let mut fleet = Fleet::new("shop");
    for address in members.iter().map(Server::address).chain([silent]) {
        fleet.target(&address.to_string()).unwrap();
    }
    let (server, mut browser, origin) = open_fleet(&fleet);
    browser.wait_for(
        "document.querySelectorAll('#members [data-process]').length === 3
            && document.querySelector('#members [data-address]')",
    );

    let said =
        browser.value("[...document.querySelectorAll('#now > div')].map(line => line.textContent)");
    let said: Vec<&str> =
        said.as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
    let [first, second] = said[..] else { panic!("{said:?}") };
    assert!(first.starts_with(&format!("1 of 4 addresses does not answer: {silent} (")), "{first}");
    assert!(first.contains(") since "), "{first}");
    assert!(second.starts_with("requests p99 "), "{second}");
    assert!(second.contains(&format!(", in {hostile} only since ")), "{second}");
    assert_eq!(browser.value("window.pwned ?? null"), Value::Null);

    assert_eq!(cell(&mut browser, "answering"), json!([3, null]));
    assert_eq!(cell(&mut browser, "p99-high")[1], hostile);
    let mut number = |column| cell(&mut browser, column)[0].as_f64().unwrap();
    assert!((80e6..90e6).contains(&number("p99-high")));
    assert!((2e6..3e6).contains(&number("p99-median")));
    // A third of all values: no mean of three percentiles is there.
    assert!((2e6..3e6).contains(&number("p50")));
    assert!((79e6..90e6).contains(&number("p99")));
    let failed = cell(&mut browser, "failed")[0].as_f64().unwrap();
    assert!((failed - 0.01).abs() < 1e-9, "{failed}");

    // The clients of all: three of fifteen.
    let client = browser.value(
        "[...document.querySelector('#heavy [data-heavy=clients] tr').cells].map(cell => cell.textContent)",
    );
    assert_eq!(client, json!(["acme", "45", "94\u{202f}%"]));

    // By keyboard: the slowest process is first, below the sum.
    browser.value("document.querySelector('tr[data-series=requests]').focus()");
    browser.press("Enter", 13);
    browser.wait_for("document.querySelectorAll('#parts tr').length === 4");
    let opened = browser
        .value("[...document.querySelectorAll('#parts tr')].map(row => row.dataset.process)");
    assert_eq!((&opened[0], &opened[1]), (&json!("all 3"), &json!(hostile)));
    assert_eq!(browser.value("document.querySelector('#detail').dataset.series"), "requests");

    // No width makes the page itself scroll sideways, or hides what is wrong.
    for width in [320, 560, 940, 1300, 2560] {
        browser.resize(width, 900, false);
        let wide = browser.value("document.documentElement.scrollWidth - innerWidth");
        assert!(wide.as_i64() <= Some(0), "{wide} at {width}");
        let hidden = "['#now', '#heavy td', '#rows td[data-col=p99-high]', '#parts td'].filter(part => document.querySelector(part).getClientRects().length === 0)";
        assert_eq!(browser.value(hidden), json!([]), "{width}");
    }

    let seen = browser.seen();
    assert!(seen.complaints.is_empty(), "{:?}", seen.complaints);
    let is_own = |asked: &String| {
        asked.starts_with(&origin) || asked.starts_with("data:") || asked == "about:blank"
    };
    assert!(!seen.requests.is_empty() && seen.requests.iter().all(is_own), "{:?}", seen.requests);

    // The server ends: the page says so, and keeps the numbers.
    server.stop();
    browser.wait_for("document.body.dataset.state === 'lost'");
    assert_eq!(cell(&mut browser, "answering"), json!([3, null]));
}

/// A screen reader says what is wrong once, although the ages of it change each second; and what is
/// added to it.
#[test]
#[ignore = "`cargo xtask browser`: needs chromium-headless-shell"]
fn what_is_wrong_is_said_again_when_something_is_added_and_not_each_second() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let members = ["shop-1", "shop-2"].map(|instance| process(instance, 2_000_000));
    let mut fleet = Fleet::new("shop");
    for address in members.iter().map(Server::address).chain([silent]) {
        fleet.target(&address.to_string()).unwrap();
    }
    let (_server, mut browser, _) = open_fleet(&fleet);
    let said = "document.querySelector('#said').textContent";
    browser.wait_for(&format!(
        "document.querySelectorAll('#members [data-process]').length === 2
            && {said}.startsWith('1 of 3 addresses does not answer: ')"
    ));
    // Nothing else on the page is said by itself, but for the state.
    let live = "[...document.querySelectorAll('[aria-live], [role=status], [role=alert]')].map(part => part.id)";
    assert_eq!(browser.value(live), json!(["state", "said"]));
    browser.value(
        "(() => {
            window.changes = { now: new Set(), said: 0, state: 0 };
            const now = document.querySelector('#now'), said = document.querySelector('#said');
            new MutationObserver(() => changes.now.add(now.textContent)).observe(now, { childList: true });
            new MutationObserver(() => changes.said++).observe(said, { childList: true, characterData: true, subtree: true });
            new MutationObserver(() => changes.state++).observe(document.querySelector('#state'), { childList: true });
        })()",
    );
    browser.wait_for("changes.now.size >= 3");
    assert_eq!(browser.value("[changes.said, changes.state]"), json!([0, 0]));
    // Another one is silent.
    let [_stays, goes] = members;
    goes.stop();
    browser.wait_for(&format!("{said}.startsWith('2 of 3 addresses do not answer: ')"));
    assert_eq!(browser.value("changes.said"), 1);
    let place = browser.value("document.querySelector('#said').getBoundingClientRect().width");
    assert_eq!(place, 1, "it is heard, and not seen");
}

#[test]
#[ignore = "`cargo xtask browser`: needs chromium-headless-shell"]
fn the_error_of_an_older_request_is_dropped() {
    let member = process("shop-1", 2_000_000);
    let mut fleet = Fleet::new("shop");
    fleet.target(&member.address().to_string()).unwrap();
    let (_server, mut browser, _) = open_fleet(&fleet);
    browser.wait_for("document.body.dataset.state === 'live'");
    let state = browser.value(
        "(async () => {
            const real = window.fetch;
            let fail;
            window.fetch = () => new Promise((_, reject) => { fail = reject; });
            const older = refresh();
            window.fetch = real;
            await refresh();
            fail(new Error('late'));
            await older;
            return document.body.dataset.state;
        })()",
    );
    assert_eq!(state, "live");
    // An error of the newest request is shown.
    let state = browser.value(
        "(async () => {
            const real = window.fetch;
            window.fetch = () => Promise.reject(new Error('now'));
            await refresh();
            window.fetch = real;
            return document.body.dataset.state;
        })()",
    );
    assert_eq!(state, "lost");
}
