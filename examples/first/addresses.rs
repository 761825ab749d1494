//! Counts the requests of each client in the last minute.
//!
//! ```text
//! cargo run --example first -- addresses
//! ```

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use windrow::{Family, SlidingWindow, events, labels};

events! {
    /// The events of a client.
    enum Client { Request: Count }
}

labels! {
    /// The label of a client: its address.
    struct From { address: IpAddr }
}

static CLIENTS: Family<From, SlidingWindow<Client>> =
    Family::with_constructor(|| SlidingWindow::of(Duration::from_secs(60), 60));

pub(crate) fn main() {
    for last in [1, 2, 1, 3, 1] {
        let address = IpAddr::from(Ipv4Addr::new(192, 0, 2, last));
        CLIENTS.with(From { address }).add(Client::Request, 1);
    }
    for client in &CLIENTS {
        println!("{:?}: {}", client.labels(), client.sum(Client::Request));
    }
}

#[test]
fn it_runs() {
    main();
    assert_eq!(CLIENTS.len(), 3);
}
