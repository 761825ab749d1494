//! Percentiles: the same ones everywhere, and those of the window itself.

use std::sync::Arc;
use std::time::Duration;

use http::Request;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use windrow::clock::Manual;
use windrow::exemplar::TraceContext;
use windrow::{
    Family, Histogram, SlidingWindow, Timestamp, events,
    histogram::{Distribution, Scale},
    labels,
};
use windrow_console::{Console, ConsoleService};

events! {
    enum Calls { Pass: Count, Rt: Histogram, Body: Histogram(Scale::fixed::<1, 1, { 1 << 20 }>()) }
}

/// Returns a minute by the second and an hour by the minute, in the second half of which there were
/// some slow ones.
fn window() -> SlidingWindow<Calls, Manual> {
    let clock = Manual::default();
    clock.set(Timestamp::from_secs(7_200));
    let minute = SlidingWindow::builder().interval(Duration::from_secs(60)).buckets(60);
    let window = minute.tier(Duration::from_secs(60), 60).clock(clock.clone()).build().unwrap();
    for second in 0..90_u64 {
        for call in 0..100 {
            window.add(Calls::Pass, 1);
            let slow = second > 60 && call < second % 8;
            window.record(Calls::Rt, if slow { 500_000_000 } else { 1_000_000 + 10_000 * call });
        }
        window.record(Calls::Body, second);
        clock.advance(Duration::from_secs(1));
    }
    window
}

/// Returns what a console answers that shows this window as `calls`.
async fn answer(console: &ConsoleService, path: &str) -> String {
    let response = console.respond(&Request::get(path).body(()).unwrap()).await;
    assert_eq!(response.status(), 200, "{path}");
    let body = response.into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(body.to_vec()).unwrap()
}

fn shown(window: &Arc<SlidingWindow<Calls, Manual>>) -> ConsoleService {
    let mut console = Console::new("shop");
    console.show("calls", "Calls", Arc::clone(window)).unwrap();
    console.nanoseconds("Rt");
    console.build()
}

async fn detail(console: &ConsoleService) -> Value {
    let one = answer(console, "/snapshot.json?series=calls").await;
    serde_json::from_str::<Value>(&one).unwrap()["series"].take()
}

#[track_caller]
fn assert_summary(shown: &Value, is: &Distribution) {
    let [p50, p90, p99] = [0.5, 0.9, 0.99].map(|q| is.quantile(q));
    for (name, number) in [
        ("count", Some(is.count())),
        ("sum", Some(is.sum())),
        ("min", is.min()),
        ("max", is.max()),
        ("p50", p50),
        ("p90", p90),
        ("p99", p99),
    ] {
        assert_eq!(shown[name], json!(number), "{name} of {shown}");
    }
    assert_eq!(shown["mean"], json!(is.mean()));
}

#[tokio::test]
async fn percentiles_are_the_windows_own() {
    let window = Arc::new(window());
    let console = shown(&window);
    let series = detail(&console).await;
    let closed = window.over(window.interval()).unwrap().complete();
    for (name, event) in [("Rt", Calls::Rt), ("Body", Calls::Body)] {
        let numbers = &series["events"][name];
        assert_summary(numbers, &window.distribution(event));
        assert_summary(&numbers["closed"], &closed.distribution(event));
        assert_summary(&numbers["lifetime"], &window.lifetime_distribution(event));
        let cells: Vec<_> = window.distribution(event).cells().collect();
        let cells: Vec<_> =
            cells.iter().map(|(cell, count)| json!([cell.start(), cell.end(), count])).collect();
        assert_eq!(numbers["cells"], json!(cells));
    }
    assert_eq!(series["check"], json!({ "holds": true }));
    let described = &series["metric"]["events"];
    assert_eq!((&described[1]["kind"], &described[1]["unit"]), (&json!("Histogram"), &json!("ns")));
    assert_eq!(described[1]["scale"]["least"], 513);
    assert_eq!(
        (&described[2]["scale"]["schema"], &described[2]["unit"]),
        (&json!(1), &json!(null))
    );
    let slow = closed.distribution(Calls::Rt);
    assert!(slow.quantile(0.99).unwrap() > 100 * slow.quantile(0.9).unwrap(), "{slow}");
}

#[tokio::test]
async fn each_point_of_time_has_the_percentiles_and_cells_of_its_buckets() {
    let window = Arc::new(window());
    let series = detail(&shown(&window)).await;
    let panels = series["panels"].as_array().unwrap();
    let snapshots = [window.snapshot(), window.series(0).unwrap()];
    assert_eq!(panels.len(), snapshots.len());
    for (panel, snapshot) in panels.iter().zip(&snapshots) {
        let rt = &panel["events"]["Rt"];
        let used = rt["used"].as_array().unwrap();
        let buckets = &snapshot.buckets()[snapshot.buckets().len() - used.len()..];
        let mut all: Option<Distribution> = None;
        for (at, bucket) in buckets.iter().enumerate() {
            let is = bucket.distribution(Calls::Rt);
            for (name, q) in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99)] {
                assert_eq!(rt[name][at], json!(is.quantile(q)), "{name} at {at}");
            }
            assert_eq!(rt["count"][at], is.count());
            let cells: Vec<Value> = is
                .cells()
                .flat_map(|(cell, count)| {
                    let bounds = json!([cell.start(), cell.end()]);
                    let place = rt["cells"].as_array().unwrap().iter().position(|c| *c == bounds);
                    [json!(place.unwrap()), json!(count)]
                })
                .collect();
            assert_eq!(used[at], json!(cells), "at {at}");
            match &mut all {
                Some(all) => all.merge(&is).unwrap(),
                None => all = Some(is),
            }
        }
        assert_summary(&rt["whole"], &all.unwrap());
    }
    assert!(series.to_string().len() < 60_000, "{}", series.to_string().len());
}

#[tokio::test]
async fn a_terminal_has_percentiles_and_the_greatest() {
    let window = Arc::new(window());
    let shown = answer(&shown(&window), "/text").await;
    let closed = window.over(window.interval()).unwrap().complete();
    let distribution = closed.distribution(Calls::Rt);
    let times = [0.5, 0.9, 0.99].map(|q| distribution.quantile(q));
    let [p50, p90, p99] = times.map(|nanos| Duration::from_nanos(nanos.unwrap()));
    let expected = format!(
        "Rt 9000 ({:.1}/s, p50 {p50:.3?}, p90 {p90:.3?}, p99 {p99:.3?}, max 500.000ms)",
        closed.rate(Calls::Rt)
    );
    assert!(shown.contains(&expected), "{expected:?} in {shown}");
    assert!(shown.contains(", max 89)"), "{shown}"); // bodies are no durations
}

#[tokio::test]
async fn a_stream_has_eight_numbers_of_a_histogram() {
    let window = Arc::new(window());
    let console = shown(&window);
    let mut body = console.respond(&Request::get("/events").body(()).unwrap()).await.into_body();
    let frame = loop {
        let bytes = body.frame().await.unwrap().unwrap().into_data().unwrap();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        if let Some(data) = text.strip_prefix("event: all\ndata: ") {
            break serde_json::from_str::<Value>(data).unwrap();
        }
    };
    assert_eq!(frame["metrics"][0][3][1], json!(["Rt", "Histogram", "ns"]));
    let is = window.over(window.interval()).unwrap().complete().distribution(Calls::Rt);
    let [p50, p90, p99] = [0.5, 0.9, 0.99].map(|q| is.quantile(q));
    let numbers = json!([9_000, is.count(), is.sum(), is.min(), is.max(), p50, p90, p99]);
    let row = frame["rows"][0][4].as_array().unwrap();
    assert_eq!(json!(row[2..10]), numbers, "after two of `Pass`");
    assert_eq!(row.len(), 2 + 8 + 8);
}

labels! { struct Shelf { shelf: u8 } }

#[tokio::test]
async fn histograms_without_a_window_have_percentiles_since_the_drain_and_a_count_of_all_time() {
    let shelves = Arc::new(Family::<Shelf, Histogram>::new().with_max_series(2));
    let shelf = shelves.handle(Shelf { shelf: 7 });
    (0..100).for_each(|_| shelf.record(1_000_000));
    _ = shelf.take();
    (1..=10).for_each(|millis| shelf.record(millis * 1_000_000));
    let mut console = Console::new("shop");
    console.show("search", "Time of a search, by shelf", shelves).unwrap();
    console.nanoseconds("search");
    let console = console.build();

    let key = "search{shelf=\"7\"}";
    let one = answer(&console, "/snapshot.json?series=search%7Bshelf=%227%22%7D").await;
    let series = serde_json::from_str::<Value>(&one).unwrap()["series"].take();
    assert_eq!((&series["key"], &series["metric"]["form"]), (&json!(key), &json!("histogram")));
    assert_eq!((&series["metric"]["unit"], &series["scale"]["schema"]), (&json!("ns"), &json!(3)));
    assert_summary(&series, &shelf.distribution());
    assert_summary(&series["lifetime"], &shelf.lifetime());
    assert_eq!(series["cells"].as_array().unwrap().len(), shelf.distribution().cells().count());
    assert_eq!(series["check"], json!({ "holds": true }));

    let [p50, p90, p99] = [0.5, 0.9, 0.99].map(|q| shelf.distribution().quantile(q));
    let [p50, p90, p99] = [p50, p90, p99].map(|nanos| Duration::from_nanos(nanos.unwrap()));
    let line = format!("{key}  110 (p50 {p50:.3?}, p90 {p90:.3?}, p99 {p99:.3?}, max 10.");
    let text = answer(&console, "/text").await;
    assert!(text.contains(&line), "{line:?} in {text}");
    let scrape = answer(&console, "/metrics").await;
    assert!(scrape.contains("search_count{shelf=\"7\"} 110\n"), "{scrape}");
}

#[tokio::test]
async fn exemplars_have_their_ids_and_ages() {
    let window = Arc::new(window());
    let trace = TraceContext { trace_id: 0x4bf9 << 112 | 7, span_id: 0xf0 };
    window.record_with_exemplar(Calls::Rt, 2_000_000_000, trace);
    let histogram = Arc::new(Histogram::new());
    histogram.record_with_exemplar(3_000, trace);
    let mut console = Console::new("shop");
    console.show("calls", "Calls", Arc::clone(&window)).unwrap();
    console.show("rt", "", Arc::clone(&histogram)).unwrap();
    let console = console.build();
    let check = |shown: &Value, value: u64| {
        let [exemplar] = &shown.as_array().unwrap()[..] else { panic!("{shown}") };
        assert_eq!(exemplar["value"], value);
        assert_eq!(exemplar["trace_id"], "4bf90000000000000000000000000007");
        assert_eq!(exemplar["span_id"], "00000000000000f0");
        assert!(exemplar["ago_ms"].as_u64().unwrap() < 600_000);
    };
    let calls = detail(&console).await;
    check(&calls["events"]["Rt"]["exemplars"], 2_000_000_000);
    assert_eq!(calls["events"]["Body"]["exemplars"], json!([]));
    let one = answer(&console, "/snapshot.json?series=rt").await;
    let one: Value = serde_json::from_str(&one).unwrap();
    check(&one["series"]["exemplars"], 3_000);
}
