//! Exports that fail, and what arrives all the same.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use windrow::export::{AnyMetric, Exported, Outline, Series, Source};
use windrow::{Counter, Family, Histogram, labels};
use windrow_otlp::{ExportError, Exporter, Started, Temporality};

use crate::book::Point;
use crate::receiver::{Receiver, Treatment, WIRES, Wire};
use crate::successes::{NEVER, exporter};

const TEMPORALITIES: [Temporality; 2] = [Temporality::Cumulative, Temporality::Delta];

labels! { struct User { user: u64 } }

/// An exporter of one counter, which notes its errors.
struct Shop {
    hits: Arc<Counter>,
    errors: Arc<Mutex<Vec<ExportError>>>,
    started: Started,
}

fn shop(exporter: Exporter, temporality: Temporality) -> Shop {
    let (hits, errors) = (Arc::new(Counter::new()), Arc::new(Mutex::new(Vec::new())));
    let noted = Arc::clone(&errors);
    let started = exporter
        .temporality(temporality)
        .metric("hits", "", Arc::clone(&hits))
        .on_error(move |error| noted.lock().unwrap().push(error.clone()))
        .start(NEVER)
        .unwrap();
    Shop { hits, errors, started }
}

/// Calls `see` for each way to send.
fn each(mut see: impl FnMut(&mut Receiver, Exporter, Temporality)) {
    for wire in WIRES {
        for temporality in TEMPORALITIES {
            let mut receiver = Receiver::start(wire);
            let exporter = exporter(&receiver, wire);
            see(&mut receiver, exporter, temporality);
        }
    }
}

#[test]
fn a_collector_that_is_not_available_is_tried_again_and_changes_come_again_as_they_were() {
    each(|receiver, exporter, temporality| {
        let shop = shop(exporter, temporality);
        receiver.next([Treatment::Unavailable(Some(7)), Treatment::Unavailable(None)]);
        for _ in 0..2 {
            shop.hits.add(1);
            let error = shop.started.flush().unwrap_err();
            assert!(matches!(error, ExportError::Unavailable { status: 503 | 14, .. }), "{error}");
            assert!(error.is_retried());
        }
        shop.hits.add(1);
        shop.started.flush().unwrap();
        let book = receiver.book();
        assert_eq!(book.count("hits", ""), 3.0);
        let counts: Vec<_> = book.points().iter().map(Point::count).collect();
        match temporality {
            Temporality::Cumulative => assert_eq!(counts, [3.0]),
            Temporality::Delta => {
                assert_eq!(counts, [1.0, 2.0]);
                assert_eq!(book.turned_away[0], book.messages[0]);
                assert_eq!(book.turned_away[1], book.messages[0]);
            }
        }
        assert_eq!(shop.errors.lock().unwrap().len(), 2);
    });
}

#[test]
fn the_collector_says_when_to_come_back() {
    let receiver = Receiver::start(Wire::Http);
    let shop = shop(exporter(&receiver, Wire::Http), Temporality::Cumulative);
    receiver.next([Treatment::Unavailable(Some(7))]);
    let Err(ExportError::Unavailable { retry_after, .. }) = shop.started.flush() else { panic!() };
    assert_eq!(retry_after, Some(Duration::from_secs(7)));
}

#[test]
fn a_retry_comes_by_itself() {
    let receiver = Receiver::start(Wire::Http);
    let shop = shop(exporter(&receiver, Wire::Http), Temporality::Delta);
    receiver.next([Treatment::Unavailable(None), Treatment::Unavailable(None)]);
    shop.hits.add(5);
    shop.started.flush().unwrap_err();
    receiver.wait(|book| !book.messages.is_empty()); // two seconds later, not a period
    assert_eq!(receiver.book().count("hits", ""), 5.0);
}

#[test]
fn a_retry_comes_by_itself_though_an_error_before_it_is_not_retried() {
    for temporality in TEMPORALITIES {
        for first in [Treatment::Refuse, Treatment::Reject(3)] {
            let receiver = Receiver::start(Wire::Http);
            let family = Arc::new(Family::<User, Counter>::new().with_max_series(30_000));
            let started = exporter(&receiver, Wire::Http)
                .temporality(temporality)
                .metric("hits", "", Arc::clone(&family))
                .start(NEVER)
                .unwrap();
            (0..30_000).for_each(|user| family.with(User { user }).add(1));
            receiver.next([first, Treatment::Unavailable(None)]);
            let error = started.flush().unwrap_err();
            assert!(!error.is_retried(), "the first one: {error}");
            receiver.wait(|book| book.added_up("hits").len() == 30_000); // not a period later
            started.shutdown().unwrap();
            assert!(receiver.book().added_up("hits").values().all(|added| added.0 == 1.0));
        }
    }
}

#[test]
fn a_refused_request_is_not_sent_again_and_its_numbers_are_in_the_next() {
    each(|receiver, exporter, temporality| {
        let shop = shop(exporter, temporality);
        receiver.next([Treatment::Refuse]);
        shop.hits.add(1);
        let error = shop.started.flush().unwrap_err();
        let ExportError::Refused { status: 400 | 3, message } = &error else { panic!("{error}") };
        assert_eq!(message, "not this");
        assert!(!error.is_retried());
        shop.hits.add(1);
        shop.started.flush().unwrap();
        let book = receiver.book();
        assert_eq!(book.count("hits", ""), 2.0);
        assert_eq!((book.points().len(), book.turned_away.len()), (1, 1));
    });
}

#[test]
fn a_partial_success_is_told_and_nothing_of_it_is_repeated() {
    each(|receiver, exporter, temporality| {
        let shop = shop(exporter, temporality);
        receiver.next([Treatment::Reject(3)]);
        shop.hits.add(1);
        let error = shop.started.flush().unwrap_err();
        let rejected = ExportError::Rejected { points: 3, message: "too old".to_owned() };
        assert_eq!((&error, error.is_retried()), (&rejected, false));
        shop.hits.add(1);
        shop.started.flush().unwrap();
        assert_eq!(receiver.book().count("hits", ""), 2.0);
        assert_eq!(receiver.book().messages.len(), 2);
        assert_eq!(*shop.errors.lock().unwrap(), [rejected]);
    });
}

#[test]
fn of_a_lost_answer_totals_know_nothing_and_changes_come_twice_with_the_same_times() {
    each(|receiver, exporter, temporality| {
        let shop = shop(exporter, temporality);
        receiver.next([Treatment::LoseAnswer]);
        shop.hits.add(4);
        let error = shop.started.flush().unwrap_err();
        assert!(matches!(error, ExportError::Connection { .. }), "{error}");
        shop.hits.add(1);
        shop.started.flush().unwrap();
        let book = receiver.book();
        match temporality {
            Temporality::Cumulative => assert_eq!(book.count("hits", ""), 5.0),
            Temporality::Delta => {
                // A backend that knows a request by its times has it once.
                assert_eq!(book.messages[0], book.messages[1]);
                let counts: Vec<_> = book.points().iter().map(Point::count).collect();
                assert_eq!(counts, [4.0, 4.0, 1.0]);
            }
        }
    });
}

#[test]
fn a_collector_that_does_not_answer_holds_nothing_up() {
    each(|receiver, exporter, temporality| {
        let timeout = Duration::from_millis(50);
        let shop = shop(exporter.timeout(timeout), temporality);
        receiver.next([Treatment::Hang]);
        shop.hits.add(4);
        assert_eq!(shop.started.flush(), Err(ExportError::Timeout { timeout }));
        // The next one may take longer than that on a machine that is busy.
        while shop.started.flush().is_err() {}
        assert_eq!(receiver.book().last("hits", "").count(), 4.0);
    });
}

/// Ends threads, also if a test fails.
struct Ends<'s>(&'s AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn nothing_is_missing_or_double_after_a_collector_was_killed_and_came_back() {
    each(|receiver, exporter, temporality| {
        let family = Arc::new(Family::<User, Histogram>::new());
        let started = exporter
            .temporality(temporality)
            .metric("rt", "", Arc::clone(&family))
            .start(NEVER)
            .unwrap();
        let stop = AtomicBool::new(false);
        let stop = &stop;
        let count = &|user| {
            let mut count = 0;
            while !stop.load(Ordering::Relaxed) || count == 0 {
                family.with(User { user }).record(2_000);
                count += 1;
            }
            count
        };
        let sent: Vec<u64> = thread::scope(|scope| {
            let ends = Ends(stop);
            let threads = [0, 1].map(|user| scope.spawn(move || count(user)));
            let flush = || {
                family.with(User { user: 2 }).record(2_000); // so that there is something to send
                started.flush()
            };
            for _ in 0..3 {
                flush().unwrap();
                receiver.kill();
                for _ in 0..3 {
                    assert!(flush().unwrap_err().is_retried());
                }
                receiver.restart();
                flush().unwrap();
            }
            drop(ends);
            let [one, other] = threads.map(|thread| thread.join().unwrap());
            vec![one, other, 3 * 5]
        });
        started.shutdown().unwrap();
        let all = receiver.book().added_up("rt");
        for (user, sent) in sent.into_iter().enumerate() {
            let expected = (sent as f64, (2_000 * sent) as f64);
            assert_eq!(all[&format!("user={user}")], expected, "{temporality:?}");
        }
    });
}

#[test]
fn of_several_requests_each_is_acknowledged_by_itself() {
    let receiver = Receiver::start(Wire::Http);
    let family = Arc::new(Family::<User, Counter>::new().with_max_series(60_000));
    let add = || (0..60_000).for_each(|user| family.with(User { user }).add(1));
    let started = exporter(&receiver, Wire::Http)
        .temporality(Temporality::Delta)
        .metric("hits", "", Arc::clone(&family))
        .start(NEVER)
        .unwrap();
    add();
    // The first is taken, the second refused, the third put off: it comes again as it was.
    receiver.next([Treatment::Accept, Treatment::Refuse, Treatment::Unavailable(None)]);
    let error = started.flush().unwrap_err();
    assert!(matches!(error, ExportError::Refused { .. }), "the first one: {error}");
    add();
    started.flush().unwrap();
    let book = receiver.book();
    let all = book.added_up("hits");
    assert_eq!(all.len(), 60_000);
    assert!(all.values().all(|added| added.0 == 2.0));
    assert_eq!(book.turned_away[1], book.messages[1]);
}

/// A counter whose reading panics while it is told to.
struct Moody {
    counter: Counter,
    panics: AtomicBool,
}

impl Exported for Moody {
    fn any(&self) -> AnyMetric<'_> {
        assert!(!self.panics.load(Ordering::Relaxed), "this panic is meant");
        self.counter.any()
    }
}

struct Of(Arc<Moody>);

impl Source for Of {
    fn outline(&self) -> Outline {
        self.0.counter.outline()
    }

    fn visit(&self, see: &mut dyn FnMut(&dyn Series)) {
        struct One<'m>(&'m Moody);
        impl Series for One<'_> {
            fn number(&self) -> u64 {
                0
            }
            fn is_overflow(&self) -> bool {
                false
            }
            fn created(&self) -> Option<std::time::SystemTime> {
                None
            }
            fn labels(&self, _: &mut dyn FnMut(&str, windrow::labels::LabelValue<'_>)) {}
            fn metric(&self) -> AnyMetric<'_> {
                self.0.any()
            }
        }
        see(&One(&self.0));
    }
}

#[test]
fn a_panic_costs_its_own_series_once_and_doubles_nothing() {
    for temporality in TEMPORALITIES {
        let receiver = Receiver::start(Wire::Http);
        let moody = Arc::new(Moody { counter: Counter::new(), panics: AtomicBool::new(false) });
        let hits = Arc::new(Counter::new());
        let started = exporter(&receiver, Wire::Http)
            .temporality(temporality)
            .metric("moody", "", Of(Arc::clone(&moody)))
            .metric("hits", "", Arc::clone(&hits))
            .on_error(|_| panic!("this panic is meant"))
            .start(NEVER)
            .unwrap();
        receiver.next([Treatment::Accept, Treatment::Refuse]);
        for panics in [false, true, true, false] {
            moody.panics.store(panics, Ordering::Relaxed);
            moody.counter.add(1);
            hits.add(1);
            let _ = started.flush(); // one is refused
        }
        let book = receiver.book();
        assert_eq!((book.count("moody", ""), book.count("hits", "")), (4.0, 4.0));
        assert_eq!((book.of("moody", "").len(), book.of("hits", "").len()), (2, 3));
    }
}

#[test]
fn without_a_collector_the_end_comes_with_an_error_and_not_late() {
    let mut receiver = Receiver::start(Wire::Http);
    let shop = shop(exporter(&receiver, Wire::Http), Temporality::Delta);
    receiver.kill();
    shop.hits.add(1);
    let (ended, end) = mpsc::channel();
    thread::spawn(move || ended.send(shop.started.shutdown()));
    let outcome = end.recv_timeout(Duration::from_secs(30)).expect("an end");
    assert!(matches!(outcome, Err(ExportError::Connection { .. })), "{outcome:?}");
}
