//! A day of an access log through each limiter, by the log's own time.
//!
//! A log has whole seconds. Its lines of one second are taken to be spread evenly over that. Lines
//! that are older than one before them are taken to be of its time: so they come in the order of
//! the file.
//!
//! The admissions of a limiter are compared with the limit in each span of the interval, exactly:
//! by the times of all earlier admissions. *Over* are those admitted when the limit had been
//! reached, *under* those refused when it had not.
//!
//! tower and sentinel-core take the time from the system, and are left out.

use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;
use std::sync::Mutex;

use windrow::clock::Manual;
use windrow::{Clock, Timestamp};
use windrow_benches::limits::{Governor, Limiter, MutexRing, Soft, Terms, Timed, gate, strict};
use windrow_benches::terminal::print_table;

#[allow(dead_code, reason = "the example shows dates, too")]
#[path = "../../../../examples/replay/date.rs"]
mod date;
#[path = "../../../../examples/replay/lines.rs"]
mod lines;

/// A request: when, and the number of its client.
#[derive(Clone, Copy)]
struct Request {
    at: Timestamp,
    client: usize,
}

/// Reads `CLIENT ... [DATE] ...`: the common format, and the combined one.
fn parse(line: &str) -> Option<(&str, Timestamp)> {
    let (client, rest) = line.split_once(' ')?;
    let (date, _) = rest.split_once('[')?.1.split_once(']')?;
    Some((client, date::parse(date)?))
}

/// The contents of a log.
#[derive(Default)]
struct Log {
    requests: Vec<Request>,
    clients: HashMap<String, usize>,
    malformed: u64,
}

impl Log {
    fn read(path: &Path) -> io::Result<Log> {
        let mut log = Log::default();
        let mut lines = lines::Lines::of(BufReader::new(File::open(path)?));
        while let Some(line) = lines.next()? {
            let Some((client, at)) = parse(&line) else {
                log.malformed += 1;
                continue;
            };
            let number = log.clients.len();
            let client = *log.clients.entry(client.to_owned()).or_insert(number);
            let at = log.requests.last().map_or(at, |last| at.max(last.at));
            log.requests.push(Request { at, client });
        }
        for second in log.requests.chunk_by_mut(|one, other| one.at == other.at) {
            let count = second.len() as u64;
            for (place, request) in (0_u64..).zip(second) {
                request.at =
                    Timestamp::from_nanos(request.at.as_nanos() + place * 1_000_000_000 / count);
            }
        }
        Ok(log)
    }
}

/// The admissions of a limiter, of one client or of all.
#[derive(Default)]
struct Past(VecDeque<u64>);

impl Past {
    /// Returns the number of admissions in the interval that ends now.
    fn within(&mut self, interval: u64, now: u64) -> u64 {
        while self.0.front().is_some_and(|at| at + interval <= now) {
            self.0.pop_front();
        }
        self.0.len() as u64
    }
}

/// The result of a replay.
#[derive(Debug, Default, PartialEq, Eq)]
struct Outcome {
    through: u64,
    over: u64,
    under: u64,
    /// The most in any span of the interval.
    most: u64,
}

/// Makes one of the limiters.
type Make<'a> = &'a dyn Fn() -> Box<dyn Limiter>;

fn replay(log: &Log, terms: Terms, by_client: bool, clock: &Manual, make: Make<'_>) -> Outcome {
    let keys = if by_client { log.clients.len() } else { 1 };
    let interval = terms.interval.as_nanos() as u64;
    clock.set(log.requests.first().map_or_else(|| clock.now(), |first| first.at));
    let mut states: Vec<(Box<dyn Limiter>, Past)> =
        (0..keys).map(|_| (make(), Past::default())).collect();
    let mut outcome = Outcome::default();
    for request in &log.requests {
        clock.set(request.at);
        let (limiter, past) = &mut states[if by_client { request.client } else { 0 }];
        let before = past.within(interval, request.at.as_nanos());
        if limiter.ask(0) {
            past.0.push_back(request.at.as_nanos());
            outcome.through += 1;
            outcome.over += u64::from(before >= terms.limit);
            outcome.most = outcome.most.max(before + 1);
        } else {
            outcome.under += u64::from(before < terms.limit);
        }
    }
    outcome
}

/// The limit itself: it remembers each time.
struct Exact {
    terms: Terms,
    clock: Manual,
    past: Mutex<Past>,
}

impl Limiter for Exact {
    fn ask(&self, _key: u64) -> bool {
        let now = self.clock.now().as_nanos();
        let mut past = self.past.lock().expect("no thread panics");
        let fits = past.within(self.terms.interval.as_nanos() as u64, now) < self.terms.limit;
        if fits {
            past.0.push_back(now);
        }
        fits
    }
}

pub(crate) fn run(path: &Path, terms: Terms, by_client: bool) -> io::Result<()> {
    let log = Log::read(path)?;
    let clock = Manual::default();
    let one = Terms { buckets: 1, ..terms };
    let half = Terms { limit: terms.limit.div_ceil(2), ..terms };
    let now = || clock.clone();
    let all: [(&str, Make<'_>); 8] = [
        ("each time remembered", &|| {
            Box::new(Exact { terms, clock: now(), past: Mutex::default() })
        }),
        ("Gate", &|| Box::new(gate(terms, now()))),
        ("Gate, strict", &|| Box::new(strict(terms, now()))),
        ("a lock around a ring", &|| Box::new(MutexRing::new(terms, now()))),
        ("a window, sum then add", &|| Box::new(Soft::new(terms, now()))),
        ("a fixed window", &|| Box::new(MutexRing::new(one, now()))),
        ("governor", &|| Box::new(Governor::new(terms, Timed(now())))),
        ("governor, half the limit", &|| Box::new(Governor::new(half, Timed(now())))),
    ];
    println!(
        "{} requests of {} clients, {} lines left out; at most {} in {:?}, {} buckets, {}\n",
        log.requests.len(),
        log.clients.len(),
        log.malformed,
        terms.limit,
        terms.interval,
        terms.buckets,
        if by_client { "of each client" } else { "of all clients together" },
    );
    let row = |(name, make): &(&str, Make<'_>)| {
        let outcome = replay(&log, terms, by_client, &clock, make);
        let refused = log.requests.len() as u64 - outcome.through;
        let Outcome { through, over, under, most } = outcome;
        let numbers = [through, refused, most.saturating_sub(terms.limit), over, under];
        let mut cells = vec![(*name).to_owned()];
        cells.extend(numbers.map(|number| number.to_string()));
        cells
    };
    let rows: Vec<_> = all.iter().map(row).collect();
    let heads =
        ["limiter", "let through", "refused", "most over, any span", "over", "refused too early"];
    print_table(&heads, &rows);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_who_and_when() {
        let line = r#"a.b - - [01/Jan/1970:00:00:02 +0000] "GET / HTTP/1.0" 200 6245"#;
        assert_eq!(parse(line), Some(("a.b", Timestamp::from_secs(2))));
        assert_eq!(parse("a.b - -"), None);
    }

    #[test]
    fn a_fixed_window_is_found_out_and_the_limit_itself_is_not() {
        let second = std::time::Duration::from_secs(1);
        let terms = Terms { limit: 2, interval: 10 * second, buckets: 10 };
        let at = [8, 9, 10, 11, 21].map(Timestamp::from_secs);
        let requests = at.map(|at| Request { at, client: 0 }).to_vec();
        let log = Log { requests, ..Log::default() };
        let clock = Manual::default();
        let fixed = Terms { buckets: 1, ..terms };
        let outcome =
            replay(&log, terms, false, &clock, &|| Box::new(MutexRing::new(fixed, clock.clone())));
        assert_eq!(outcome, Outcome { through: 5, over: 2, under: 0, most: 4 });
        let exact = || Exact { terms, clock: clock.clone(), past: Mutex::default() };
        let outcome = replay(&log, terms, false, &clock, &|| Box::new(exact()));
        assert_eq!(outcome, Outcome { through: 3, over: 0, under: 0, most: 2 });
    }
}
