//! The dashboard for Grafana is generated, from the names of the families that the service serves.

mod panels;
mod schema;
mod served;

use std::env;
use std::fs;
use std::time::Instant;

use serde_json::{Value, json};
use tokio::time::{Duration, sleep};

use crate::client::Client;
use crate::process::{LONG, Process};
use served::Served;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/prometheus/dashboard.json");

/// The ends of families that no panel draws: numbers of one process's last minute, which do not add
/// up.
const OF_ONE_PROCESS: [&str; 6] =
    ["_per_second", "_mean", "_mean_seconds", "_min", "_min_seconds", "_percentile_seconds"];

/// Families that no panel draws, because another one says more.
const LEFT_OUT: [&str; 3] =
    ["process_virtual_memory_bytes", "process_start_time_seconds", "process_threads"];

/// Returns the scrape of a service that has done some of everything.
async fn scrape() -> String {
    let service = Process::start(&[]);
    let mut client = Client::connect(service.address()).await.unwrap();
    for (method, path, body) in
        [("GET", "/carts/1", ""), ("POST", "/orders", "1250"), ("POST", "/coupons/hay", "")]
    {
        client.send(method, path, body.to_owned()).await.unwrap();
    }
    let begun = Instant::now();
    loop {
        let (_, text) = client.send("GET", "/metrics", String::new()).await.unwrap();
        let text = String::from_utf8(text.to_vec()).unwrap();
        // These are there when the second is over.
        if ["shop_requests_max_seconds{", "shop_payments_max{"]
            .iter()
            .all(|part| text.contains(part))
        {
            return text;
        }
        assert!(begun.elapsed() < LONG, "{text}");
        sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn the_dashboard_is_generated_from_the_families_that_are_served() {
    let scrape = scrape().await;
    let served = Served::of(&scrape);
    let dashboard = dashboard(&served);
    let text = format!("{dashboard:#}\n");
    // Other programs have families of these names too.
    for expression in text.lines().filter(|line| line.contains("\"expr\":")) {
        let selectors = expression.matches('{').count();
        assert_eq!(expression.matches("job=\\\"shop\\\"").count(), selectors, "{expression}");
    }
    if env::var_os("UPDATE_DASHBOARD").is_some() {
        fs::write(FILE, &text).unwrap();
    }
    let committed: Value = serde_json::from_str(&fs::read_to_string(FILE).unwrap()).unwrap();
    assert!(committed == dashboard, "UPDATE_DASHBOARD=1 writes it anew:\n{text}");
    for family in served.families() {
        let is_drawn = ["{", "_bucket{"].iter().any(|end| text.contains(&format!("{family}{end}")));
        let is_left_out =
            LEFT_OUT.contains(&family) || OF_ONE_PROCESS.iter().any(|end| family.ends_with(end));
        assert!(is_drawn != is_left_out, "{family}: drawn {is_drawn}, left out {is_left_out}");
    }
}

/// Returns the dashboard in Grafana's format.
fn dashboard(served: &Served<'_>) -> Value {
    let source = json!({ "type": "prometheus", "uid": "${datasource}" });
    let start = served.name("shop_start_time_seconds");
    let instances = format!("label_values({start}, instance)");
    json!({
        "uid": "windrow-shop",
        "title": "Shop",
        "tags": ["windrow"],
        "schemaVersion": 39,
        "editable": true,
        "graphTooltip": 1,
        "refresh": "30s",
        "time": { "from": "now-1h", "to": "now" },
        "templating": { "list": [
            { "name": "datasource", "label": "Data source", "type": "datasource",
              "query": "prometheus" },
            { "name": "instance", "label": "Process", "type": "query", "datasource": source,
              "query": { "query": instances, "refId": "instance" }, "refresh": 2,
              "multi": true, "includeAll": true, "allValue": ".+",
              "current": { "text": "All", "value": "$__all" } },
        ] },
        "annotations": { "list": [
            { "name": "Starts of processes", "datasource": source, "enable": true,
              "iconColor": "blue", "titleFormat": "{{instance}} began", "useValueForTime": true,
              "expr": format!("{start}{{{}}} * 1000", panels::INSTANCE) },
        ] },
        "panels": panels::of(served, &source),
    })
}
