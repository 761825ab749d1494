//! Series that are held while a task waits: the task can be spawned, so its future is `Send`.

use std::sync::Arc;
use std::time::Duration;

use windrow::breaker::{Call, Settings};
use windrow::{AtMost, Breaker, Counter, Family, Gate, InFlight, Pace, labels};

labels! { struct Key { key: str, route: Option<str> } }

const MINUTE: Duration = Duration::new(60, 0);

static COUNTS: Family<Key, Counter> = Family::new();
static GATES: Family<Key, Gate> = Family::with_constructor(|| Gate::of(AtMost(10), MINUTE, 12));
static PACES: Family<Key, Pace> = Family::with_constructor(|| Pace::of(MINUTE, AtMost(2)));
static BREAKERS: Family<Key, Breaker> =
    Family::with_constructor(|| Breaker::of(Settings::last_calls(10)));
static LEVELS: Family<Key, InFlight> = Family::new();

async fn wait() {
    std::future::ready(()).await;
}

/// Runs a future as an executor of several threads would.
fn spawn(future: impl Future<Output = ()> + Send + 'static) {
    let run = move || {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(std::pin::pin!(future).poll(&mut context).is_ready());
    };
    std::thread::spawn(run).join().unwrap();
}

fn key(key: &str) -> Key<'_> {
    Key { key, route: None }
}

#[test]
fn a_handle_with_texts_is_held_across_an_await() {
    async fn ask(client: &str) {
        let counter = COUNTS.handle(key(client));
        wait().await;
        counter.increment();
        let shared = Arc::new(COUNTS.with(key(client)).keep());
        wait().await;
        shared.increment();
    }
    let client = String::from("a");
    spawn(async move { ask(&client).await });
    assert_eq!(COUNTS.with(key("a")).sum(), 2);
}

#[test]
fn a_reservation_by_key_is_held_across_an_await() {
    async fn ask(client: &str) {
        let (gate, pace) = (GATES.handle(key(client)), PACES.handle(key(client)));
        let own = gate.reserve(4, Duration::ZERO).unwrap().or_give_back();
        let turn = pace.reserve(2, Duration::ZERO).unwrap();
        wait().await;
        own.settle(3);
        turn.keep();
    }
    spawn(ask("a"));
    assert_eq!(GATES.with(key("a")).granted(), 3);
    assert_eq!(PACES.with(key("a")).left(), 0);
}

#[test]
fn guards_of_handles_are_held_across_an_await() {
    async fn ask(client: &str) {
        let call = Call::begin(BREAKERS.handle(key(client))).unwrap();
        let level = LEVELS.handle(key(client));
        let entered = level.enter(1).owned_by(level.clone());
        wait().await;
        call.success();
        drop(entered);
    }
    spawn(ask("a"));
    assert_eq!(BREAKERS.with(key("a")).counts().succeeded, 1);
}
