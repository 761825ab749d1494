//! Requests to one service, and the sender's book of them.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, SystemTime};

use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::client::Client;

/// Counters by name and labels, without those that are zero, such as `requests GET /carts Request`.
pub(crate) type Counts = BTreeMap<String, u64>;

/// The number of clients of a service.
const CLIENTS: usize = 4;

/// Seconds since 1970, as Prometheus tells the time.
pub(crate) fn now() -> f64 {
    SystemTime::UNIX_EPOCH.elapsed().expect("the clock is set").as_secs_f64()
}

/// A request that was sent.
pub(crate) struct Sent {
    pub(crate) began: f64,
    /// The time of the answer; `None` if there was none.
    pub(crate) ended: Option<f64>,
    method: &'static str,
    route: &'static str,
    status: u16,
    cents: u64,
}

/// The clients of a service at work.
pub(crate) struct Load {
    stop: Arc<AtomicBool>,
    clients: JoinSet<Vec<Sent>>,
}

impl Load {
    pub(crate) fn begin(service: SocketAddr) -> Load {
        let stop = Arc::new(AtomicBool::new(false));
        let client = |_| send(service, Arc::clone(&stop));
        Load { clients: (0..CLIENTS).map(client).collect(), stop }
    }

    /// Lets each client finish what it has begun. Returns all that was sent.
    pub(crate) async fn end(self) -> Vec<Sent> {
        self.stop.store(true, Relaxed);
        self.clients.join_all().await.into_iter().flatten().collect()
    }
}

/// Sends one request after another until the stop flag is set, or until the service is gone.
async fn send(service: SocketAddr, stop: Arc<AtomicBool>) -> Vec<Sent> {
    let mut client = Client::connect(service).await.expect("the service listens");
    let mut all = Vec::new();
    while !stop.load(Relaxed) {
        let cents = u64::from(fastrand::u32(1..10_000));
        let (route, method, path, body) = match fastrand::u32(0..10) {
            0..5 => ("/carts/{id}", "GET", format!("/carts/{cents}"), String::new()),
            5..9 => ("/orders", "POST", "/orders".to_owned(), cents.to_string()),
            _ => ("unmatched", "GET", format!("/{cents}"), String::new()),
        };
        let began = now();
        let answer = client.send(method, &path, body).await;
        let ended = answer.is_ok().then(now);
        let status = answer.map_or(0, |(status, _)| status.as_u16());
        all.push(Sent { began, ended, method, route, status, cents });
        if ended.is_none() {
            break;
        }
        sleep(Duration::from_millis(2)).await;
    }
    all
}

/// Sends requests for slow answers, which must succeed, with a pause after each.
pub(crate) async fn slow(
    service: SocketAddr,
    milliseconds: u64,
    pause: Duration,
    number: usize,
) -> Vec<Sent> {
    let mut client = Client::connect(service).await.expect("the service listens");
    let mut all = Vec::new();
    for _ in 0..number {
        let began = now();
        let answer = client.send("GET", &format!("/slow/{milliseconds}"), String::new()).await;
        let (status, _) = answer.expect("the service answers");
        assert!(status.is_success(), "{status}");
        let (ended, status, route) = (Some(now()), status.as_u16(), "/slow/{milliseconds}");
        all.push(Sent { began, ended, method: "GET", route, status, cents: 0 });
        sleep(pause).await;
    }
    all
}

/// Sends a request about a coupon, which must succeed.
pub(crate) async fn coupon(service: SocketAddr, method: &'static str, code: &str) -> Sent {
    let mut client = Client::connect(service).await.expect("the service listens");
    let began = now();
    let answer = client.send(method, &format!("/coupons/{code}"), String::new()).await;
    let (status, _) = answer.expect("the service answers");
    assert!(status.is_success(), "{method} {code}: {status}");
    let (ended, status) = (Some(now()), status.as_u16());
    Sent { began, ended, method, route: "/coupons/{code}", status, cents: 0 }
}

/// Returns the counts that a service must have for the requests sent to it, if all of it was
/// answered.
pub(crate) fn expected(all: &[Sent]) -> Counts {
    let mut counts = Counts::new();
    let mut add = |name: String, n| *counts.entry(name).or_default() += n;
    for sent in all {
        let request = format!("requests {} {}", sent.method, sent.route);
        add(format!("{request} Request"), 1);
        add(format!("{request} Rt"), 1);
        if sent.status >= 500 {
            add(format!("{request} Exception"), 1);
        }
        if sent.status == 429 {
            add(format!("{request} Block"), 1);
        }
        let outcome = match (sent.route, sent.status) {
            ("/orders", 200) => "accepted",
            ("/orders", 429) => "refused",
            ("/orders", 503) => "failed",
            _ => continue,
        };
        add(format!("orders {outcome}"), 1);
        if outcome == "accepted" {
            add("payments Amount".to_owned(), 1);
            add("payments_sum Amount".to_owned(), sent.cents);
        }
    }
    counts
}
