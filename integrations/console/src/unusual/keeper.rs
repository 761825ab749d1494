//! The keeper of a console's watches, which frames and answers share.
//!
//! The lock is taken for one series at a time: so two passes, one for a frame and one for an
//! answer, go on side by side. A thread waits for the times at which watches are to be freed. It
//! starts with a pass, and ends when there is no watch, or no console.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Instant;

use windrow::export::Series;

use super::watched::{RECORDED, Watched};
use super::watches::{Pass, Watches};

/// The watches, and the thread that frees them.
pub(crate) struct Keeper(Mutex<Watches>);

impl Keeper {
    pub(crate) fn new(watches: Watches) -> Keeper {
        Keeper(Mutex::new(watches))
    }

    /// Begins a pass over all series, and sees to it that a thread frees what is no more needed
    /// after it.
    pub(crate) fn begin(self: &Arc<Keeper>) -> Pass {
        let mut watches = self.lock();
        if watches.thread.is_none() {
            let (sender, receiver) = channel();
            let keeper = Arc::downgrade(self);
            let thread = thread::Builder::new().name("windrow-watches".to_owned());
            // If there is no thread, the next pass tries again.
            if thread.spawn(move || wait(&keeper, &receiver)).is_ok() {
                watches.thread = Some(sender);
            }
        }
        watches.begin()
    }

    /// Looks at a series, under the lock. `look` has its watch; `None` if it is not made yet.
    pub(crate) fn look<T>(
        &self,
        pass: &mut Pass,
        (metric, key): (usize, &str),
        series: &dyn Series,
        look: impl FnOnce(Option<&mut Watched>) -> T,
    ) -> T {
        look(self.lock().of(pass, metric, key, series))
    }

    /// Ends a pass.
    pub(crate) fn end(&self, pass: &Pass) {
        self.lock().end(pass);
    }

    fn lock(&self) -> MutexGuard<'_, Watches> {
        // A panic under the lock, in a function of a metric, leaves watches that are up to date or
        // not.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The thread.
fn wait(keeper: &Weak<Keeper>, ends: &Receiver<()>) {
    let mut time = RECORDED;
    while ends.recv_timeout(time) == Err(RecvTimeoutError::Timeout) {
        let Some(keeper) = keeper.upgrade() else { return };
        let mut watches = keeper.lock();
        let Some(left) = watches.free_unneeded(Instant::now()) else {
            watches.thread = None;
            return;
        };
        time = left;
    }
}
