//! The counts as a table or as one line.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::time::Duration;

use windrow::{histogram::Distribution, snapshot::Snapshot};
use windrow_tower::{Http, UNMATCHED};

use crate::counts::{ORDERS, OUTCOMES, Order, PAYMENTS, Payment, ROUTES};
use crate::numbers::{self, grouped};

const HOUR: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);

/// The number of the last seconds that are drawn.
const BARS: usize = 20;

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

/// Returns a row for each method of each route, with its last seconds as bars.
pub(crate) fn table() -> String {
    let mut text = format!(
        "{:<18}{:>8}{:>9}{:>10}{:>11}{:>8}{:>8}{:>8}{:>8}   last {BARS} s\n",
        "requests", "/s", "minute", "hour", "day", "failed", "p50 ms", "p99 ms", "max ms"
    );
    let mut all: Vec<_> = ROUTES.family().iter().collect();
    all.sort_by_key(|series| std::cmp::Reverse(series.window().lifetime(Http::Request).count));
    for series in all {
        let window = series.window();
        let snapshot = window.snapshot();
        let minute = snapshot.totals();
        let sum = |span| window.over(span).map_or(0, |over| over.sum(Http::Request));
        let times = window.distribution(Http::Rt);
        let [half, most] = [0.5, 0.99].map(|q| milliseconds(times.quantile(q)));
        let name: Vec<String> = series.pairs().map(|(_, value)| value.to_string()).collect();
        let _ = writeln!(
            text,
            "{:<18}{:>8}{:>9}{:>10}{:>11}{:>8}{:>8}{:>8}{:>8}   {}",
            name.join(" "),
            grouped(window.previous().sum(Http::Request)),
            grouped(minute.sum(Http::Request)),
            grouped(sum(HOUR)),
            grouped(sum(DAY)),
            grouped(minute.sum(Http::Exception)),
            half,
            most,
            milliseconds(times.max()),
            bars(&snapshot),
        );
    }
    let _ = writeln!(text, "\n{}", orders());
    text
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

/// One character for each of the last buckets, oldest first; the last is the second that is being
/// counted.
fn bars(minute: &Snapshot<Http>) -> String {
    let buckets = minute.buckets();
    let newest = &buckets[buckets.len().saturating_sub(BARS)..];
    let heights: Vec<u64> = newest.iter().map(|bucket| bucket.sum(Http::Request)).collect();
    let highest = heights.iter().copied().max().unwrap_or(0);
    // The lowest bar that is not too low; nothing has none.
    let bar = |height: u64| {
        let high_enough = |bar: &(u64, char)| bar.0 * highest >= 8 * height;
        (0..).zip("·▁▂▃▄▅▆▇█".chars()).find(high_enough).map_or('?', |(_, bar)| bar)
    };
    heights.into_iter().map(bar).collect()
}

/// Nanoseconds as milliseconds.
fn milliseconds(nanoseconds: Option<u64>) -> String {
    numbers::milliseconds(nanoseconds.map(|ns| ns as f64 / 1_000.0))
}

/// Writes to standard output. A reader that has gone away does not stop the count.
pub(crate) fn say(text: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
