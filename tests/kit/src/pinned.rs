//! A thread that stays pinned, like one that stops in the middle of a read.
//!
//! The library's epochs are its own: no other code can pin them. But a read asks the window's clock
//! under its pin, and this clock is slow.

use std::cell::RefCell;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use windrow::{Clock, SlidingWindow, Timestamp};

windrow::events! { enum Nothing { Nothing: Count } }

/// A clock that has something done when it is next asked for the time.
struct Within<F>(RefCell<Option<F>>);

impl<F: FnOnce()> Clock for Within<F> {
    fn now(&self) -> Timestamp {
        let body = self.0.borrow_mut().take();
        if let Some(body) = body {
            body();
        }
        Timestamp::from_nanos(0)
    }

    fn resolution(&self) -> Duration {
        Duration::ZERO
    }
}

/// Runs `body` in the middle of a read, while the calling thread is pinned.
pub fn pinned(body: impl FnOnce()) {
    let clock = Within(RefCell::new(None));
    let window = SlidingWindow::<Nothing>::builder().clock(&clock).build().expect("a window");
    *clock.0.borrow_mut() = Some(body);
    assert_eq!(window.stats(Nothing::Nothing).sum, 0);
    assert!(clock.0.borrow().is_none(), "a read asks the clock");
}

/// Runs `body` while another thread is pinned. Portably, no bucket that it retires can be closed
/// before its end.
pub fn while_another_is_pinned<R: Send>(body: impl FnOnce() -> R + Send) -> R {
    let (begun, when_begun) = mpsc::channel();
    let (over, when_over) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let other = scope.spawn(move || {
            pinned(|| {
                begun.send(()).expect("the other thread waits");
                let _ = when_over.recv(); // an error, too, says that it is over
            });
        });
        when_begun.recv().expect("it is pinned");
        let result = body();
        drop(over);
        other.join().expect("it has read"); // joined by name: its thread-locals are destroyed too
        result
    })
}
