//! An axum service with rate limits for each client and for all together, and a concurrency limit.
//! It prints each second the numbers of admitted and of refused requests.
//!
//! `cargo run -p windrow-tower --example limits`, and then
//!
//! ```text
//! curl -i localhost:3000/carts/7                          two a second of each client, by address
//! curl -i localhost:3000/carts/7 -H 'x-account: alice'    or by its account
//! curl -i localhost:3000/report                           two at once: the third is a 503
//! ```

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use axum::Router;
use axum::extract::{ConnectInfo, Path};
use axum::http::request::Parts;
use axum::routing::get;
use tokio::net::TcpListener;
use tokio::time::sleep;
use windrow::{Gate, labels};
use windrow_tower::{LimitLayer, Limits, RoomLayer, Rooms};

labels! {
    /// The client. An address of 32 or 128 bits is two numbers, so it is not written out for each
    /// request.
    struct Client { account: str, address_high: u64, address_low: u64 }

    enum Whole { Service = "service" }

    /// The only key of the limit for all requests together.
    struct All { all: Whole }
}

const ALL: All = All { all: Whole::Service };

/// Two a second in every span of a second, and ten for clients with an account: for 10 000 clients,
/// and one more gate for all others.
static CLIENTS: Limits<Client> = Limits::new(10_000, |client| {
    let limit = match client {
        Some(Client { account: "", .. }) => 2,
        Some(_) => 10,
        None => 100,
    };
    Gate::builder(limit).buckets(10).strict().build().expect("a second in ten buckets")
});

/// A hundred carts a second for all clients together, or the same weight of other requests.
static SERVICE: Limits<All> =
    Limits::new(1, |_| Gate::builder(100).buckets(10).build().expect("a second in ten buckets"));

/// Two reports at once.
static REPORTS: Rooms<All> = Rooms::new(1, |_| 2);

fn client(parts: &Parts) -> Option<Client<'_>> {
    // A real service would verify the account: otherwise a client makes up another for each
    // request.
    let account = parts.headers.get("x-account").and_then(|account| account.to_str().ok());
    // A socket of both families maps addresses of IPv4 into IPv6, all of them into one network.
    let address = parts.extensions.get::<ConnectInfo<SocketAddr>>()?.ip().to_canonical();
    let bits = match address {
        IpAddr::V4(address) => u128::from(address.to_bits()),
        IpAddr::V6(address) => address.to_bits() >> 64 << 64, // a client has a network of these
    };
    let (address_high, address_low) = ((bits >> 64) as u64, bits as u64);
    Some(match account {
        Some(account) => Client { account, address_high: 0, address_low: 0 },
        None => Client { account: "", address_high, address_low },
    })
}

fn weight(parts: &Parts) -> u64 {
    if parts.uri.path() == "/report" { 4 } else { 1 }
}

async fn cart(Path(id): Path<u64>) -> String {
    format!("cart {id}\n")
}

async fn report() -> &'static str {
    sleep(Duration::from_secs(2)).await;
    "a long report\n"
}

/// Prints, and forgets clients that are idle, each second.
async fn keep() {
    loop {
        for limit in CLIENTS.family() {
            let labels = limit.labels();
            println!("{labels:?}: {} passed, {} blocked", limit.passed(), limit.blocked());
        }
        let all = SERVICE.family().handle(ALL);
        let reports = REPORTS.family().handle(ALL);
        let (passed, blocked) = (all.passed(), all.blocked());
        println!("all: {passed} passed, {blocked} blocked; {} reports now", reports.level());
        println!("{} clients are forgotten", CLIENTS.forget_idle());
        sleep(Duration::from_secs(1)).await;
    }
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    // The outermost layer comes last. A client's own limit is outside of the shared one, so that a
    // client beyond it takes nothing from the others. For the shared limit, a request may wait a
    // little for its turn.
    let app = Router::new()
        .route("/report", get(report).layer(RoomLayer::new(&REPORTS, |_| Some(ALL))))
        .route("/carts/{id}", get(cart))
        .layer(
            LimitLayer::new(&SERVICE, |_| Some(ALL))
                .weight(weight)
                .wait(Duration::from_millis(200), sleep),
        )
        .layer(LimitLayer::new(&CLIENTS, client));
    tokio::spawn(keep());
    let listener = TcpListener::bind("127.0.0.1:3000").await?;
    axum::serve(listener, app.into_make_service_with_connect_info::<SocketAddr>()).await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(address: &str) -> Parts {
        let mut request = axum::http::Request::new(());
        let address: IpAddr = address.parse().expect("an address");
        request.extensions_mut().insert(ConnectInfo(SocketAddr::from((address, 50_000))));
        request.into_parts().0
    }

    /// On a socket of both families, addresses of IPv4 come as ones of IPv6 that map them.
    #[test]
    fn each_address_of_ipv4_is_a_client_and_each_network_of_ipv6() {
        let clients = ["192.0.2.1", "192.0.2.2", "2001:db8:0:1::1", "2001:db8:0:2::1"].map(from);
        for (index, one) in clients.iter().enumerate() {
            assert!(clients[..index].iter().all(|other| client(one) != client(other)), "{one:?}");
        }
        assert_eq!(client(&from("::ffff:192.0.2.1")), client(&clients[0]));
        assert_eq!(client(&from("::ffff:192.0.2.2")), client(&clients[1]));
        assert_eq!(client(&from("2001:db8:0:1:2:3:4:5")), client(&clients[2]));
    }
}
