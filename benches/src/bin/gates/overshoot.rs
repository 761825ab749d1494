//! The excess of each limiter over its limit, while threads ask as fast as they can.
//!
//! A precise clock is read before and after each question that was granted. The grant is
//! *certainly* within a span if both readings are. So no count here is too high: where a thread
//! stood still between the readings, its grant may be in none.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use windrow::Clock;
use windrow::clock::Precise;
use windrow_benches::harness::{at_once, cores};
#[cfg(feature = "sentinel")]
use windrow_benches::limits::Flow;
use windrow_benches::limits::{Governor, Limiter, MutexRing, Soft, Terms, gate, rationed, strict};
use windrow_benches::terminal::print_table;

/// The limit is small beside the requests.
const TERMS: Terms = Terms { limit: 100, interval: Duration::from_millis(50), buckets: 10 };
const SECOND: Duration = Duration::from_secs(1);

/// The promise of limiters on other clocks.
const TWICE: &str = "twice the limit in any span";
const NOTHING: &str = "nothing is said";

struct Contender {
    name: &'static str,
    promise: &'static str,
    /// On the clock that is read here.
    has_buckets: bool,
    terms: Terms,
    limiter: Box<dyn Limiter>,
}

fn contenders() -> Vec<Contender> {
    let of = |name, promise, terms, limiter| {
        let has_buckets = promise != TWICE && promise != NOTHING;
        Contender { name, promise, has_buckets, terms, limiter }
    };
    let clock = Precise::default;
    let seconds = TERMS.at_least(SECOND);
    let all = vec![
        of(
            "Gate, strict",
            "the limit in any span",
            TERMS,
            Box::new(strict(TERMS, clock())) as Box<dyn Limiter>,
        ),
        of(
            "RationedGate, strict, by 10",
            "the limit in any span",
            TERMS,
            Box::new(rationed(TERMS, 10, clock())),
        ),
        of(
            "Gate",
            "the limit in whole buckets, twice that in any span",
            TERMS,
            Box::new(gate(TERMS, clock())),
        ),
        of("a lock around a ring", "as Gate", TERMS, Box::new(MutexRing::new(TERMS, clock()))),
        of(
            "a window, sum then add",
            "as Gate, and the threads between the two",
            TERMS,
            Box::new(Soft::new(TERMS, clock())),
        ),
        of("governor", TWICE, TERMS, Box::new(Governor::own(TERMS))),
    ];
    #[cfg(feature = "sentinel")]
    let all = {
        let flow = Box::new(Flow::new(seconds));
        all.into_iter().chain([of("sentinel-core", NOTHING, seconds, flow)]).collect()
    };
    all
}

/// The readings before and after a grant.
type Grant = (u64, u64);

/// Returns what threads were granted, more of them than there are cores.
fn grants(limiter: &dyn Limiter, length: Duration) -> Vec<Grant> {
    let (clock, over) = (Precise::default(), AtomicBool::new(false));
    let all = Mutex::new(Vec::new());
    let work = |_| {
        let mut own = Vec::new();
        let mut before = clock.now().as_nanos();
        while !over.load(Ordering::Relaxed) {
            let is_granted = limiter.ask(0);
            let after = clock.now().as_nanos();
            if is_granted {
                own.push((before, after));
            }
            before = after;
        }
        all.lock().expect("no thread panics").extend(own);
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(length);
            over.store(true, Ordering::Relaxed);
        });
        at_once(2 * cores(), &|_| (), &work);
    });
    let mut all = all.into_inner().expect("no thread panics");
    all.sort_unstable();
    all
}

/// Returns the most that certainly was granted in one of these spans, which begin at multiples of
/// `step`, or anywhere.
fn most(grants: &[Grant], length: u64, step: Option<u64>) -> u64 {
    let within = |from: u64| {
        let first = grants.partition_point(|grant| grant.0 < from);
        let begun = grants[first..].iter().take_while(|grant| grant.0 < from + length);
        begun.filter(|grant| grant.1 < from + length).count() as u64
    };
    match step {
        // The fullest span can be moved until it begins with a grant.
        None => grants.iter().map(|grant| within(grant.0)).max().unwrap_or(0),
        Some(step) => {
            let ends = grants.first().zip(grants.last());
            ends.map_or(0, |(first, last)| {
                let steps = (first.0 / step).saturating_sub(length / step)..=last.0 / step;
                steps.map(|number| within(number * step)).max().unwrap_or(0)
            })
        }
    }
}

pub(crate) fn run(length: Duration) {
    let row = |contender: Contender| {
        let Contender { name, promise, has_buckets, terms, limiter } = contender;
        let interval = terms.interval.as_nanos() as u64;
        let length = length.max(4 * terms.interval);
        let grants = grants(&*limiter, length);
        let bucket = interval / u64::from(terms.buckets);
        let limits = length.as_nanos() as f64 / interval as f64 * terms.limit as f64;
        let mut cells = vec![name.to_owned(), promise.to_owned(), format!("{:?}", terms.interval)];
        cells.push(format!("{:.2}", grants.len() as f64 / limits));
        let over = |step| most(&grants, interval, step).saturating_sub(terms.limit).to_string();
        cells.push(if has_buckets { over(Some(bucket)) } else { "-".to_owned() });
        cells.push(over(None));
        cells
    };
    let rows: Vec<_> = contenders().into_iter().map(row).collect();
    println!(
        "{} threads ask as fast as they can for {length:?}, or four intervals; the limit is {} in an interval.\n",
        2 * cores(),
        TERMS.limit
    );
    let heads = [
        "limiter",
        "promises",
        "interval",
        "granted, to the limit",
        "most over it, whole buckets",
        "most over it, any span",
    ];
    print_table(&heads, &rows);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grant_counts_in_a_span_if_it_is_certainly_there() {
        let grants = [(5, 6), (9, 10), (12, 21), (14, 15), (19, 20)];
        assert_eq!(most(&grants, 10, None), 3); // from 12 to before 22
        assert_eq!(most(&grants, 9, None), 2); // that of 12 is not over before 21
        assert_eq!(most(&grants, 10, Some(10)), 1); // that of 9 is over at 10
        assert_eq!(most(&grants, 20, Some(10)), 3);
        assert_eq!(most(&[], 10, Some(10)), 0);
    }
}
