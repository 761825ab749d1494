//! A program with a counter of `prometheus-client`, whose build is the measure of ours.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::Registry;
fn main() {
    let requests = <Counter>::default();
    let mut registry = Registry::default();
    registry.register("requests", "Requests", requests.clone());
    requests.inc_by(std::env::args().count() as u64);
    println!("{}", requests.get());
}
