//! One process that is slow, unlike the others.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::Value;
use tokio::task::JoinSet;

use crate::load::{Sent, slow};
use crate::prometheus::Prometheus;

/// The clients of each process, and the requests of each client. Together there are more than the
/// 200 answers that the rule demands: an increase leaves out the first sample of a series.
const CLIENTS: usize = 20;
const EACH: usize = 20;

/// The time of the slow answers, and of the others, in milliseconds.
const SLOW: u64 = 400;
const USUAL: u64 = 2;

/// Asks all processes for answers at once, and the last one for slow answers. Returns all that was
/// sent, by process.
pub(crate) async fn is_slow(addresses: &[SocketAddr]) -> Vec<Vec<Sent>> {
    let last = addresses.len() - 1;
    let clients = |(at, &address): (usize, &SocketAddr)| -> JoinSet<Vec<Sent>> {
        let takes = if at == last { SLOW } else { USUAL };
        let pause = Duration::from_millis(SLOW - takes); // several scrapes see the requests
        (0..CLIENTS).map(|_| slow(address, takes, pause, EACH)).collect()
    };
    let clients: Vec<_> = addresses.iter().enumerate().map(clients).collect();
    let mut all = Vec::new();
    for of_one in clients {
        all.push(of_one.join_all().await.into_iter().flatten().collect());
    }
    all
}

/// Checks that the rule about slow processes fires for one process, no other rule does, and the
/// time since when is one after `began`.
pub(crate) async fn is_found(prometheus: &Prometheus, process: SocketAddr, began: f64) {
    let firing = "ALERTS{alertstate=\"firing\"}";
    prometheus.until(firing, |found| !found.is_empty()).await;
    let of = |series: &Value, label: &str| series["metric"][label].as_str().map(str::to_owned);
    let found = prometheus.query(firing).await;
    let [only] = &found[..] else { panic!("one alert: {found:#?}") };
    assert_eq!(of(only, "alertname").as_deref(), Some("ShopSlowUnlikeOthers"));
    assert_eq!(of(only, "instance"), Some(process.to_string()));
    assert_eq!(of(only, "route").as_deref(), Some("/slow/{milliseconds}"));
    let since = prometheus.query("ALERTS_FOR_STATE{alertname=\"ShopSlowUnlikeOthers\"}").await;
    let [since] = &since[..] else { panic!("one beginning: {since:#?}") };
    let since: f64 = since["value"][1].as_str().and_then(|text| text.parse().ok()).expect("a time");
    assert!(since >= began.floor(), "{since}, begun at {began}");
}
