//! A model of processes that ask at once, by all orders of their steps, where one of them dies at
//! each step in turn; and a broken twin, in which the model finds a call that was settled twice.
//!
//! A step is a load or an exchange of one word. A process that is dead goes through the motions: it
//! changes nothing any more.

use std::cell::Cell;
use std::sync::Arc;

use loom::sync::Mutex;
use loom::thread;

use super::*;

/// The time of all calls, so that ends tell the weight that was admitted.
const NOW: u64 = 5;

/// The limits: of a millisecond and of ten.
const LIMITS: [(u64, u64); 2] = [(1, 4), (10, 3)];

/// The two limits' words, for all processes of a model.
#[derive(Clone)]
struct Memory {
    words: [Arc<Mutex<[u64; 2]>>; 3],
    /// True for the broken twin of the model: its exchanges do not compare the version.
    ignores_versions: bool,
}

/// A word as a process sees it, which dies after some steps.
struct Seen<'a> {
    word: &'a Mutex<[u64; 2]>,
    steps: &'a Cell<u32>,
    ignores_versions: bool,
}

impl Wide for Seen<'_> {
    fn words(&self) -> [u64; 2] {
        self.steps.set(self.steps.get().saturating_sub(1));
        *self.word.lock().unwrap()
    }

    fn exchange(&self, from: [u64; 2], to: [u64; 2]) -> bool {
        if self.steps.get() == 0 {
            return true; // it is dead
        }
        self.steps.set(self.steps.get() - 1);
        let mut word = self.word.lock().unwrap();
        let is_there = if self.ignores_versions { word[0] == from[0] } else { *word == from };
        if is_there {
            *word = to;
        }
        is_there
    }
}

impl Memory {
    fn new(ignores_versions: bool) -> Memory {
        Memory { words: [(); 3].map(|()| Arc::new(Mutex::new([0; 2]))), ignores_versions }
    }

    /// Lets a process do something, and die after some steps.
    fn with<R>(&self, steps: u32, act: impl FnOnce(&Ends<'_, Seen<'_>>) -> R) -> R {
        let steps = Cell::new(steps);
        let seen = |word| Seen { word, steps: &steps, ignores_versions: self.ignores_versions };
        let [head, first, second] = &self.words;
        let words = Words { head: seen(head), cells: vec![seen(first), seen(second)] };
        act(&words.limits(&LIMITS))
    }

    /// Returns the weight that each limit has admitted.
    fn weights(&self) -> Vec<u64> {
        let of = |(end, (period, _)): (u64, (u64, u64))| (end - NOW) / MILLISECOND / period;
        self.with(u32::MAX, |limits| ends(limits).into_iter().zip(LIMITS).map(of).collect())
    }
}

const LIVES: u32 = u32::MAX;

/// The steps after which a process has done all that it does, whatever the others do.
const MOST_STEPS: u32 = 14;

/// Lets two processes ask for these weights, the second one of which dies after some steps.
fn ask(weights: [u64; 2], steps: u32) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || {
        let memory = Memory::new(false);
        let other = memory.clone();
        let ask = |memory: &Memory, n, steps| {
            memory.with(steps, |limits| wait(limits.take(NOW, n, 0)).is_some())
        };
        let [first, second] = weights;
        let child = thread::spawn(move || ask(&other, second, steps));
        let mut least = if ask(&memory, first, LIVES) { first } else { 0 };
        let is_admitted = child.join().unwrap();
        let mut most = least;
        if steps == LIVES {
            least += if is_admitted { second } else { 0 };
            most = least;
        } else {
            most += second;
        }
        // The next process finds all limits alike.
        let found = memory.weights();
        assert_eq!(found[0], found[1], "a call is settled in one limit, and not in the other");
        assert!((least..=most).contains(&found[0]) && found[0] <= 3, "{found:?}");
        assert!(found[0] > 0, "each call is refused by the other one");
        assert!(found[0] == least || found[0] == most, "{found:?}");
        // The rest is there, and not more.
        assert!(!ask(&memory, 3 - found[0] + 1, LIVES));
        assert!(ask(&memory, 3 - found[0], LIVES));
    });
}

#[test]
fn two_processes_that_ask_at_once_are_admitted_by_all_limits_or_by_none() {
    for weights in [[1, 1], [2, 2], [3, 1]] {
        ask(weights, LIVES);
    }
}

#[test]
fn a_process_that_dies_at_any_step_takes_its_call_of_all_limits_or_of_none() {
    for steps in 0..MOST_STEPS {
        ask([1, 2], steps);
        ask([2, 2], steps);
    }
}

/// Lets a process ask and give back, while another one asks and dies after some steps, and a third
/// one asks.
fn give_back(steps: u32, ignores_versions: bool) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(move || {
        let memory = Memory::new(ignores_versions);
        let [second, third] = [(); 2].map(|()| memory.clone());
        let second = thread::spawn(move || {
            second.with(steps, |limits| wait(limits.take(NOW, 1, 0)).is_some())
        });
        let third = thread::spawn(move || {
            third.with(LIVES, |limits| wait(limits.take(NOW, 1, 0)).is_some())
        });
        let first = memory.with(LIVES, |limits| match limits.take(NOW, 1, 0) {
            Answer::Taken(taken) => !limits.give_back(taken),
            Answer::Refused { .. } => false,
        });
        let (second, third) = (second.join().unwrap(), third.join().unwrap());
        let found = memory.weights();
        assert_eq!(found[0], found[1], "a call is settled in one limit, and not in the other");
        let live = u64::from(first) + u64::from(third);
        if steps == LIVES {
            assert_eq!(found[0], live + u64::from(second), "a call is settled twice, or lost");
        } else {
            assert!((live..=live + 1).contains(&found[0]), "{found:?} and {live}");
        }
    });
}

#[test]
fn what_is_given_back_is_that_one_call() {
    give_back(LIVES, false);
    for steps in [1, 3, 5, 7, 9] {
        give_back(steps, false);
    }
}

#[test]
#[should_panic(expected = "a call is settled")]
fn a_twin_that_compares_no_versions_is_caught() {
    give_back(LIVES, true);
}
