//! A service that counts simulated requests, so that there is something to look at:
//! `cargo run -p windrow-console --example shop`, and then open the address that it prints, or
//! `curl` it.

use std::error::Error;
use std::thread;
use std::time::Duration;

use windrow::{Counter, Family, Gauge, HeavyKeys, SlidingWindow, events, labels};
use windrow_console::Console;

events! { enum Http { Pass: Count, Block: Count, Exception: Count, Rt: Histogram } }

labels! {
    enum Method { Get = "GET", Post = "POST" }
    struct Route { method: Method, route: str }
}

type Routes = Family<Route<'static>, SlidingWindow<Http>>;

/// A minute by the second, an hour by the minute and a day by the quarter of an hour, from the same
/// adds.
static ROUTES: Routes = Routes::with_constructor(|| {
    let window = SlidingWindow::builder()
        .interval(Duration::from_secs(60))
        .buckets(60)
        .tier(Duration::from_secs(60), 60)
        .tier(Duration::from_secs(900), 96);
    window.build().expect("they divide each other")
})
.with_max_series(5_000);
static VISITS: Counter = Counter::new();
static BASKETS: Gauge = Gauge::new();
/// The clients with the most requests of five minutes.
static CLIENTS: HeavyKeys<str> = HeavyKeys::of(100, Duration::from_secs(300), 30);

/// Counts requests of `routes` routes, forever.
fn serve(seed: u64, routes: u64) {
    let mut chance = fastrand::Rng::with_seed(seed);
    let mut below = |limit: u64| chance.u64(..limit);
    let names: Vec<String> = (0..routes).map(|route| format!("/shelves/{route}")).collect();
    let clients: Vec<String> = (0..1_000).map(|client| format!("client {client}")).collect();
    let labels = names
        .iter()
        .flat_map(|route| [Method::Get, Method::Post].map(|method| Route { method, route }));
    let windows: Vec<_> = labels.map(|labels| ROUTES.handle(labels)).collect();
    loop {
        for _ in 0..200 {
            // Some routes are asked for more often than others.
            let count = windows.len() as u64;
            let at = below(count).min(below(count)) as usize;
            let window = &windows[at];
            VISITS.increment();
            CLIENTS.increment(&clients[(below(1_000) * below(1_000) / 1_000) as usize]);
            if below(40) == 0 {
                window.add(Http::Block, 1);
                continue;
            }
            window.add(Http::Pass, 1);
            if below(100) < at as u64 % 7 {
                window.add(Http::Exception, 1);
            }
            window.record(Http::Rt, 200_000 + below(50_000) * (1 + below(40)));
            BASKETS.add(if below(2) == 0 { 1 } else { -1 });
        }
        thread::sleep(Duration::from_millis(5));
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next().unwrap_or_else(|| "127.0.0.1:9090".to_owned());
    let routes = arguments.next().map_or(Ok(6), |routes| routes.parse())?;

    let mut console = Console::new("shop");
    console.show("requests", "Requests by method and route", &ROUTES)?;
    console.show("visits", "Requests, all in all", &VISITS)?;
    console.show("baskets", "Baskets that are open", &BASKETS)?;
    console.show_heavy("clients", "Requests by client", &CLIENTS);
    console.nanoseconds("Rt");
    let server = console.build().serve(&address)?;
    println!("http://{}/", server.address());

    thread::spawn(move || serve(1, routes));
    serve(2, routes);
    Ok(())
}
