//! The cost of many requests at once: the threads that serve them, and the series that they read.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};
use std::time::Duration;

use http::{Request, StatusCode};
use http_body_util::BodyExt;
use windrow::{Clock, SlidingWindow, Timestamp};
use windrow_console::{Console, ConsoleService};

use super::{Http, routes, served, text};

/// The readings of a window: the threads, and the number of readings of its clock.
#[derive(Default)]
struct Watch {
    threads: Mutex<BTreeSet<String>>,
    readings: AtomicUsize,
    /// While it is closed, each reading of the clock waits.
    is_closed: AtomicBool,
}

fn me() -> String {
    let id: ThreadId = thread::current().id();
    format!("{id:?}")
}

impl Watch {
    fn clock(self: &Arc<Watch>) -> impl Clock + Send + Sync + 'static {
        let watch = Arc::clone(self);
        let read = move || {
            watch.readings.fetch_add(1, Ordering::SeqCst);
            watch.threads.lock().unwrap().insert(me());
            while watch.is_closed.load(Ordering::SeqCst) {
                thread::sleep(Duration::from_millis(1));
            }
            Timestamp::from_secs(60)
        };
        (read, Duration::from_nanos(1))
    }

    /// Returns a console of a window that is watched, read by no thread yet.
    fn console(self: &Arc<Watch>) -> ConsoleService {
        let window = SlidingWindow::<Http>::builder().clock(self.clock()).build().unwrap();
        let mut console = Console::new("shop");
        console.show("own", "A window", Arc::new(window)).unwrap();
        self.forget();
        console.build()
    }

    fn forget(&self) -> usize {
        self.threads.lock().unwrap().clear();
        self.readings.swap(0, Ordering::SeqCst)
    }

    fn close(&self, is_closed: bool) {
        self.is_closed.store(is_closed, Ordering::SeqCst);
    }
}

const PATHS: [&str; 4] = ["/text", "/snapshot.json", "/metrics", "/snapshot.json?series=own"];

async fn get(console: ConsoleService, path: &'static str) -> String {
    let response = console.respond(&Request::get(path).body(()).unwrap()).await;
    assert_eq!(response.status(), StatusCode::OK, "{path}");
    let body = response.into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(body.to_vec()).unwrap()
}

#[tokio::test]
async fn no_thread_of_the_service_reads_what_is_shown() {
    let watch = Arc::new(Watch::default());
    let console = watch.console();
    for path in PATHS {
        get(console.clone(), path).await;
        let read = std::mem::take(&mut *watch.threads.lock().unwrap());
        assert!(!read.is_empty() && !read.contains(&me()), "{path}: {read:?}, here {}", me());
    }
}

#[tokio::test]
async fn a_service_goes_on_while_a_reading_takes_its_time() {
    let watch = Arc::new(Watch::default());
    let console = watch.console();
    watch.close(true);
    let waiting = tokio::spawn(get(console.clone(), "/snapshot.json"));
    // The only thread of this runtime does something else meanwhile.
    while watch.readings.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    assert!(!waiting.is_finished());
    watch.close(false);
    assert!(waiting.await.unwrap().contains("\"own\""));
}

#[tokio::test]
async fn all_that_wait_get_one_answer_and_each_series_is_read_once_for_it() {
    let watch = Arc::new(Watch::default());
    let console = watch.console();
    let mut each = 0;
    for path in PATHS {
        get(console.clone(), path).await;
        each += watch.forget();
    }
    watch.close(true);
    let first = tokio::spawn(get(console.clone(), "/text"));
    while watch.readings.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    // These come while the first is being answered.
    let all: Vec<_> =
        (0..200).map(|index| tokio::spawn(get(console.clone(), PATHS[index % 4]))).collect();
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
    watch.close(false);
    let mut answers = BTreeSet::new();
    answers.insert(first.await.unwrap());
    for answer in all {
        answers.insert(answer.await.unwrap());
    }
    let read = watch.forget();
    assert!(read <= 2 * each, "{read} readings of the clock for 201 requests, {each} for four");
    assert!(answers.len() <= 2 * PATHS.len(), "{} answers", answers.len());
}

#[tokio::test]
async fn an_answer_has_what_was_added_before_it_was_asked_for() {
    let window = Arc::new(SlidingWindow::<Http>::builder().build().unwrap());
    let mut console = Console::new("shop");
    console.show("own", "A window", Arc::clone(&window)).unwrap();
    let console = console.build();
    for count in 1..=20 {
        window.add(Http::Pass, 1);
        let text = get(console.clone(), "/text").await;
        assert!(text.contains(&format!("\nown  Pass {count} (")), "{count}: {text}");
    }
}

#[tokio::test]
async fn a_panic_in_what_is_shown_is_an_answer_and_the_next_may_be_well() {
    let is_ill = Arc::new(AtomicBool::new(false));
    let ill = Arc::clone(&is_ill);
    let time = move || {
        assert!(!ill.load(Ordering::Relaxed), "a clock that is ill, as this test wants it");
        Timestamp::from_secs(60)
    };
    let clock = (time, Duration::from_nanos(1));
    let window = SlidingWindow::<Http>::builder().clock(clock).build().unwrap();
    let mut console = Console::new("shop");
    console.show("own", "A window", Arc::new(window)).unwrap();
    let console = console.build();
    is_ill.store(true, Ordering::Relaxed);
    let response = console.respond(&Request::get("/text").body(()).unwrap()).await;
    assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
    is_ill.store(false, Ordering::Relaxed);
    assert!(get(console, "/text").await.contains("\nown  "));
}

#[tokio::test]
async fn a_frame_that_takes_long_holds_up_no_answer() {
    // Its function blocks in the thread that makes frames.
    let (blocks, blocked) = std::sync::mpsc::channel::<()>();
    let (entered, mut enters) = tokio::sync::mpsc::unbounded_channel();
    let blocked = Mutex::new(blocked);
    let mut console = Console::new("shop");
    console.show("requests", "Requests by route", routes()).unwrap();
    let load = windrow::export::from_fn(move || {
        if thread::current().name() == Some("windrow-sampler") {
            let _ = entered.send(());
            let _ = blocked.lock().unwrap().recv(); // until the test has ended
        }
        0.5
    });
    console.show("load", "Load", load).unwrap();
    let server = served(&console.build());
    let stream = super::get(server.address(), "/events").await;
    enters.recv().await.unwrap();
    let shown =
        tokio::time::timeout(Duration::from_secs(60), super::get(server.address(), "/text"));
    let shown = text(shown.await.expect("no answer while a frame is made")).await;
    assert!(shown.contains("\nload  0.5"), "{shown}");
    drop((blocks, stream));
}

#[tokio::test]
async fn each_field_of_several_metrics_is_a_row() {
    windrow::metrics! { struct Cache { hits: windrow::Counter, rt: windrow::Histogram } }
    windrow::labels! { struct Tenant { tenant: str } }
    let caches = Arc::new(windrow::Family::<Tenant, Cache>::new());
    let cache = caches.handle(Tenant { tenant: "acme" });
    cache.hits.add(7);
    cache.rt.record(1_250_000);
    let mut catalog = windrow::export::Catalog::new();
    catalog.add("cache", "Lookups", caches).unwrap().unit = "ns".into();
    let mut console = Console::new("shop");
    console.show_all(&catalog).unwrap();
    let console = console.build();
    let shown = get(console.clone(), "/text").await;
    for expected in ["cache_hits", "cache_rt", "acme", "p50 1.250ms"] {
        assert!(shown.contains(expected), "{shown}");
    }
    let scraped = get(console, "/metrics").await;
    assert!(scraped.contains("\ncache_hits_total{tenant=\"acme\"} 7\n"), "{scraped}");
}
