//! Frees the watches that no pass needs.
//!
//! A watch takes ten kilobytes. Once no pass has begun for [`RECORDED`], those watches are freed
//! whose windows have recorded the past that a watch compares with: the next pass reads the same
//! past from them, as it would have done anyway. The factor by which values
//! come together (`changes/clumps.rs`) is recorded nowhere, and is learned anew. Any other watch
//! may be all that is known of its past, so it stays for [`USUAL`](past::USUAL). It is freed then,
//! because nothing of it belongs to the last two hours any more.
//!
//! A thread waits for these times. It starts with a pass, and ends when there is no watch, or no
//! console.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

use super::{LEFT_ALONE, Watched, Watches};
use crate::console::Shown;
use crate::past;

/// The time without a pass after which watches are freed whose windows record the past.
pub(super) const RECORDED: Duration = Duration::from_millis(LEFT_ALONE);

/// The times of passes, and the thread that waits.
#[derive(Default)]
pub(super) struct Rest {
    /// The beginning of the last pass.
    pub(super) looked: Option<Instant>,
    /// Ends the thread when it is dropped with the watches. `None` while there is no thread.
    thread: Option<Sender<()>>,
}

impl Rest {
    /// Takes note that a pass begins.
    pub(super) fn looked(&mut self) {
        self.looked = Some(Instant::now());
    }
}

/// Begins a pass over all series of a console, and sees to it that a thread frees what is no more
/// needed after it.
pub(crate) fn begin(shown: &Arc<Shown>) -> super::Pass {
    let mut watches = shown.watches();
    if watches.rest.thread.is_none() {
        let (sender, receiver) = channel();
        let shown = Arc::downgrade(shown);
        let thread = thread::Builder::new().name("windrow-watches".to_owned());
        // If there is no thread, the next pass tries again.
        if thread.spawn(move || wait(&shown, &receiver)).is_ok() {
            watches.rest.thread = Some(sender);
        }
    }
    watches.begin()
}

/// The thread.
fn wait(shown: &Weak<Shown>, ends: &Receiver<()>) {
    let mut time = RECORDED;
    while ends.recv_timeout(time) == Err(RecvTimeoutError::Timeout) {
        let Some(shown) = shown.upgrade() else { return };
        let mut watches = shown.watches();
        let Some(left) = watches.free_unneeded(Instant::now()) else {
            watches.rest.thread = None;
            return;
        };
        time = left;
    }
}

impl Watches {
    /// Frees the watches that are not needed at this time. Returns the time until some other may be
    /// freed, among them those of a pass that is still to come; `None` if none is left.
    pub(super) fn free_unneeded(&mut self, now: Instant) -> Option<Duration> {
        let looked = self.rest.looked?;
        let passed = now.saturating_duration_since(looked);
        if passed >= past::USUAL {
            self.keep(|_| false);
        } else if passed >= RECORDED {
            self.keep(|watched| {
                !watched.changes_begin_after(watched.recorded) || watched.recorded.is_none()
            });
        } else {
            return Some(RECORDED.saturating_sub(passed));
        }
        (!self.all.is_empty()).then(|| past::USUAL.saturating_sub(passed).min(RECORDED))
    }

    /// Keeps only these watches, and the memory that they need.
    fn keep(&mut self, stays: impl Fn(&Watched) -> bool) {
        self.free = Vec::new();
        let mut all: Vec<Option<Watched>> =
            std::mem::take(&mut self.all).into_iter().map(Some).collect();
        for places in &mut self.places {
            places.retain(|_, place| {
                let Some(watched) = all[*place].take_if(|watched| stays(watched)) else {
                    return false;
                };
                *place = self.all.len();
                self.all.push(watched);
                true
            });
            places.shrink_to_fit();
        }
        self.all.shrink_to_fit();
    }
}
