//! The task monitors of tokio-metrics.

use std::cell::RefCell;
use std::future::{self, Future};
use std::hint::black_box;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use crate::contender::{Call, Contender, OWN, PORTED};

/// A task that is never done.
type Task = Pin<Box<dyn Future<Output = ()>>>;

/// Returns a task that wakes itself in each poll, so that each counts as scheduled; or one that
/// only waits.
fn task(wakes: bool) -> impl Future<Output = ()> + Send {
    future::poll_fn(move |context| {
        if wakes {
            context.waker().wake_by_ref();
        }
        Poll::Pending
    })
}

/// The calls of a program on a monitor, for one copy of the crate. Each thread has a task of its
/// own, and all have one monitor.
macro_rules! uses {
    ($tokio_metrics:ident, $whose:expr) => {{
        use $tokio_metrics::TaskMonitor;

        /// A poll of the thread's own task.
        macro_rules! poll {
            ($wakes:expr) => {{
                thread_local! {
                    static TASK: RefCell<Option<Task>> = const { RefCell::new(None) };
                }
                let monitor = TaskMonitor::new();
                move || {
                    TASK.with_borrow_mut(|own| {
                        let new = || -> Task { Box::pin(monitor.instrument(task($wakes))) };
                        let own = own.get_or_insert_with(new);
                        let polled = own.as_mut().poll(&mut Context::from_waker(Waker::noop()));
                        assert!(polled.is_pending(), "it is never done");
                    });
                }
            }};
        }

        let read = TaskMonitor::new();
        [
            Contender::new("tokio-metrics: a poll", $whose, Call(poll!(false))),
            Contender::new("tokio-metrics: a poll, woken", $whose, Call(poll!(true))),
            Contender::new(
                "tokio-metrics: reading all",
                $whose,
                Call(move || _ = black_box(read.cumulative())),
            ),
        ]
    }};
}

pub(crate) fn contenders() -> Vec<Contender> {
    let own = uses!(own_tokio_metrics, OWN);
    let ported = uses!(ported_tokio_metrics, PORTED);
    own.into_iter().zip(ported).flat_map(|(own, ported)| [own, ported]).collect()
}
