//! Debian's `prometheus-pushgateway`, in a process of the test's own.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use windrow::{Counter, Family, Gauge, Histogram, labels};
use windrow_prometheus::{Exposition, PushError, Pushgateway};

labels! { struct Route { route: str } }

/// A gateway, which ends with this.
struct Gateway {
    process: Child,
    port: u16,
}

impl Gateway {
    fn start() -> Gateway {
        let free = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let process = Command::new("prometheus-pushgateway")
            .arg(format!("--web.listen-address=127.0.0.1:{port}"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("prometheus-pushgateway is on the path");
        let gateway = Gateway { process, port };
        let begin = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(begin.elapsed() < Duration::from_secs(60), "it does not listen");
            thread::sleep(Duration::from_millis(20));
        }
        gateway
    }

    fn at(&self, job: &str) -> Pushgateway {
        Pushgateway::at(&format!("http://127.0.0.1:{}", self.port), job)
    }

    /// Returns the groups that it has: of each the labels, and the metrics by name.
    fn groups(&self) -> Vec<(BTreeMap<String, String>, Value)> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        write!(stream, "GET /api/v1/metrics HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        let answer: Value = serde_json::from_str(body).unwrap_or_else(|_| panic!("{answer}"));
        let groups = answer["data"].as_array().unwrap();
        groups.iter().map(|group| (texts(&group["labels"]), group.clone())).collect()
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn texts(object: &Value) -> BTreeMap<String, String> {
    let texts = object.as_object().into_iter().flatten();
    texts.map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned())).collect()
}

/// Returns the values of a metric in a group by one of its labels.
fn values(group: &Value, name: &str, label: &str) -> BTreeMap<String, String> {
    let metrics = group[name]["metrics"].as_array().unwrap_or_else(|| panic!("no {name}: {group}"));
    let value = |metric: &Value| {
        let label = texts(&metric["labels"]).remove(label).unwrap_or_default();
        (label, metric["value"].as_str().unwrap_or_default().to_owned())
    };
    metrics.iter().map(value).collect()
}

const HOSTILE: [&str; 9] =
    ["", "/", "..", "a/b", "ü\u{1F600}", "\"\\\n", " +&?#%2F%", "=", "\"} 1\nevil 1"];

#[test]
#[ignore = "needs prometheus-pushgateway"]
fn a_gateway_has_what_was_pushed_under_odd_jobs_and_labels() {
    let gateway = Gateway::start();
    let routes = Arc::new(Family::<Route, Counter>::new());
    for (route, times) in HOSTILE.iter().zip(1..) {
        routes.with(Route { route }).add(times);
    }
    let rt = Arc::new(Histogram::new());
    rt.record(5_000);
    let mut metrics = Exposition::new();
    metrics.register("routes", "By \"route\"\\\n", routes).unwrap();
    metrics.register("rt", "", rt).unwrap();
    for odd in HOSTILE {
        let job = format!("j{odd}");
        gateway.at(&job).label("instance", odd).push(&metrics).unwrap();
        let groups = gateway.groups();
        let group = groups.iter().find(|(labels, _)| labels["job"] == job);
        let (labels, group) = group.unwrap_or_else(|| panic!("no {job:?}: {groups:?}"));
        assert_eq!(labels.get("instance").map_or("", String::as_str), odd, "{job:?}");
        assert_eq!(group["push_time_seconds"]["metrics"].as_array().map(Vec::len), Some(1));
        let expected = HOSTILE
            .iter()
            .zip(1..)
            .map(|(route, times): (_, i32)| ((*route).to_owned(), times.to_string()));
        assert_eq!(values(group, "routes_total", "route"), expected.collect());
        let rt = &group["rt"]["metrics"][0];
        assert_eq!((rt["count"].as_str(), rt["sum"].as_str()), (Some("1"), Some("5000")), "{rt}");
        assert_eq!(group["routes_total"]["help"], "By \"route\"\\\n");
    }
    assert_eq!(gateway.groups().len(), HOSTILE.len());
}

#[test]
#[ignore = "needs prometheus-pushgateway"]
fn a_gateway_replaces_adds_deletes_and_refuses() {
    let gateway = Gateway::start();
    let of = |name: &str, level: i64| {
        let mut metrics = Exposition::new();
        metrics.register(name, "", Arc::new(Gauge::from(level))).unwrap();
        metrics
    };
    let shown = || {
        let groups = gateway.groups();
        let [(_, group)] = &groups[..] else { panic!("{groups:?}") };
        ["a", "b"].map(|name| group[name]["metrics"][0]["value"].as_str().map(str::to_owned))
    };
    let some = |text: &str| Some(text.to_owned());
    let copy = gateway.at("copy");
    copy.push(&of("a", 1)).unwrap();
    copy.add(&of("b", 2)).unwrap();
    assert_eq!(shown(), [some("1"), some("2")]);
    copy.add(&of("a", 3)).unwrap();
    assert_eq!(shown(), [some("3"), some("2")]);
    copy.push(&of("b", 4)).unwrap();
    assert_eq!(shown(), [None, some("4")]);
    // The same name with another type.
    let mut wrong = Exposition::new();
    wrong.register("b", "", Arc::new(Histogram::new())).unwrap();
    let error = gateway.at("other").push(&wrong).unwrap_err();
    assert!(
        matches!(&error, PushError::Refused { status: 400, message } if message.contains('b')),
        "{error}"
    );
    copy.delete().unwrap();
    // It answers before it has deleted them. Of the refused push it keeps the time.
    let begin = Instant::now();
    while gateway.groups().iter().any(|(labels, _)| labels["job"] == "copy") {
        assert!(begin.elapsed() < Duration::from_secs(60), "{:?}", gateway.groups());
        thread::sleep(Duration::from_millis(20));
    }
}
