//! The expressions of the dashboard for Grafana.

use std::fs;

use serde_json::{Value, json};

use crate::prometheus::{FILES, Prometheus};
use crate::{file, promtool};

/// Returns all expressions, with what Grafana puts in the place of its variables.
fn expressions() -> Vec<String> {
    let text = fs::read_to_string(format!("{FILES}/dashboard.json")).unwrap();
    let dashboard: Value = serde_json::from_str(&text).unwrap();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let panels = list(&dashboard["panels"]);
    let targets = panels.iter().flat_map(|panel| list(&panel["targets"]));
    let all = targets.chain(list(&dashboard["annotations"]["list"]));
    let plain = |target: Value| {
        let expression = target["expr"].as_str().expect("each target has an expression");
        let plain = expression.replace("$__rate_interval", "10m").replace("$instance", ".+");
        assert!(!plain.contains('$'), "{plain}");
        plain
    };
    all.map(plain).collect()
}

/// Checks that promtool reads each expression.
pub(crate) fn is_sound() {
    let rule = |(at, expression)| json!({ "record": format!("panel:{at}"), "expr": expression });
    let rules: Vec<Value> = expressions().into_iter().enumerate().map(rule).collect();
    assert!(rules.len() > 18, "{}", rules.len());
    let groups = json!({ "groups": [{ "name": "dashboard", "rules": rules }] });
    let rules = file("dashboard-rules.yml");
    fs::write(&rules, groups.to_string()).unwrap();
    let (right, said) = promtool(&["check", "rules", rules.to_str().unwrap()]);
    assert!(right, "{said}");
}

/// Checks that each expression finds something in a server that has scraped services under load,
/// but for those of the days before.
pub(crate) async fn finds_something(prometheus: &Prometheus) {
    for expression in expressions().into_iter().filter(|one| !one.contains(" offset ")) {
        prometheus.until(&expression, |found| !found.is_empty()).await;
    }
}
