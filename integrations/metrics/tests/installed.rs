//! The process's recorder, and threads that end. In a process of its own: there can be only one
//! recorder.

use std::cell::RefCell;
use std::sync::OnceLock;
use std::thread;

use metrics::{counter, gauge, histogram};
use windrow_metrics::{Handle, InstallError, Recorder, Value, install};

fn installed() -> &'static Handle {
    static HANDLE: OnceLock<Handle> = OnceLock::new();
    HANDLE.get_or_init(|| install().expect("the first recorder"))
}

#[test]
fn a_second_recorder_is_refused_and_the_first_one_stays() {
    let handle = installed();
    counter!("installed").increment(1);
    assert_eq!(install().unwrap_err(), InstallError::AlreadyInstalled);
    let other = Recorder::builder().build().expect("sound settings");
    assert!(metrics::set_global_recorder(other).is_err());
    counter!("installed").increment(1);
    assert_eq!(handle.snapshot().get("installed", &[]), Some(&Value::Counter(2)));
}

/// Counts when its thread ends.
struct Last(&'static str);

impl Drop for Last {
    fn drop(&mut self) {
        counter!("dropped", "when" => self.0).increment(1);
        counter!("dropped", "when" => self.0.to_owned()).increment(1);
        counter!("dropped_kept").increment(1);
        gauge!("dropped_gauge").increment(1);
        histogram!("dropped_values").record_many(0.5, 2);
        metrics::describe_counter!("dropped", "Counted by destructors.");
    }
}

thread_local! {
    static BEFORE: RefCell<Option<Last>> = const { RefCell::new(None) };
    static AFTER: RefCell<Option<Last>> = const { RefCell::new(None) };
}

#[test]
fn what_destructors_of_a_thread_count_is_counted() {
    let handle = installed();
    for _ in 0..50 {
        // First used before the thread's own handles, and after them: in whichever order
        // destructors run, one of the two runs when the handles are gone.
        thread::spawn(|| {
            BEFORE.set(Some(Last("before")));
            counter!("dropped_kept").increment(1);
            AFTER.set(Some(Last("after")));
        })
        .join()
        .expect("no destructor panics");
    }
    // Here the thread has no handles before its destructors run.
    thread::spawn(|| BEFORE.set(Some(Last("only")))).join().expect("no destructor panics");
    let snapshot = handle.snapshot();
    let count = |when| snapshot.get("dropped", &[("when", when)]).cloned();
    assert_eq!(count("before"), Some(Value::Counter(100)));
    assert_eq!(count("after"), Some(Value::Counter(100)));
    assert_eq!(count("only"), Some(Value::Counter(2)));
    assert_eq!(snapshot.get("dropped_kept", &[]), Some(&Value::Counter(151)));
    assert_eq!(snapshot.get("dropped_gauge", &[]), Some(&Value::Gauge(101.0)));
    let Some(Value::Histogram(values)) = snapshot.get("dropped_values", &[]) else { panic!() };
    assert_eq!(values.count(), 202);
}
