//! Events of a schedule in the order of time: what the network carries, and what befalls.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::faults::Fault;
use crate::machine::{Answer, Ask, Terms};

/// An event.
pub(super) enum Event {
    /// A client has requests.
    Requests {
        client: usize,
    },
    /// A client looks whether it has something to ask.
    Look {
        client: usize,
    },
    /// A message of a client arrives at the engine.
    Ask {
        client: usize,
        ask: Ask,
        attempt: usize,
        sent: u64,
        terms: Terms,
    },
    /// An answer arrives.
    Answer {
        client: usize,
        number: u64,
        attempt: usize,
        sent: u64,
        answer: Answer,
    },
    /// A client puts permits back.
    PutBack {
        client: usize,
        end: u64,
        count: u64,
    },
    Fault(Fault),
}

struct Scheduled {
    at: u64,
    number: u64,
    event: Event,
}

/// The events to come.
#[derive(Default)]
pub(super) struct Events {
    heap: BinaryHeap<Scheduled>,
    number: u64,
}

impl Events {
    pub(super) fn add(&mut self, at: u64, event: Event) {
        self.number += 1;
        self.heap.push(Scheduled { at, number: self.number, event });
    }

    pub(super) fn next(&mut self) -> Option<(u64, Event)> {
        self.heap.pop().map(|scheduled| (scheduled.at, scheduled.event))
    }
}

/// The first event is the greatest: `BinaryHeap` gives that.
impl Ord for Scheduled {
    fn cmp(&self, other: &Scheduled) -> Ordering {
        (other.at, other.number).cmp(&(self.at, self.number))
    }
}

impl PartialOrd for Scheduled {
    fn partial_cmp(&self, other: &Scheduled) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Scheduled {
    fn eq(&self, other: &Scheduled) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Scheduled {}
