//! Requests that may have arrived: no number of theirs is sent a second time in another interval.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use prost::Message;
use windrow::{Counter, Family, Histogram, SlidingWindow, labels};
use windrow_otlp::{ExportError, Exporter, Started, Temporality};

use crate::book::{Book, Point};
use crate::receiver::{Receiver, Treatment, WIRES, Wire};
use crate::successes::{Http, NEVER, exporter};

labels! { struct Route { route: u64 } }

/// The exporter's own metric.
const UNKNOWN: &str = "windrow.otlp.unknown_points";

/// Metrics of each form of deltas, and what was told of their exports.
struct Shop {
    hits: Arc<Family<Route, Counter>>,
    rt: Arc<Histogram>,
    http: Arc<SlidingWindow<Http>>,
    errors: Arc<Mutex<Vec<ExportError>>>,
    started: Started,
}

impl Shop {
    /// Starts an exporter of deltas. `see` is told of the errors, too.
    fn start(exporter: Exporter, see: impl Fn(&ExportError) + Send + 'static) -> Shop {
        let hits = Arc::new(Family::new());
        let rt = Arc::new(Histogram::new());
        let http = Arc::new(SlidingWindow::builder().build().unwrap());
        let errors = Arc::<Mutex<Vec<_>>>::default();
        let noted = Arc::clone(&errors);
        let started = exporter
            .temporality(Temporality::Delta)
            .metric("hits", "", Arc::clone(&hits))
            .metric("rt", "", Arc::clone(&rt))
            .metric("http", "", Arc::clone(&http))
            .on_error(move |error| {
                noted.lock().unwrap().push(error.clone());
                see(error);
            })
            .start(NEVER)
            .unwrap();
        Shop { hits, rt, http, errors, started }
    }

    fn count(&self, count: u64) {
        self.hits.with(Route { route: count % 3 }).add(count);
        for value in 1..=count {
            self.rt.record(value);
            self.http.record(Http::Rt, value);
        }
        self.http.add(Http::Pass, count);
    }

    /// Returns the numbers of unknown points that were told, in order.
    fn unknown(&self) -> Vec<u64> {
        let points = |error: &ExportError| match error {
            ExportError::Unknown { points, .. } => Some(*points),
            _ => None,
        };
        self.errors.lock().unwrap().iter().filter_map(points).collect()
    }
}

/// The count and the sum that each stream of deltas adds up to.
type Sums = BTreeMap<(String, String), (f64, f64)>;

fn sums(book: &Book) -> Sums {
    let mut sums = Sums::new();
    for metric in ["hits", "rt", "http", "http.values", UNKNOWN] {
        let of = |(attributes, sum)| ((metric.to_owned(), attributes), sum);
        sums.extend(book.added_up(metric).into_iter().map(of));
    }
    sums
}

fn is_delta(point: &Point) -> bool {
    use opentelemetry_proto::tonic::metrics::v1::AggregationTemporality::Delta;
    point.temporality == Some(Delta)
}

/// Keeps requests, and refuses the bytes that it has.
fn has_bytes(book: &Book, _: &ExportMetricsServiceRequest, message: &[u8]) -> bool {
    book.messages.iter().any(|known| known == message)
}

/// Keeps samples, and refuses a delta that begins before the last one of its stream has ended.
fn has_points(book: &Book, request: &ExportMetricsServiceRequest, _: &[u8]) -> bool {
    let mut ends = BTreeMap::new();
    for point in book.points() {
        ends.insert((point.metric, point.attributes), point.time);
    }
    let mut new = Book::default();
    new.write(request.clone(), &[]);
    new.points().into_iter().filter(is_delta).any(|point| {
        let end = ends.get(&(point.metric, point.attributes));
        end.is_some_and(|end| point.start < *end)
    })
}

#[test]
fn a_repetition_that_is_refused_ends_its_interval_and_its_points_are_told() {
    for refuses in [has_bytes, has_points] {
        for wire in WIRES {
            for first in [
                Treatment::LoseAnswer,
                Treatment::TakeAndFail(502, 4),
                Treatment::TakeAndFail(503, 14),
                Treatment::TakeAndFail(504, 1),
            ] {
                let receiver = Receiver::start(wire);
                receiver.refuse_if(refuses);
                let shop = Shop::start(exporter(&receiver, wire), |_| ());
                receiver.next([first.clone()]);
                shop.count(5);
                assert!(shop.started.flush().unwrap_err().is_retried());
                let points = deltas(&receiver.book().messages[0]);
                shop.count(2);
                let error = shop.started.flush().unwrap_err();
                let ExportError::Unknown { points: told, last } = &error else { panic!("{error}") };
                assert_eq!(*told, points, "{wire:?} {first:?}");
                assert!(matches!(**last, ExportError::Refused { status: 400 | 3, .. }), "{last}");
                assert!(!error.is_retried());
                shop.started.shutdown().unwrap();

                let book = receiver.book();
                let taken = sums(&book);
                let of = |metric: &str, attributes: &str| {
                    taken[&(metric.to_owned(), attributes.to_owned())]
                };
                assert_eq!(of("hits", "route=2"), (7.0, 7.0), "{wire:?} {first:?}");
                assert_eq!(of("rt", ""), (7.0, 18.0));
                assert_eq!(of("http", "event=\"Pass\""), (7.0, 7.0));
                assert_eq!(of("http.values", "event=\"Rt\""), (7.0, 18.0));
                assert_eq!(of(UNKNOWN, "").0, *told as f64);
                // The next interval begins where this one ended.
                let hits = book.of("hits", "route=2");
                assert_eq!(hits.len(), 2);
                assert_eq!(hits[1].start, hits[0].time);
            }
        }
    }
}

#[test]
fn a_request_that_came_too_late_to_be_answered_is_not_counted_again() {
    for wire in WIRES {
        let receiver = Receiver::start(wire);
        receiver.refuse_if(has_bytes);
        let exporter = exporter(&receiver, wire).timeout(Duration::from_millis(200));
        let shop = Shop::start(exporter, |_| ());
        receiver.next([Treatment::TakeAndHang]);
        shop.count(5);
        assert!(matches!(shop.started.flush(), Err(ExportError::Timeout { .. })));
        // Each of these may take longer than that on a machine that is busy.
        while shop.started.flush().is_err() {}
        assert_eq!(sums(&receiver.book())[&("rt".to_owned(), String::new())], (5.0, 15.0));
        assert!(!shop.unknown().is_empty());
    }
}

#[test]
fn an_answer_that_does_not_say_whether_it_took_the_request_ends_the_interval() {
    // Of HTTP, of gRPC: errors within the server, and what is no answer of OTLP.
    for (status, code) in [(500, 2), (500, 13), (520, 99)] {
        for wire in WIRES {
            for takes in [true, false] {
                let receiver = Receiver::start(wire);
                let shop = Shop::start(exporter(&receiver, wire), |_| ());
                let fail = if takes { Treatment::TakeAndFail } else { Treatment::Fail };
                receiver.next([fail(status, code)]);
                shop.hits.with(Route { route: 1 }).add(5);
                let error = shop.started.flush().unwrap_err();
                assert!(matches!(error, ExportError::Unknown { points: 1, .. }), "{error}");
                shop.hits.with(Route { route: 1 }).add(2);
                shop.started.shutdown().unwrap();
                let taken = if takes { 7.0 } else { 2.0 };
                assert_eq!(receiver.book().count("hits", "route=1"), taken, "{wire:?} {status}");
                assert_eq!(receiver.book().count(UNKNOWN, ""), 1.0);
            }
        }
    }
}

#[test]
fn what_certainly_did_not_arrive_is_in_the_next_request_and_nothing_is_unknown() {
    // Of HTTP, of gRPC: too many requests, which is tried again; the others are refusals.
    for (status, code) in [(429, 3), (401, 16), (413, 9), (302, 12), (501, 7), (404, 5)] {
        for wire in WIRES {
            let mut receiver = Receiver::start(wire);
            let shop = Shop::start(exporter(&receiver, wire), |_| ());
            shop.hits.with(Route { route: 1 }).add(5);
            receiver.kill();
            assert!(shop.started.flush().unwrap_err().is_retried());
            receiver.restart();
            receiver.next([Treatment::Fail(status, code), Treatment::Refuse]);
            shop.started.flush().unwrap_err();
            let _ = shop.started.flush();
            shop.hits.with(Route { route: 1 }).add(2);
            shop.started.flush().unwrap();
            shop.started.flush().unwrap();
            assert_eq!(receiver.book().count("hits", "route=1"), 7.0, "{wire:?} {status} {code}");
            assert_eq!(shop.unknown(), [0; 0]);
        }
    }
}

#[test]
fn at_the_end_the_requests_that_wait_and_may_have_arrived_are_told() {
    for wire in WIRES {
        for (lost, unknown) in [(Treatment::LoseAnswer, vec![1]), (Treatment::Accept, vec![])] {
            let mut receiver = Receiver::start(wire);
            let told = Arc::<Mutex<Vec<u64>>>::default();
            let noted = Arc::clone(&told);
            let shop = Shop::start(exporter(&receiver, wire), move |error| {
                if let ExportError::Unknown { points, .. } = error {
                    noted.lock().unwrap().push(*points);
                }
            });
            receiver.next([lost]);
            shop.hits.with(Route { route: 1 }).add(5);
            let _ = shop.started.flush();
            receiver.kill();
            shop.hits.with(Route { route: 2 }).add(5);
            let error = shop.started.shutdown().unwrap_err();
            assert!(matches!(error, ExportError::Connection { .. }), "{error}");
            assert_eq!(*told.lock().unwrap(), unknown);
        }
    }
}

#[test]
fn totals_stay_right_and_know_nothing_unknown() {
    for wire in WIRES {
        let receiver = Receiver::start(wire);
        receiver.refuse_if(has_bytes);
        let hits = Arc::new(Counter::new());
        let exporter = exporter(&receiver, wire).metric("hits", "", Arc::clone(&hits));
        let started = exporter.start(NEVER).unwrap();
        let fails = [(504, 14), (500, 13), (400, 3)];
        receiver.next(fails.map(|(status, code)| Treatment::TakeAndFail(status, code)));
        for _ in fails {
            hits.add(1);
            let error = started.flush().unwrap_err();
            assert!(!matches!(error, ExportError::Unknown { .. }), "{error}");
        }
        started.shutdown().unwrap();
        assert_eq!(receiver.book().count("hits", ""), 3.0);
        assert!(receiver.book().of(UNKNOWN, "").is_empty());
    }
}

/// Random numbers: xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n
    }

    fn treatment(&mut self) -> Treatment {
        const STATUSES: [(u16, u16); 5] = [(502, 1), (503, 14), (504, 4), (500, 13), (500, 2)];
        let (status, code) = STATUSES[self.below(5) as usize];
        match self.below(24) {
            0..=3 => Treatment::TakeAndFail(status, code),
            4..=6 => Treatment::Fail(status, code),
            7..=9 => Treatment::LoseAnswer,
            10..=11 => Treatment::LoseRequest,
            12..=14 => Treatment::Refuse,
            15..=16 => Treatment::Unavailable(None),
            17 => Treatment::Fail(429, 3),
            18 if self.below(3) == 0 => Treatment::TakeAndHang,
            _ => Treatment::Accept,
        }
    }
}

/// Counts at random, with random answers. What was taken, and what was reported as unknown and was
/// not taken, are all that was counted.
fn random(wire: Wire, seed: u64) {
    let mut random = Random(seed);
    let receiver = Arc::new(Receiver::start(wire));
    receiver.refuse_if(if seed.is_multiple_of(2) { has_bytes } else { has_points });
    let reported = Arc::<Mutex<Vec<Vec<u8>>>>::default();
    let (desk, noted) = (Arc::downgrade(&receiver), Arc::clone(&reported));
    let exporter = exporter(&receiver, wire).timeout(Duration::from_millis(500));
    let shop = Shop::start(exporter, move |error| {
        if let ExportError::Unknown { points, .. } = error {
            // The request of which the exporter has just had an answer.
            let last = desk.upgrade().unwrap().book().last.clone();
            assert_eq!(*points, deltas(&last), "points of an unknown request");
            noted.lock().unwrap().push(last);
        }
    });
    let mut truth = Sums::new();
    for _ in 0..60 {
        let count = random.below(9);
        if count > 0 {
            shop.count(count);
            let [n, sum] = [count, count * (count + 1) / 2].map(|it| it as f64);
            let mut of = |metric: &str, attributes: &str, (n, sum)| {
                let found = truth.entry((metric.to_owned(), attributes.to_owned()));
                let all = found.or_insert((0.0, 0.0));
                *all = (all.0 + n, all.1 + sum);
            };
            of("hits", &format!("route={}", count % 3), (n, n));
            of("rt", "", (n, sum));
            of("http", "event=\"Pass\"", (n, n));
            of("http.values", "event=\"Rt\"", (n, sum));
        }
        receiver.next([random.treatment()]);
        let _ = shop.started.flush();
    }
    // From here on, each is accepted (unless the collector has it).
    receiver.clear_next();
    let ends = (0..100).any(|_| shop.started.flush().is_ok());
    let unknown: u64 = shop.unknown().iter().sum();
    truth.insert((UNKNOWN.to_owned(), String::new()), (unknown as f64, unknown as f64));
    let _ = shop.started.shutdown();

    let book = receiver.book();
    let mut all = sums(&book);
    for (stream, taken) in &all {
        let true_sums = truth[stream];
        assert!(taken.0 <= true_sums.0, "{seed}: {stream:?}: {taken:?} taken of {true_sums:?}");
    }
    assert!(ends, "{seed}: exports are refused for ever");
    let mut untaken = Book::default();
    for message in reported.lock().unwrap().iter() {
        if !book.messages.contains(message) {
            let request = ExportMetricsServiceRequest::decode(&**message).unwrap();
            untaken.write(request, message);
        }
    }
    for (stream, missing) in sums(&untaken) {
        let all = all.entry(stream).or_insert((0.0, 0.0));
        *all = (all.0 + missing.0, all.1 + missing.1);
    }
    assert_eq!(all, truth, "{wire:?}, seed {seed}");
}

/// Returns the number of deltas of a request.
fn deltas(message: &[u8]) -> u64 {
    let mut book = Book::default();
    book.write(ExportMetricsServiceRequest::decode(message).unwrap(), message);
    book.points().into_iter().filter(is_delta).count() as u64
}

#[test]
fn with_random_answers_what_was_taken_and_what_is_unknown_are_all_that_was_counted() {
    for seed in 2..=5_u64 {
        for wire in WIRES {
            random(wire, seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        }
    }
}
