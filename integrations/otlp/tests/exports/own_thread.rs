//! Calls on the exporter's own thread, which cannot wait for itself.

use std::sync::mpsc;
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use windrow::Counter;
use windrow::export::from_fn;
use windrow_otlp::{ExportError, Started};

use crate::receiver::{Receiver, Treatment, Wire};
use crate::successes::{NEVER, exporter};

/// The time after which a call is taken for one that never returns.
const LIMIT: Duration = Duration::from_secs(30);

#[test]
fn a_flush_there_is_an_error_and_does_nothing() {
    let receiver = Receiver::start(Wire::Http);
    let started = Arc::new(OnceLock::<Started>::new());
    let (tell, told) = mpsc::channel();
    let [in_source, in_error] = [(); 2].map(|()| {
        let (started, tell) = (Arc::downgrade(&started), tell.clone());
        move || {
            let started = started.upgrade();
            if let Some(started) = started.as_ref().and_then(|it| it.get()) {
                let _ = tell.send(started.flush()); // the last export is not listened to
            }
        }
    });
    let load = from_fn(move || {
        in_source();
        0.5
    });
    let exporter = exporter(&receiver, Wire::Http).metric("load", "", load);
    started.set(exporter.on_error(move |_| in_error()).start(NEVER).unwrap()).unwrap();
    receiver.next([Treatment::Refuse]);
    let flushed = {
        let started = Arc::clone(&started);
        thread::spawn(move || started.get().map(Started::flush))
    };
    for _ in 0..2 {
        assert_eq!(told.recv_timeout(LIMIT), Ok(Err(ExportError::OwnThread)));
    }
    let flushed = flushed.join().unwrap();
    assert!(matches!(flushed, Some(Err(ExportError::Refused { .. }))), "{flushed:?}");
    let book = receiver.book();
    assert_eq!((book.turned_away.len(), book.messages.len()), (1, 0));
    drop(book); // the last export needs it
}

#[test]
fn shutdown_and_drop_there_do_not_wait_and_a_last_export_follows() {
    let ends: [fn(Started) -> Result<(), ExportError>; 2] = [Started::shutdown, |started| {
        drop(started);
        Err(ExportError::OwnThread)
    }];
    for end in ends {
        let receiver = Receiver::start(Wire::Http);
        let hits = Arc::new(Counter::new());
        let slot = Arc::new(Mutex::new(None::<Started>));
        let (tell, told) = mpsc::channel();
        let load = {
            let (slot, hits) = (Arc::clone(&slot), Arc::clone(&hits));
            from_fn(move || {
                if let Some(started) = slot.lock().unwrap().take() {
                    hits.add(1); // the present export has read it before
                    tell.send(end(started)).unwrap();
                }
                0.5
            })
        };
        let exporter = exporter(&receiver, Wire::Http).metric("hits", "", Arc::clone(&hits));
        let started = exporter.metric("load", "", load).start(Duration::from_millis(5)).unwrap();
        *slot.lock().unwrap() = Some(started);
        assert_eq!(told.recv_timeout(LIMIT), Ok(Err(ExportError::OwnThread)));
        let begin = Instant::now();
        while Arc::strong_count(&hits) > 1 {
            assert!(begin.elapsed() < LIMIT, "the thread does not end");
            thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(receiver.book().last("hits", "").count(), 1.0);
    }
}
