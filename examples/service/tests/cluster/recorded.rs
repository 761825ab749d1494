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
