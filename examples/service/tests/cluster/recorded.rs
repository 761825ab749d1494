//! The series that the servers have recorded by the rules.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::prometheus::Prometheus;

/// Checks that it equals the raw numbers, and no rule fails.
pub(crate) async fn is_of_the_raw_numbers(prometheus: &Prometheus) {
    for (rule, raw) in [
        ("job:shop_in_flight:sum", "sum without (instance) (shop_in_flight)"),
        (
            "job:shop_requests_max_seconds:max",
            "max without (instance) (shop_requests_max_seconds{event=\"Rt\"})",
        ),
        (
            "job:shop_in_flight:max",
            "max without (instance, event) (shop_requests_max{event=\"InFlight\"})",
        ),
        ("job:shop_requests_min_seconds:min", "min without (instance) (shop_requests_min_seconds)"),
    ] {
        // Retried for a while: the compared values were recorded at some moment of the last second.
        let same = format!("count({rule} == ({raw})) == count({raw})");
        prometheus.until(&same, |found| found.len() == 1).await;
    }
    let mean = "job:shop_payments_cents:mean5m > 0";
    prometheus.until(mean, |found| found.len() == 1).await;
    let of_each =
        "count(job:shop_requests_seconds:p99_5m > 0) == count(job:shop_requests_max_seconds:max)";
    prometheus.until(of_each, |found| found.len() == 1).await;
    assert_eq!(rules_in_order(prometheus).await, 44);
}

/// The shares of slow answers by process, above 2^28 ns, in both forms of the rules in `burn.yml`.
/// A native histogram in seconds shows that bound as 2^(-15/8).
const CLASSIC: &str = "1 - sum without (event, le) (shop_requests_values_seconds_bucket{event=\"Rt\",le=\"0.268435456\"}) \
     / sum without (event) (shop_requests_values_seconds_count{event=\"Rt\"})";
const NATIVE: &str = "1 - histogram_fraction(-1, 0.2726269331663144, \
     sum without (event) (shop_requests_values_seconds{event=\"Rt\"}))";

/// Checks that a server with native histograms has the shares of one with classic ones, some of
/// which are slow, and records the shares that `burn.yml` asks for.
pub(crate) async fn slow_shares_agree(classic: &Prometheus, native: &Prometheus) {
    let expected = rounded(&classic.query(CLASSIC).await);
    assert!(expected.values().any(|share| *share > 100_000_000), "{expected:?}");
    native.until(NATIVE, |found| rounded(found) == expected).await;
    assert!(classic.query(NATIVE).await.is_empty() && native.query(CLASSIC).await.is_empty());
    for span in ["5m", "30m", "1h", "6h"] {
        let share = format!("job:shop_requests_slow:ratio{span} >= 0");
        let of_all = classic.query(&share).await.len();
        assert!(of_all > 0, "{share}");
        native.until(&share, |found| found.len() == of_all).await;
    }
}

/// Returns the values by labels, in billionths.
fn rounded(found: &[Value]) -> BTreeMap<String, i64> {
    let number = |series: &Value| series["value"][1].as_str().and_then(|text| text.parse().ok());
    let billionths = |series: &Value| (number(series).unwrap_or(f64::NAN) * 1e9).round() as i64;
    found.iter().map(|series| (series["metric"].to_string(), billionths(series))).collect()
}

/// Checks that a server has the same series as the only one below it: by the same labels, with the
/// same values.
pub(crate) async fn is_the_same_above(leaf: &Prometheus, top: &Prometheus) {
    // These stand still once the load has ended.
    for name in
        ["shop_in_flight:sum", "shop_requests_max_seconds:max", "shop_payments_max_cents:max"]
    {
        let below = by_labels("job:", &leaf.query(&format!("job:{name}")).await);
        assert!(!below.is_empty(), "{name}");
        top.until(&format!("all:{name}"), |found| by_labels("all:", found) == below).await;
    }
    // These move on: there is one of each.
    for name in [
        "shop_payments_cents:mean5m",
        "shop_requests_failed:ratio5m",
        "shop_requests_unanswered:ratio5m",
    ] {
        let below = leaf.query(&format!("job:{name}")).await.len();
        top.until(&format!("all:{name}"), |found| found.len() == below && below > 0).await;
    }
    assert_eq!(rules_in_order(top).await, 19);
}

/// Values by labels, without what the names begin with.
fn by_labels(prefix: &str, found: &[Value]) -> BTreeMap<String, String> {
    let labels = |series: &Value| series["metric"].to_string().replace(prefix, "");
    found.iter().map(|series| (labels(series), series["value"][1].to_string())).collect()
}

/// Returns the number of rules that a server evaluates, and checks that none fails.
async fn rules_in_order(prometheus: &Prometheus) -> usize {
    let answer = prometheus.get("rules").await.expect("the server answers");
    let groups = answer["data"]["groups"].as_array().expect("groups").iter();
    let rules: Vec<&Value> =
        groups.flat_map(|group| group["rules"].as_array().expect("rules")).collect();
    assert!(rules.iter().all(|rule| rule["health"] == "ok"), "{rules:#?}");
    rules.len()
}
