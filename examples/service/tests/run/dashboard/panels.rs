//! The panels: requests, failures and times by route; the shop; its processes.

use serde_json::{Value, json};

use super::served::Served;

/// The processes that are chosen on the dashboard.
pub(super) const INSTANCE: &str = "job=\"shop\",instance=~\"$instance\"";

const ROUTE: &str = "method, route";
const ROUTE_LEGEND: &str = "{{method}} {{route}}";

/// The number of columns of a dashboard, and of a panel.
const COLUMNS: usize = 24;
const WIDTH: usize = 8;
const HEIGHT: usize = 8;

struct Panel {
    title: &'static str,
    unit: &'static str,
    /// Expressions, with the legend of each.
    lines: Vec<(String, String)>,
}

fn panel(title: &'static str, unit: &'static str, line: String, legend: &str) -> Panel {
    Panel { title, unit, lines: vec![(line, legend.to_owned())] }
}

/// Returns an expression for the rate of a counter, summed by labels over the chosen processes.
fn rate(name: &str, event: Option<&str>, by: &str) -> String {
    let event = event.map(|event| format!("event=\"{event}\",")).unwrap_or_default();
    format!("sum by ({by}) (rate({name}{{{event}{INSTANCE}}}[$__rate_interval]))")
}

/// Returns the panels, laid out in lines.
pub(super) fn of(served: &Served<'_>, source: &Value) -> Vec<Value> {
    let panels = requests(served).into_iter().chain(shop(served)).chain(processes(served));
    let panels = panels.chain(by_process(served)).chain(past(served));
    let each_line = COLUMNS / WIDTH;
    let json = |(at, panel): (usize, Panel)| {
        let targets = panel.lines.iter().zip('A'..).map(|((expression, legend), letter)| {
            json!({ "refId": letter, "datasource": source, "expr": expression,
                "legendFormat": legend })
        });
        json!({
            "id": at + 1,
            "type": "timeseries",
            "title": panel.title,
            "datasource": source,
            "gridPos": { "x": at % each_line * WIDTH, "y": at / each_line * HEIGHT,
                "w": WIDTH, "h": HEIGHT },
            "fieldConfig": {
                "defaults": { "unit": panel.unit, "min": 0, "custom": { "fillOpacity": 0 } },
                "overrides": [],
            },
            "options": {
                "legend": { "displayMode": "table", "placement": "bottom", "showLegend": true,
                    "calcs": ["lastNotNull", "max"] },
                "tooltip": { "mode": "multi", "sort": "desc" },
            },
            "targets": targets.collect::<Vec<_>>(),
        })
    };
    panels.enumerate().map(json).collect()
}

fn requests(served: &Served<'_>) -> Vec<Panel> {
    let requests = |event| served.with_event("shop_requests_total", event);
    let of = |event| rate(requests(event), Some(event), ROUTE);
    let share = |event| format!("{} / {}", of(event), of("Request"));
    let quantile = |q| quantile(served, q, ROUTE);
    let slowest = served.with_event("shop_requests_max_seconds", "Rt");
    let slowest = format!("max by ({ROUTE}) ({slowest}{{event=\"Rt\",{INSTANCE}}})");
    let in_flight = served.name("shop_in_flight");
    let in_flight = format!("sum by ({ROUTE}) ({in_flight}{{{INSTANCE}}})");
    let most = served.with_event("shop_requests_max", "InFlight");
    let most = format!("max by ({ROUTE}) ({most}{{event=\"InFlight\",{INSTANCE}}})");
    vec![
        panel("Requests", "reqps", of("Request"), ROUTE_LEGEND),
        panel("Failed", "percentunit", share("Exception"), ROUTE_LEGEND),
        panel("Refused", "percentunit", share("Block"), ROUTE_LEGEND),
        panel("Cancelled by clients", "percentunit", share("Cancelled"), ROUTE_LEGEND),
        Panel {
            title: "Median and 99th percentile",
            unit: "s",
            lines: vec![
                (quantile("0.5"), format!("{ROUTE_LEGEND} p50")),
                (quantile("0.99"), format!("{ROUTE_LEGEND} p99")),
            ],
        },
        panel("Mean time", "s", mean(served), ROUTE_LEGEND),
        panel("Slowest of the last minute", "s", slowest, ROUTE_LEGEND),
        Panel {
            title: "In flight",
            unit: "short",
            lines: vec![
                (in_flight, ROUTE_LEGEND.to_owned()),
                (most, format!("{ROUTE_LEGEND} most in a process, last minute")),
            ],
        },
    ]
}

/// Returns an expression for a quantile of the response times of the chosen processes, of all with
/// the same labels together: by classic buckets, or by native histograms in their place.
fn quantile(served: &Served<'_>, q: &str, by: &str) -> String {
    // The buckets are series of the histogram.
    let histogram = times(served);
    let buckets = rate(&format!("{histogram}_bucket"), Some("Rt"), &format!("le, {by}"));
    let native = rate(histogram, Some("Rt"), by);
    format!("histogram_quantile({q}, {buckets}) or histogram_quantile({q}, {native})")
}

/// Returns an expression for the mean response time by route, as [`quantile`] does.
fn mean(served: &Served<'_>) -> String {
    let times = times(served);
    let of = |name: &str| rate(name, Some("Rt"), ROUTE);
    let classic = format!("{} / {}", of(&format!("{times}_sum")), of(&format!("{times}_count")));
    let native = of(times);
    format!("{classic} or histogram_sum({native}) / histogram_count({native})")
}

fn times<'s>(served: &Served<'s>) -> &'s str {
    served.with_event("shop_requests_values_seconds", "Rt")
}

fn shop(served: &Served<'_>) -> Vec<Panel> {
    let orders = rate(served.name("shop_orders_total"), None, "outcome");
    let in_work = format!("sum ({}{{{INSTANCE}}})", served.name("shop_orders_in_work"));
    let coupons = rate(served.name("shop_coupons_total"), None, "code");
    let amounts = served.with_event("shop_payments_sum_total", "Amount");
    let payments = served.with_event("shop_payments_count_total", "Amount");
    let [amounts, payments] = [amounts, payments].map(|name| rate(name, Some("Amount"), "event"));
    let greatest = served.with_event("shop_payments_max", "Amount");
    let greatest = format!("max ({greatest}{{{INSTANCE}}})");
    vec![
        panel("Orders", "ops", orders, "{{outcome}}"),
        panel("Orders in work", "short", in_work, "all processes"),
        panel("Coupons, the ten most redeemed", "ops", format!("topk(10, {coupons})"), "{{code}}"),
        panel("Paid a second, in cents", "short", amounts.clone(), "all processes"),
        Panel {
            title: "Payments, in cents",
            unit: "short",
            lines: vec![
                (format!("{amounts} / {payments}"), "mean".to_owned()),
                (greatest, "greatest of the last minute".to_owned()),
            ],
        },
    ]
}

fn processes(served: &Served<'_>) -> Vec<Panel> {
    let of = |name: &str| format!("{}{{{INSTANCE}}}", served.name(name));
    let cpu = rate(served.name("process_cpu_seconds_total"), None, "instance");
    let memory = of("process_resident_memory_bytes");
    let files = format!("{} / {}", of("process_open_fds"), of("process_max_fds"));
    let age = format!("time() - {}", of("shop_start_time_seconds"));
    let scraped = of("shop_start_time_seconds");
    let scraped = format!("time() - max_over_time(timestamp({scraped})[1h:15s])");
    let versions = format!("count by (version) ({})", of("shop_build_info"));
    let full = served.families().filter(|family| family.ends_with("_overflow_total"));
    let full = full.map(|name| (format!("sum by (instance) ({name}{{{INSTANCE}}})"), name));
    let legend =
        |name: &str| format!("{{{{instance}}}} {}", name.trim_end_matches("_overflow_total"));
    vec![
        panel("Processes that answer", "short", "sum (up{job=\"shop\"})".to_owned(), "up"),
        panel("Age of the processes", "s", age, "{{instance}}"),
        panel("Since the last good scrape", "s", scraped, "{{instance}}"),
        panel("Processes by version", "short", versions, "{{version}}"),
        panel("Cores in use", "short", cpu, "{{instance}}"),
        panel("Resident memory", "bytes", memory, "{{instance}}"),
        panel("Open files", "percentunit", files, "{{instance}}"),
        Panel {
            title: "Uses of labels beyond the limit of a family",
            unit: "short",
            lines: full.map(|(line, name)| (line, legend(name))).collect(),
        },
    ]
}

/// Returns what shows a process that is unlike the others.
fn by_process(served: &Served<'_>) -> Vec<Panel> {
    let of = |event| {
        let requests = served.with_event("shop_requests_total", event);
        rate(requests, Some(event), "instance")
    };
    let each = rate(
        served.with_event("shop_requests_total", "Request"),
        Some("Request"),
        "instance, method, route",
    );
    let share = format!("{} / {}", of("Exception"), of("Request"));
    let folded = |fold: &str| format!("{fold} {each})");
    vec![
        panel("Requests by process", "reqps", of("Request"), "{{instance}}"),
        panel("Failed by process", "percentunit", share, "{{instance}}"),
        panel(
            "99th percentile by process",
            "s",
            quantile(served, "0.99", "instance"),
            "{{instance}}",
        ),
        Panel {
            title: "Requests of one process: least, median, most",
            unit: "reqps",
            lines: vec![
                (folded("min by (method, route) ("), format!("{ROUTE_LEGEND} least")),
                (folded("quantile by (method, route) (0.5,"), format!("{ROUTE_LEGEND} median")),
                (folded("max by (method, route) ("), format!("{ROUTE_LEGEND} most")),
            ],
        },
    ]
}

/// Returns what shows a change.
fn past(served: &Served<'_>) -> Vec<Panel> {
    let requests = served.with_event("shop_requests_total", "Request");
    let requests = format!("{requests}{{event=\"Request\",{INSTANCE}}}");
    let rate = |offset: &str| format!("sum (rate({requests}[5m]{offset}))");
    let day = format!("sum by ({ROUTE}) (increase({requests}[1d]))");
    let held = "time() - ALERTS_FOR_STATE{job=\"shop\"}".to_owned();
    vec![
        panel("Age of alerts", "s", held, "{{alertname}} {{instance}} {{route}}"),
        Panel {
            title: "Requests, and those of yesterday and of a week ago",
            unit: "reqps",
            lines: vec![
                (rate(""), "now".to_owned()),
                (rate(" offset 1d"), "yesterday".to_owned()),
                (rate(" offset 1w"), "a week ago".to_owned()),
            ],
        },
        panel("Requests in a day", "short", day, ROUTE_LEGEND),
    ]
}
