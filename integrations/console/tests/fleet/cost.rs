//! The processor time of a fleet of a hundred members, by real sockets.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use windrow::Family;
use windrow_console::Server;

use super::member::{Http, Route, window};
use super::{Console, get, processes};

/// Returns the processor time that a process has had, in milliseconds.
fn processor_time(process: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let behind_the_name = stat.rsplit_once(") ").unwrap().1;
    let fields: Vec<&str> = behind_the_name.split(' ').collect();
    // User and system time, in hundredths of a second.
    fields[11..13].iter().map(|field| field.parse::<f64>().unwrap() * 10.0).sum()
}

/// Serves a member of twenty routes, each with four hundred values.
fn member(number: u64) -> Server {
    let routes = Arc::new(Family::<Route, _, _>::with_constructor(window));
    let mut random = fastrand::Rng::with_seed(number);
    for operation in 0..8_000 {
        let route = format!("/{}", operation % 20);
        routes.with(Route { route: &route }).add(Http::Pass, 1);
        routes.with(Route { route: &route }).record(Http::Rt, random.u64(50_000_000..150_000_000));
    }
    let mut console = windrow_console::Console::new("shop");
    console.instance(format!("shop-{number}"));
    console.show("requests", "Requests", routes).unwrap();
    console.build().serve("127.0.0.1:0").unwrap()
}

#[test]
#[ignore = "it measures"]
fn the_cost_of_a_hundred_members() {
    let members: Vec<Server> = (0..100).map(member).collect();
    let console = Console::start("cost");
    let addresses: Vec<_> = members.iter().map(Server::address).collect();
    console.set_targets(&addresses);
    console.until("a hundred", |seen| processes(seen) == 100);
    let bytes = get(addresses[0], "/member.json").len();
    println!("an answer: {bytes} bytes");
    let mut ended = String::new();
    for (what, is_looked_at) in [("nobody looks", false), ("a page asks once a second", true)] {
        let (before, begun) = (processor_time(console.process.id()), Instant::now());
        for _ in 0..20 {
            thread::sleep(Duration::from_secs(1));
            if is_looked_at {
                // As the page does: for the points after those that it has.
                let seen = console.json(&format!("/snapshot.json?after={ended}"));
                ended = seen["courses"]["ends_ms"].as_array().unwrap().last().unwrap().to_string();
            }
        }
        let spent = processor_time(console.process.id()) - before;
        println!("{what}: {:.0} ms a second", spent / begun.elapsed().as_secs_f64());
    }
}
