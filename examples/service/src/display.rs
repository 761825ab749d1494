//! The counts as a line.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::net::SocketAddr;

use windrow::histogram::Distribution;
use windrow_tower::{Http, UNMATCHED};

use crate::counts::{ORDERS, OUTCOMES, Order, PAYMENTS, Payment, ROUTES};

/// Returns where to look, and how to send requests.
pub(crate) fn head(address: SocketAddr, clients: Option<usize>) -> String {
    let service = format!("http://{address}");
    let load = match clients {
        Some(clients) => format!("{clients} clients of its own send requests; yours count too:"),
        None => "it waits for your requests:".to_owned(),
    };
    format!(
        "
    look at it:  {service}/console/

{load}
    curl {service}/carts/7
    curl -d 1250 {service}/orders
    curl {service}/slow/300
    curl {service}/metrics
Ctrl-C ends it.
"
    )
}

/// Returns the last whole second in one line.
pub(crate) fn line(seconds: u64) -> String {
    let mut text = format!("{seconds:>4} s ");
    let (mut requests, mut failed, mut unmatched) = (0, 0, 0);
    let mut times = Distribution::default();
    for series in ROUTES.family() {
        let second = series.window().previous();
        requests += second.sum(Http::Request);
        failed += second.sum(Http::Exception);
        // All routes have one scale, so there is nothing to refuse. Percentiles themselves do not
        // add up.
        let _ = times.merge(&second.distribution(Http::Rt));
        if series.labels().is_some_and(|route| route.route == UNMATCHED) {
            unmatched += second.sum(Http::Request);
        }
    }
    let [half, most] = [0.5, 0.99].map(|q| milliseconds(times.quantile(q)));
    let _ = writeln!(
        text,
        "  requests {}/s  failed {}/s  unmatched {}/s  p50 {} p99 {} max {} ms  {}",
        grouped(requests),
        grouped(failed),
        grouped(unmatched),
        half,
        most,
        milliseconds(times.max()),
        orders(),
    );
    text
}

/// Returns the orders by outcome, and the amounts paid in the last minute.
fn orders() -> String {
    let mut text = "orders".to_owned();
    for outcome in OUTCOMES {
        let name = format!("{outcome:?}").to_lowercase();
        let _ = write!(text, " {name} {}", grouped(ORDERS.with(Order { outcome }).sum()));
    }
    let paid = PAYMENTS.stats(Payment::Amount);
    let _ =
        write!(text, ", paid in the last minute {}.{:02}", grouped(paid.sum / 100), paid.sum % 100);
    text
}

/// Returns nanoseconds as milliseconds, `n/a` where nothing was recorded.
fn milliseconds(nanoseconds: Option<u64>) -> String {
    nanoseconds.map_or_else(|| "n/a".to_owned(), |ns| format!("{:.2}", ns as f64 / 1e6))
}

/// Returns `1234567` as `1,234,567`.
pub(crate) fn grouped(number: u64) -> String {
    indicatif::HumanCount(number).to_string()
}

/// Writes to standard output. A reader that has gone away does not stop the count.
pub(crate) fn say(text: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
