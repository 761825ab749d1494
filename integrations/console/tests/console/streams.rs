//! The frames of a stream.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::Request;
use http_body_util::BodyExt;
use serde_json::Value;
use tokio::time::{sleep, timeout};
use windrow::clock::Manual;
use windrow::{SlidingWindow, Timestamp};
use windrow_console::{Body, Console, ConsoleService};

use super::{Http, Route, at_once, console_of, get, routes, served};

/// The longest time of any step.
const LONG: Duration = Duration::from_secs(30);

/// A stream, as its client reads it.
pub(crate) struct Stream<B> {
    body: B,
    text: String,
}

impl Stream<Body> {
    pub(crate) fn of(console: &ConsoleService) -> Stream<Body> {
        let response = at_once(console.respond(&Request::get("/events").body(()).unwrap()));
        assert_eq!(response.status(), 200);
        Stream { body: response.into_body(), text: String::new() }
    }
}

impl<B: http_body::Body<Data = bytes::Bytes> + Unpin> Stream<B> {
    /// Returns the name and the data of the next event; `None` at the end.
    pub(crate) async fn next(&mut self) -> Option<(String, Value)> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let (event, rest) = (event.to_owned(), rest.to_owned());
                self.text = rest;
                let mut lines = event.lines();
                let name = lines.next().unwrap().strip_prefix("event: ");
                let Some(name) = name else { continue }; // `retry`
                let data = lines.next().unwrap().strip_prefix("data: ").unwrap();
                assert_eq!(lines.next(), None, "an event has two lines");
                return Some((name.to_owned(), serde_json::from_str(data).unwrap()));
            }
            let frame = timeout(LONG, self.body.frame()).await.expect("a frame comes");
            let Ok(bytes) = frame?.ok()?.into_data() else { continue };
            self.text.push_str(std::str::from_utf8(&bytes).unwrap());
        }
    }
}

/// The rows that a page knows: their numbers, by key.
#[derive(Default)]
struct Page {
    rows: BTreeMap<u64, (String, Vec<Value>)>,
    frame: u64,
}

impl Page {
    fn take(&mut self, (event, frame): (String, Value)) {
        let number = frame["frame"].as_u64().unwrap();
        if event == "all" {
            self.rows.clear();
        } else {
            assert_eq!(number, self.frame + 1, "no frame is left out");
        }
        self.frame = number;
        let empty = Vec::new();
        let whole = if event == "all" { &frame["rows"] } else { &frame["new"] };
        for gone in frame["gone"].as_array().unwrap_or(&empty) {
            assert!(self.rows.remove(&gone.as_u64().unwrap()).is_some());
        }
        for row in whole.as_array().unwrap() {
            let (id, key) = (row[0].as_u64().unwrap(), row[2].as_str().unwrap().to_owned());
            self.rows.insert(id, (key, row[4].as_array().unwrap().clone()));
        }
        if event == "more" {
            for row in frame["rows"].as_array().unwrap() {
                let (id, numbers) = row.as_array().unwrap().split_first().unwrap();
                self.rows.get_mut(&id.as_u64().unwrap()).unwrap().1 = numbers.to_vec();
            }
        }
    }

    /// Returns what ever passed, by key.
    fn passed(&self) -> BTreeMap<&str, u64> {
        self.rows.values().map(|(key, row)| (key.as_str(), row[0].as_u64().unwrap())).collect()
    }
}

#[tokio::test]
async fn a_stream_begins_with_all_and_goes_on_with_what_changed() {
    let routes = routes();
    let with = |route| routes.with(Route { route, status: 200 });
    with("/a").add(Http::Pass, 3);
    with("/b").add(Http::Pass, 4);
    let server = served(&console_of(routes));
    let response = get(server.address(), "/events").await;
    let mut stream = Stream { body: response.into_body(), text: String::new() };
    let mut page = Page::default();

    let all = stream.next().await.unwrap();
    assert_eq!((all.0.as_str(), &all.1["service"]), ("all", &Value::from("shop")));
    assert_eq!(all.1["metrics"][0][0], "requests");
    page.take(all);
    let (a, b, c) = (
        "requests{route=\"/a\",status=\"200\"}",
        "requests{route=\"/b\",status=\"200\"}",
        "requests{route=\"/c\",status=\"200\"}",
    );
    assert_eq!(page.passed(), BTreeMap::from([(a, 3), (b, 4)]));

    with("/a").add(Http::Pass, 1);
    with("/c").add(Http::Pass, 9);
    routes.remove(Route { route: "/b", status: 200 });
    let mut named = 0;
    while page.passed() != BTreeMap::from([(a, 4), (c, 9)]) {
        assert!(page.frame < 20, "{:?}", page.passed());
        let more = stream.next().await.unwrap();
        assert_eq!(more.0, "more");
        assert_eq!(more.1["check"]["failing"], serde_json::json!([]));
        named += more.1["rows"].as_array().unwrap().len();
        page.take(more);
    }
    assert!(named > 0);
}

#[tokio::test]
async fn a_row_that_stands_still_is_not_named_again() {
    let routes = routes();
    let still = routes.handle(Route { route: "/still", status: 200 });
    let busy = routes.handle(Route { route: "/busy", status: 200 });
    let console = console_of(routes);
    let mut stream = Stream::of(&console);
    let (_, all) = stream.next().await.unwrap();
    let number = |key: &str| {
        let rows = all["rows"].as_array().unwrap();
        rows.iter().find(|row| row[2].as_str().unwrap().contains(key)).unwrap()[0].clone()
    };
    for _ in 0..2 {
        busy.add(Http::Pass, 1);
        let (_, more) = stream.next().await.unwrap();
        let rows = more["rows"].as_array().unwrap();
        assert!(rows.iter().any(|row| row[0] == number("/busy")));
        assert!(rows.iter().all(|row| row[0] != number("/still")));
    }
    drop(still);
}

#[tokio::test]
async fn the_last_minute_is_there_at_once() {
    let routes = routes();
    let window = routes.handle(Route { route: "/a", status: 200 });
    window.add(Http::Pass, 17);
    sleep(Duration::from_millis(1_200)).await;
    let mut stream = Stream::of(&console_of(routes));
    let (_, all) = stream.next().await.unwrap();
    let history: Vec<u64> =
        all["rows"][0][5].as_array().unwrap().iter().filter_map(Value::as_u64).collect();
    let [age, step, counts @ ..] = history.as_slice() else { panic!("a history") };
    assert_eq!(*step, 1_000);
    assert!((1..59).contains(&counts.len()), "the window is younger than {counts:?}");
    assert!(*age < 1_000, "{age}");
    assert_eq!(counts.iter().sum::<u64>(), 17);
}

#[tokio::test]
async fn a_client_that_lags_gets_all_again_and_misses_nothing() {
    let routes = routes();
    let with = |route| routes.with(Route { route, status: 200 });
    with("/a").add(Http::Pass, 1);
    let console = console_of(routes);
    let (mut slow, mut quick) = (Stream::of(&console), Stream::of(&console));
    let mut page = Page::default();
    page.take(slow.next().await.unwrap());
    // Named in a frame that the slow one never reads.
    with("/a").add(Http::Pass, 1);
    for _ in 0..4 {
        quick.next().await.unwrap();
    }
    let next = slow.next().await.unwrap();
    assert_eq!(next.0, "all");
    page.take(next);
    assert_eq!(page.passed().values().copied().collect::<Vec<_>>(), [2]);
    // The quick one was not disturbed.
    assert_eq!(quick.next().await.unwrap().0, "more");
}

#[tokio::test]
async fn a_series_that_was_removed_and_has_come_back_is_another_and_no_loss() {
    let routes = routes();
    let with = |route| routes.with(Route { route, status: 200 });
    with("/a").add(Http::Pass, 1_000);
    let console = console_of(routes);
    let mut stream = Stream::of(&console);
    let mut page = Page::default();
    let (event, all) = stream.next().await.unwrap();
    let first = all["rows"][0][0].clone();
    page.take((event, all));
    stream.next().await.unwrap(); // so that an audit has earlier readings
    page.frame += 1;
    for round in 1..=3 {
        routes.remove(Route { route: "/a", status: 200 });
        with("/a").add(Http::Pass, round);
        let (event, more) = stream.next().await.unwrap();
        assert_eq!(more["check"]["failing"], serde_json::json!([]), "{more}");
        assert_eq!(more["gone"].as_array().unwrap().len(), 1, "{more}");
        assert_ne!(more["new"][0][0], first, "the same number: {more}");
        page.take((event, more));
        assert_eq!(page.passed().into_values().collect::<Vec<_>>(), [round]);
    }
}

#[tokio::test]
async fn each_frame_says_of_which_process_it_is() {
    let (one, other) = (console_of(routes()), console_of(routes()));
    let mut epochs = Vec::new();
    for console in [&one, &one, &other] {
        let mut stream = Stream::of(console);
        let all = stream.next().await.unwrap().1["epoch"].clone();
        let (event, more) = stream.next().await.unwrap();
        assert_eq!((event.as_str(), &more["epoch"]), ("more", &all));
        epochs.push(all);
    }
    assert!(epochs[0] == epochs[1] && epochs[1] != epochs[2], "{epochs:?}");
}

#[tokio::test]
#[ignore = "`cargo xtask ci`: it only waits, for half a minute"]
async fn a_stream_that_takes_nothing_for_ten_seconds_makes_room() {
    let console = console_of(routes());
    let request = Request::get("/events").body(()).unwrap();
    let mut streams: Vec<_> = (0..64).map(|_| Stream::of(&console)).collect();
    for stream in &mut streams {
        assert!(stream.next().await.is_some());
    }
    assert_eq!(at_once(console.respond(&request)).status(), 503);
    let mut frames = 0;
    while at_once(console.respond(&request)).status() != 200 {
        assert!(frames < 30, "clients that read nothing keep all others out");
        assert!(streams[63].next().await.is_some(), "the one that reads goes on");
        frames += 1;
    }
    assert!(frames >= 8, "they are thrown out after {frames} frames");
    assert!(streams[63].next().await.is_some());
    // A stream that has lost its place says so to its client, when that reads again.
    while streams[0].next().await.is_some() {}
}

#[tokio::test]
async fn a_window_younger_than_its_interval_has_the_rate_of_its_own_time() {
    let clock = Manual::default();
    clock.set(Timestamp::from_millis(1_000_300));
    let minute = SlidingWindow::<Http>::builder().interval(Duration::from_secs(60)).buckets(60);
    let window = Arc::new(minute.clock(clock.clone()).build().unwrap());
    let mut console = Console::new("shop");
    console.show("own", "A window", Arc::clone(&window)).unwrap();
    let console = console.build();
    // 350 a second, for 90 s.
    for second in 1..=90_u64 {
        for _ in 0..100 {
            clock.advance(Duration::from_millis(10));
            window.add(Http::Pass, 3 + second % 2);
        }
        if ![1, 6, 30, 59, 61, 90].contains(&second) {
            continue;
        }
        let request = Request::get("/snapshot.json").body(()).unwrap();
        let body = console.respond(&request).await.into_body().collect().await.unwrap().to_bytes();
        let snapshot: Value = serde_json::from_slice(&body).unwrap();
        let closed = &snapshot["metrics"][0]["series"][0]["events"]["Pass"]["closed"];
        let rate = closed["per_second"].as_f64().unwrap();
        assert!((200.0..450.0).contains(&rate), "{rate} a second after {second} s");
        let mut stream = Stream::of(&console);
        let (_, all) = stream.next().await.unwrap();
        let row = &all["rows"][0];
        let rate = row[4][1].as_f64().unwrap() / (row[3].as_f64().unwrap() / 1e9);
        assert!((200.0..450.0).contains(&rate), "{rate} a second after {second} s");
        // And nothing is said of the time before.
        let counts = &row[5].as_array().unwrap()[2..];
        assert!(counts.len() as u64 <= second.min(59), "{second} s: {counts:?}");
        assert!(counts.iter().all(|count| *count != 0), "{second} s: {counts:?}");
    }
}

#[tokio::test]
async fn what_was_replayed_into_a_young_window_is_of_its_own_time() {
    let clock = Manual::default();
    clock.set(Timestamp::from_secs(1_000));
    let minute = SlidingWindow::<Http>::builder().interval(Duration::from_secs(60)).buckets(60);
    let window = Arc::new(minute.clock(clock.clone()).build().unwrap());
    for second in 945..1_000 {
        window.add_at(Timestamp::from_secs(second), Http::Pass, 10).unwrap();
    }
    clock.advance(Duration::from_secs(1));
    let mut console = Console::new("shop");
    console.show("own", "A window", Arc::clone(&window)).unwrap();
    let (_, all) = Stream::of(&console.build()).next().await.unwrap();
    let row = &all["rows"][0];
    assert_eq!((&row[4][1], &row[3]), (&Value::from(550), &Value::from(56_000_000_000_u64)));
    assert_eq!(row[5].as_array().unwrap().len(), 2 + 56, "{row}");
}

#[tokio::test]
async fn streams_are_bounded_and_those_that_leave_make_room() {
    let console = console_of(routes());
    let request = Request::get("/events").body(()).unwrap();
    let mut streams: Vec<_> = (0..64).map(|_| Stream::of(&console)).collect();
    assert_eq!(at_once(console.respond(&request)).status(), 503);
    assert!(streams[63].next().await.is_some());
    streams.truncate(63);
    assert_eq!(at_once(console.respond(&request)).status(), 200);
}

#[tokio::test]
async fn a_closed_console_ends_its_streams_and_still_answers() {
    let console = console_of(routes());
    let mut streams = [Stream::of(&console), Stream::of(&console.clone())];
    assert!(streams[0].next().await.is_some());
    console.close();
    for stream in &mut streams {
        while let Some((event, _)) = stream.next().await {
            assert!(event == "all" || event == "more");
        }
    }
    let ask = |path: &str| console.respond(&Request::get(path).body(()).unwrap());
    assert_eq!(
        (ask("/events").await.status(), ask("/metrics").await.status()),
        (503.try_into().unwrap(), 200.try_into().unwrap())
    );
}

#[tokio::test]
async fn a_panic_in_what_is_shown_ends_the_streams_and_the_next_may_be_well() {
    static IS_ILL: AtomicBool = AtomicBool::new(false);
    let time = || {
        assert!(!IS_ILL.load(Ordering::Relaxed), "a clock that is ill, as this test wants it");
        Timestamp::from_secs(60)
    };
    let clock = (time, Duration::from_nanos(1));
    let window = SlidingWindow::<Http>::builder().clock(clock).build().unwrap();
    let mut console = Console::new("shop");
    console.show("own", "A window", Arc::new(window)).unwrap();
    let console = console.build();
    let mut stream = Stream::of(&console);
    assert_eq!(stream.next().await.unwrap().0, "all");
    IS_ILL.store(true, Ordering::Relaxed);
    while stream.next().await.is_some() {}
    IS_ILL.store(false, Ordering::Relaxed);
    assert_eq!(Stream::of(&console).next().await.unwrap().0, "all");
}
