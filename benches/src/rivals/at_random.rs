//! Adds to one of many series at random, found by three texts.
//!
//! The texts are those of [`Texts::numbered`]. They come in a random order that is prepared, one
//! after the other: so a contender finds its own memory cold, and the texts near, as those of a
//! request are that was just read.

use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};

use prometheus::{IntCounterVec, Opts};

use super::labelled::{NAMES, PROMETHEUS, Texts};
use crate::harness::{Contender, Rival};

/// The number of prepared requests, after which the first one comes again.
const REQUESTS: usize = 1 << 20;

/// The texts of many requests, in the order in which they come.
pub struct Requests {
    /// The routes, one behind the other.
    routes: String,
    /// The end of each route, and the numbers of its method and status.
    each: Vec<(u32, u8, u8)>,
    /// The number of requests that were taken.
    taken: AtomicUsize,
}

/// The methods and the statuses.
const OTHERS: [[&str; 4]; 2] = [["GET", "POST", "PUT", "DELETE"], ["200", "301", "404", "500"]];

impl Requests {
    /// Prepares requests to one of `series` series each.
    ///
    /// # Panics
    /// If there are more than four thousand million bytes of texts.
    pub fn new(series: usize) -> Requests {
        let mut random = fastrand::Rng::with_seed(7);
        let mut requests =
            Requests { routes: String::new(), each: Vec::new(), taken: AtomicUsize::new(0) };
        for _ in 0..REQUESTS {
            let number = random.usize(..series);
            requests.routes += &Texts::numbered(number).route;
            let end = u32::try_from(requests.routes.len()).expect("short texts");
            requests.each.push((end, (number % 4) as u8, (number / 4 % 4) as u8));
        }
        requests
    }

    /// Calls `add` with the texts of each of the next `times` requests.
    ///
    /// (Inline, with the texts in registers. Where they are returned through memory, by a call that
    /// is not inline, and then copied, the copy waits until the adds before it have left the
    /// processor: no two of them wait for memory at once, and a contender of which the compiler
    /// makes that seems half as quick.)
    #[inline(always)]
    #[allow(clippy::inline_always)] // as said
    pub fn each<'r>(&'r self, times: u64, mut add: impl FnMut([&'r str; 3])) {
        let first = self.taken.fetch_add(times as usize, Ordering::Relaxed);
        for more in 0..times as usize {
            let at = first.wrapping_add(more) % (REQUESTS - 1);
            let (begin, _, _) = self.each[at];
            let (end, method, status) = self.each[at + 1];
            let route = &self.routes[begin as usize..end as usize];
            add([OTHERS[0][usize::from(method)], route, OTHERS[1][usize::from(status)]]);
        }
    }
}

/// prometheus, by the values of the labels.
struct Prometheus(IntCounterVec, Requests);

impl Rival for Prometheus {
    #[inline]
    fn add(&self, n: u64) {
        self.1.each(1, |texts| self.0.with_label_values(&texts).inc_by(n));
    }

    fn add_many(&self, times: u64) {
        self.1.each(times, |texts| self.0.with_label_values(&texts).inc_by(black_box(1)));
    }

    #[allow(clippy::cast_sign_loss)] // none is negative
    fn sum(&self) -> u64 {
        let families = prometheus::core::Collector::collect(&self.0);
        let metrics = families.iter().flat_map(prometheus::proto::MetricFamily::get_metric);
        metrics.map(|metric| metric.get_counter().get_value()).sum::<f64>().round() as u64
    }
}

/// Returns prometheus' vector with this number of series.
///
/// # Panics
/// If prometheus does not take the names.
pub fn prometheus(series: usize) -> Contender {
    let counters = IntCounterVec::new(Opts::new("requests", "what is counted"), &NAMES);
    let counters = counters.expect("sound names");
    for number in 0..series {
        counters.with_label_values(&Texts::numbered(number).lend()).inc_by(0);
    }
    Contender::new(PROMETHEUS, Prometheus(counters, Requests::new(series)))
}
