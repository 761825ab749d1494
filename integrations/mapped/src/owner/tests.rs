//! A model of a process that dies, one that takes its slot, and a reader, by all orders that weak
//! memory allows; and broken twins, which the model catches.

use std::convert::Infallible;
use std::sync::atomic::Ordering;

use loom::sync::atomic::{AtomicU64, fence};
use loom::sync::{Arc, Mutex};
use loom::thread;

use super::{Found, Seen, Slot, read, take};

/// The value that the dead process has left.
const LEFT: u64 = 5;

/// A slot of a process id and two gauges.
struct Modelled {
    state: AtomicU64,
    words: [AtomicU64; 3],
    /// True if a process has the slot's lock: the kernel has a lock of its own for that.
    lock: Mutex<bool>,
    twin: Twin,
}

/// The fault of a twin.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Twin {
    None,
    /// It locks the slot before it clears it.
    LocksFirst,
    /// Its fence is none.
    NoFence,
    /// Its reader does not look at the state again.
    LooksOnce,
    /// Its reader does not ask for the lock again.
    AsksOnce,
    /// An owner's change is not Release.
    SetsRelaxed,
}

impl Modelled {
    fn new(is_live: bool, twin: Twin) -> Modelled {
        let words = [1, LEFT, LEFT].map(AtomicU64::new);
        Modelled { state: AtomicU64::new(2), words, lock: Mutex::new(is_live), twin }
    }

    /// Returns what a reader finds, and the values of both gauges.
    fn read(&self) -> (Found, [u64; 2]) {
        let mut words = [0; 3];
        let Ok(found) = read(&mut Reader { slot: self, state: None, is_locked: None }, &mut words);
        (found, [words[1], words[2]])
    }
}

/// Takes the slot if it is free, and sets its gauge to 1 in another thread.
fn become_owner(slot: &Arc<Modelled>) {
    if *slot.lock.lock().unwrap() {
        return;
    }
    if slot.twin == Twin::LocksFirst {
        *slot.lock.lock().unwrap() = true;
    }
    let Ok(true) = take(&**slot, 2) else { unreachable!("no other process takes it") };
    let order = if slot.twin == Twin::SetsRelaxed { Ordering::Relaxed } else { Ordering::Release };
    let setter = Arc::clone(slot);
    thread::spawn(move || setter.words[1].store(1, order)).join().unwrap();
}

impl Slot for Modelled {
    type Error = Infallible;

    fn state(&self, order: Ordering) -> u64 {
        self.state.load(order)
    }

    fn set_state(&self, state: u64, order: Ordering) {
        self.state.store(state, order);
    }

    fn fence(&self, order: Ordering) {
        if self.twin != Twin::NoFence {
            fence(order);
        }
    }

    fn words(&self) -> u32 {
        3
    }

    fn set_word(&self, word: u32, value: u64, order: Ordering) {
        self.words[word as usize].store(value, order);
    }

    fn lock(&self) -> Result<bool, Infallible> {
        *self.lock.lock().unwrap() = true;
        Ok(true)
    }
}

struct Reader<'m> {
    slot: &'m Modelled,
    /// The state that was read before.
    state: Option<u64>,
    /// The answer that was given before.
    is_locked: Option<bool>,
}

impl Seen for Reader<'_> {
    type Error = Infallible;

    fn state(&mut self, order: Ordering) -> Result<u64, Infallible> {
        let before = self.state.filter(|_| self.slot.twin == Twin::LooksOnce);
        let state = before.unwrap_or_else(|| self.slot.state.load(order));
        self.state = Some(state);
        Ok(state)
    }

    fn is_locked(&mut self) -> Result<bool, Infallible> {
        let before = self.is_locked.filter(|_| self.slot.twin == Twin::AsksOnce);
        let is_locked = before.unwrap_or_else(|| *self.slot.lock.lock().unwrap());
        self.is_locked = Some(is_locked);
        Ok(is_locked)
    }

    fn words(&mut self, into: &mut [u64]) -> Result<(), Infallible> {
        for (into, word) in into.iter_mut().zip(&self.slot.words) {
            *into = word.load(Ordering::Relaxed);
        }
        Ok(())
    }

    fn fence(&mut self, order: Ordering) {
        fence(order);
    }
}

/// Runs a model with at most two preemptions, which is enough for each of the twins.
fn model(run: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(run);
}

/// A reader reads while another process takes the slot of a dead one, whose value is 5.
fn taken_from_the_dead(twin: Twin) {
    model(move || {
        let slot = Arc::new(Modelled::new(false, twin));
        let next = Arc::clone(&slot);
        let taker = thread::spawn(move || become_owner(&next));
        let found = slot.read();
        let is_right = match found {
            (Found::None, _) => true,
            // Before, or the next owner, which is not past its lock.
            (Found::Dead, values) => [[LEFT; 2], [0; 2]].contains(&values),
            (Found::Live, values) => values[0] <= 1 && values[1] == 0,
        };
        assert!(is_right, "misjudged: {found:?}");
        taker.join().unwrap();
        assert_eq!(slot.read(), (Found::Live, [1, 0]));
    });
}

#[test]
fn what_the_dead_left_is_never_that_of_the_next_owner() {
    taken_from_the_dead(Twin::None);
}

/// A reader reads while an owner adds and dies, and another process takes its slot.
fn taken_after_death(twin: Twin) {
    model(move || {
        let slot = Arc::new(Modelled::new(true, twin));
        let [owner, next] = [(); 2].map(|()| Arc::clone(&slot));
        let owner = thread::spawn(move || {
            owner.words[1].fetch_add(1, Ordering::Release);
            *owner.lock.lock().unwrap() = false; // as the kernel does when it dies
        });
        let next = thread::spawn(move || become_owner(&next));
        let found = slot.read();
        let is_right = match found {
            (Found::None, _) | (Found::Live, [0 | 1, 0] | [5 | 6, LEFT]) => true,
            (Found::Dead, values) => [[LEFT + 1, LEFT], [0; 2]].contains(&values),
            (Found::Live, _) => false,
        };
        assert!(is_right, "misjudged: {found:?}");
        owner.join().unwrap();
        next.join().unwrap();
    });
}

#[test]
fn an_owner_that_dies_is_live_before_and_dead_behind() {
    taken_after_death(Twin::None);
}

#[test]
#[should_panic(expected = "misjudged")]
fn a_twin_that_locks_first_is_caught() {
    taken_from_the_dead(Twin::LocksFirst);
}

#[test]
#[should_panic(expected = "misjudged")]
fn a_twin_without_a_fence_is_caught() {
    taken_from_the_dead(Twin::NoFence);
}

#[test]
#[should_panic(expected = "misjudged")]
fn a_twin_that_looks_at_the_state_once_is_caught() {
    taken_from_the_dead(Twin::LooksOnce);
}

#[test]
#[should_panic(expected = "misjudged")]
fn a_twin_that_asks_for_the_lock_once_is_caught() {
    taken_from_the_dead(Twin::AsksOnce);
}

#[test]
#[should_panic(expected = "misjudged")]
fn a_twin_whose_changes_are_relaxed_is_caught() {
    taken_after_death(Twin::SetsRelaxed);
}
