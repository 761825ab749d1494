//! A series that is removed and made again, under a scrape each second.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use serde_json::Value;

use crate::load::{Sent, coupon};
use crate::prometheus::Prometheus;

/// Coupons redeemed in each campaign: more than in the one before, so that no count falls.
const CAMPAIGNS: [u64; 3] = [2, 5, 9];

/// Redeems a coupon in each campaign, which ends when a scrape has all of it; and compares the sum
/// of increases, by times of creation, with the coupons redeemed. Returns the requests.
pub(crate) async fn redeemed_in_campaigns(
    prometheus: &Prometheus,
    service: SocketAddr,
) -> Vec<Sent> {
    let series = |name: &str| format!("{name}{{code=\"hay\",instance=\"{service}\"}}");
    let (total, created) = (series("shop_coupons_total"), series("shop_coupons_created"));
    let mut sent = Vec::new();
    for (number, coupons) in CAMPAIGNS.into_iter().enumerate() {
        if number > 0 {
            sent.push(coupon(service, "DELETE", "hay").await);
        }
        for _ in 0..coupons {
            sent.push(coupon(service, "POST", "hay").await);
        }
        prometheus.until(&format!("{total} == {coupons}"), |found| found.len() == 1).await;
    }
    let counts = samples(&prometheus.query(&format!("{total}[10m]")).await);
    let births = samples(&prometheus.query(&format!("{created}[10m]")).await);
    let (mut lives, mut before, mut by_value) = (BTreeMap::new(), 0.0, 0.0);
    for (at, count) in counts {
        lives.insert(births[&at].to_bits(), count); // the last of each life stays
        by_value += if count < before { count } else { count - before };
        before = count;
    }
    let by_creation: f64 = lives.into_values().sum();
    let redeemed: u64 = CAMPAIGNS.iter().sum();
    assert_eq!(by_creation.to_string(), redeemed.to_string(), "by times of creation");
    // Values alone do not show where a campaign began.
    assert!(by_value < by_creation, "{by_value} < {by_creation}");
    sent
}

/// Returns the values of the samples of one series, by the bits of their times, whose order is that
/// of time.
fn samples(found: &[Value]) -> BTreeMap<u64, f64> {
    let [series] = found else { panic!("one series: {found:?}") };
    let samples = series["values"].as_array().expect("a range has values").iter();
    let sample =
        |sample: &Value| Some((sample[0].as_f64()?.to_bits(), sample[1].as_str()?.parse().ok()?));
    samples.map(|one| sample(one).expect("a time and a value")).collect()
}
