//! The words for what is unusual, of windows whose clock the test sets.

use std::time::Duration;

use serde_json::Value;
use windrow::clock::Manual;
use windrow::{Family, SlidingWindow, events, labels};
use windrow_console::Console;

use crate::{get, json, served, text};

events! { enum Web { Pass: Count, Block: Count, Failed: Count, Rt: Histogram } }

labels! { struct Path { path: str } }

type Window = SlidingWindow<Web, Manual>;
type Paths = Family<Path<'static>, Window, Box<dyn Fn() -> Window + Send + Sync>>;

const SECOND: Duration = Duration::from_secs(1);

/// Two paths with a minute by the second, and three hours by the minute.
struct Site {
    clock: Manual,
    paths: &'static Paths,
}

impl Site {
    fn new() -> Site {
        let clock = Manual::default();
        let handle = clock.clone();
        let make = move || {
            let window = SlidingWindow::builder().interval(60 * SECOND).buckets(60);
            let window = window.tier(60 * SECOND, 180).clock(handle.clone());
            window.build().unwrap()
        };
        let make: Box<dyn Fn() -> Window + Send + Sync> = Box::new(make);
        Site { clock, paths: Box::leak(Box::new(Family::with_constructor(make))) }
    }

    /// Serves both paths for some seconds: `/cart` a hundred times a second, of which some fail,
    /// are refused, or take a time in milliseconds.
    fn serve(&self, seconds: u64, failed: u64, refused: u64, millis: u64) {
        let [cart, fine] = ["/cart", "/"].map(|path| self.paths.handle(Path { path }));
        for _ in 0..seconds {
            cart.add(Web::Pass, 100 - refused);
            cart.add(Web::Block, refused);
            cart.add(Web::Failed, failed);
            fine.add(Web::Pass, 50);
            for value in 0..20 {
                cart.record(Web::Rt, millis * 1_000_000 + value * 10_000);
                fine.record(Web::Rt, 3_000_000 + value * 10_000);
            }
            self.clock.advance(SECOND);
        }
    }

    fn console(&self) -> windrow_console::ConsoleService {
        let mut console = Console::new("shop");
        console.show("requests", "Requests by path", self.paths).unwrap();
        console.nanoseconds("Rt");
        console.build()
    }
}

/// Returns the lines of `/text` before those of the first metric.
async fn head(address: std::net::SocketAddr) -> String {
    let text = text(get(address, "/text").await).await;
    text.split("\n\n").next().unwrap().to_owned()
}

#[tokio::test]
async fn an_incident_that_began_before_anyone_looked_is_told_with_its_time() {
    let web = Site::new();
    web.serve(3_600, 0, 1, 2);
    let server = served(&web.console());
    let calm = head(server.address()).await;
    assert!(calm.contains("\nnothing unusual since "), "{calm}");

    web.serve(600, 90, 1, 2);
    let server = served(&web.console());
    let failing = head(server.address()).await;
    assert!(failing.contains("requests{path=\"/cart\"}  failures 0\u{202f}% to 90"), "{failing}");
    assert!(failing.contains(" UTC (10 min)"), "{failing}");
    assert_eq!(failing.matches("unusual: ").count(), 1, "{failing}");

    let all: Value = json(server.address(), "/snapshot.json").await;
    let change = &all["unusual"]["changes"][0];
    assert_eq!((&change["what"], &change["course"]), (&"failing".into(), &"steady".into()));
    assert_eq!(change["key"], "requests{path=\"/cart\"}");
    let ago = all["time_ms"].as_u64().unwrap() - change["since_ms"].as_u64().unwrap();
    assert!((590_000..=660_000).contains(&ago), "{ago}");
    assert_eq!(all["unusual"]["compared"], 2);

    // It ends, and is remembered.
    web.serve(300, 0, 1, 2);
    let server = served(&web.console());
    let over = head(server.address()).await;
    assert!(over.contains("\nnothing unusual since ") && !over.contains("unusual: "), "{over}");
    let all: Value = json(server.address(), "/snapshot.json").await;
    let ago = all["time_ms"].as_u64().unwrap() - all["unusual"]["calm_since_ms"].as_u64().unwrap();
    assert!((120_000..300_000).contains(&ago), "{ago}");
}

#[tokio::test]
async fn refusals_and_slow_answers_are_no_failures() {
    let web = Site::new();
    web.serve(3_600, 1, 0, 2);
    web.serve(300, 1, 40, 90);
    let server = served(&web.console());
    let text = head(server.address()).await;
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("unusual: ")).collect();
    assert_eq!(lines.len(), 2, "{text}");
    assert!(lines[0].contains("  p99 \u{d7}") && lines[0].contains("ms since"), "{text}");
    assert!(lines[1].contains("  refused 0\u{202f}% to 40\u{202f}%"), "{text}");
    assert!(!text.contains("failures"), "{text}");
}

#[tokio::test]
async fn refused_requests_are_a_part_of_those_that_a_tower_layer_counts() {
    use windrow_tower::Http;

    let clock = Manual::default();
    let window = SlidingWindow::<Http>::builder().interval(60 * SECOND).buckets(60);
    let window = window.tier(60 * SECOND, 180).clock(clock.clone()).build().unwrap();
    for second in 0..3_900 {
        window.add(Http::Request, 100);
        window.add(Http::Block, if second < 3_600 { 1 } else { 40 });
        clock.advance(SECOND);
    }
    let mut console = Console::new("shop");
    console.show("requests", "Requests", std::sync::Arc::new(window)).unwrap();
    let text = head(served(&console.build()).address()).await;
    assert!(text.contains("  refused 1\u{202f}% to 40\u{202f}% since "), "{text}");
}

#[tokio::test]
async fn looks_find_it_while_a_client_watches_and_settings_apply() {
    let web = Site::new();
    web.serve(3_600, 1, 0, 2);
    let mut strict = Console::new("shop");
    strict.show("requests", "Requests by path", web.paths).unwrap();
    strict.change_factor(20.0);
    strict.false_changes_a_day(0.01);
    let (server, strict) = (served(&web.console()), served(&strict.build()));
    let servers = [server.address(), strict.address()];
    for server in servers {
        assert!(head(server).await.contains("nothing unusual"));
    }
    // Ten times the failures, for seconds: no minute shows them yet.
    for _ in 0..12 {
        web.serve(1, 10, 0, 2);
        for server in servers {
            head(server).await;
        }
    }
    let found = head(servers[0]).await;
    assert!(found.contains("/cart\"}  failures 1\u{202f}% to 10\u{202f}% since"), "{found}");
    assert!(found.contains("s)"), "{found}");
    let strict = head(servers[1]).await;
    assert!(strict.contains("nothing unusual"), "{strict}");
}

#[tokio::test]
async fn a_young_process_has_nothing_to_compare_with() {
    let web = Site::new();
    web.serve(600, 50, 0, 2);
    let server = served(&web.console());
    let text = head(server.address()).await;
    assert!(text.contains("\nnothing to compare with yet"), "{text}");
    let all: Value = json(server.address(), "/snapshot.json").await;
    assert_eq!(all["unusual"]["changes"].as_array().unwrap().len(), 0);
    assert_eq!((&all["unusual"]["compared"], &all["unusual"]["windows"]), (&0.into(), &2.into()));
}
