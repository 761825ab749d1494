//! A real collector between the exporter and the test's receiver: the agent of the Python package
//! `rotel`.
//!
//! CONTRIBUTING.md says how to install and run it.

use std::env;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use windrow::{Counter, Family, Histogram};
use windrow_otlp::{Exporter, Temporality};

use crate::book::Data;
use crate::receiver::{Receiver, WIRES, Wire};
use crate::successes::{NEVER, Request};

/// The variable with the path of the agent.
const AGENT: &str = "WINDROW_COLLECTOR";

/// A collector that forwards all that it takes.
struct Agent {
    child: Child,
    ports: [u16; 2],
}

impl Agent {
    fn start(ports: [u16; 2], forward: &Receiver, wire: Wire) -> Agent {
        let agent = env::var_os(AGENT).unwrap_or_else(|| panic!("{AGENT} has the agent's path"));
        let [http, grpc] = ports.map(|port| format!("127.0.0.1:{port}"));
        let protocol = if wire == Wire::Http { "http" } else { "grpc" };
        let child = Command::new(agent)
            .args(["start", "--otlp-http-endpoint", &http, "--otlp-grpc-endpoint", &grpc])
            .args(["--exporter", "otlp", "--otlp-exporter-endpoint", &forward.endpoint()])
            .args(["--otlp-exporter-protocol", protocol])
            .arg("--disable-batching")
            .stdout(Stdio::null())
            .spawn()
            .expect("the agent starts");
        let agent = Agent { child, ports };
        agent.wait();
        agent
    }

    /// Waits until it listens.
    fn wait(&self) {
        let limit = Instant::now() + Duration::from_secs(30);
        for port in self.ports {
            while TcpStream::connect(SocketAddr::from(([127, 0, 0, 1], port))).is_err() {
                assert!(Instant::now() < limit, "the agent does not listen");
                thread::sleep(Duration::from_millis(20));
            }
        }
    }
}

/// Kills it, as a machine would.
impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn free_ports() -> [u16; 2] {
    let listeners = [0; 2].map(|_| TcpListener::bind("127.0.0.1:0").unwrap());
    listeners.map(|listener| listener.local_addr().unwrap().port())
}

#[test]
#[ignore = "needs rotel"]
fn what_a_real_collector_forwards_is_what_was_counted_though_it_is_killed_in_between() {
    for wire in WIRES {
        for temporality in [Temporality::Cumulative, Temporality::Delta] {
            through_a_collector(wire, temporality);
        }
    }
}

fn through_a_collector(wire: Wire, temporality: Temporality) {
    let (receiver, ports) = (Receiver::start(wire), free_ports());
    let agent = Agent::start(ports, &receiver, wire);
    let exporter = match wire {
        Wire::Http => Exporter::to(format!("http://127.0.0.1:{}", ports[0])),
        Wire::Grpc => Exporter::to_grpc(format!("http://127.0.0.1:{}", ports[1])),
    };
    let (requests, rt) = (Arc::new(Family::<Request, Counter>::new()), Arc::new(Histogram::new()));
    let started = exporter
        .resource("service.name", "cart")
        .temporality(temporality)
        .metric("requests", "Requests", Arc::clone(&requests))
        .metric_in("ns", "rt", "Response times", Arc::clone(&rt))
        .start(NEVER)
        .unwrap();
    let count = |count: u64| {
        requests.with(Request { route: "/\"\u{20ac}\n", status: 200 }).add(count);
        (0..count).for_each(|_| rt.record(1_024));
    };
    let key = "route=\"/\\\"\u{20ac}\\n\",status=200";
    // Through two hops: the answer to a flush is the collector's own.
    let arrives = |all: f64| {
        receiver.wait(|book| book.count("requests", key) == all && book.count("rt", "") == all);
    };
    count(5);
    started.flush().unwrap();
    arrives(5.0);
    let Data::Exponential(point) = receiver.book().last("rt", "").data else { panic!() };
    let positive = point.positive.unwrap();
    assert_eq!((positive.offset, positive.bucket_counts), (79, vec![5]), "at most 1024");
    assert_eq!(receiver.book().resource()["service.name"], "\"cart\"");

    drop(agent);
    count(2);
    assert!(started.flush().unwrap_err().is_retried());
    count(3);
    assert!(started.flush().unwrap_err().is_retried());
    let _agent = Agent::start(ports, &receiver, wire);
    started.flush().unwrap();
    arrives(10.0);
    requests.retain(|_, _| false);
    started.flush().unwrap();
    count(1);
    started.shutdown().unwrap();
    arrives(11.0);
    let starts = receiver.book().of("requests", key);
    assert!(starts.iter().any(|point| point.start > starts[0].time), "{starts:?}");
}
