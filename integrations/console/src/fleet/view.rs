//! A fleet at one moment: its processes, the addresses without an answer, and the numbers of all.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::heavy::HeavyLists;
use super::members::{Failing, Members, Name};
use super::merge::Merged;
use super::reading::Reading;
use super::says::{Beginnings, Says, says};
use crate::unusual::LISTED;

/// A fleet at one moment.
pub(super) struct View {
    /// The time since the fleet's start.
    pub(super) now: Duration,
    /// The processes that are there, in the order in which they first answered.
    pub(super) processes: Vec<Process>,
    /// The addresses without an answer, and those whose answer was refused.
    pub(super) failing: Vec<Unread>,
    /// The number of addresses that have not been asked yet.
    pub(super) unasked: usize,
    /// The number of addresses.
    pub(super) addresses: usize,
    /// The processes that are gone.
    pub(super) gone: usize,
    pub(super) merged: Merged,
    pub(super) heavy: HeavyLists,
    /// All sentences; once their beginnings are noted, the most urgent ones.
    pub(super) says: Vec<Says>,
    /// The number of further sentences.
    pub(super) more: usize,
    /// The number of series of processes that are gone which are not in the sums.
    pub(super) left_out: usize,
    /// The end of the last change of any process, or the beginning of its known past, in
    /// milliseconds since 1970.
    pub(super) calm_since_ms: Option<u64>,
}

/// A process that is there.
#[derive(Debug)]
pub(super) struct Process {
    /// Processes are numbered as they first answer.
    pub(super) number: u64,
    /// Its instance, with its address if several have that instance.
    pub(super) name: String,
    pub(super) addresses: Vec<String>,
    pub(super) reading: Arc<Reading>,
    pub(super) answered: Duration,
    /// The reason why its numbers are not among those of the others.
    pub(super) differs: Option<String>,
}

/// An address without an answer, or with one that was refused.
#[derive(Debug)]
pub(super) struct Unread {
    pub(super) address: String,
    pub(super) failing: Failing,
    /// The instance that has answered there before.
    pub(super) instance: Option<String>,
}

impl View {
    pub(super) fn of(members: &Members, now: Duration) -> View {
        let mut lives: Vec<_> = members.lives.values().collect();
        lives.sort_by_key(|life| life.number);
        let (there, gone): (Vec<_>, Vec<_>) =
            lives.into_iter().partition(|life| life.is_there(now));

        let (mut merged, mut heavy) = (Merged::default(), HeavyLists::default());
        let mut processes = Vec::new();
        for life in there {
            let differs = merged.difference(&life.reading);
            if differs.is_none() {
                merged.add(processes.len(), &life.reading);
                heavy.add(&life.reading);
            }
            processes.push(Process {
                number: life.number,
                name: life.reading.instance.clone(),
                addresses: life.addresses.iter().cloned().collect(),
                reading: Arc::clone(&life.reading),
                answered: life.answered,
                differs,
            });
        }
        for life in &gone {
            merged.add_gone(&life.reading);
        }
        merged.add_kept(&members.past);
        heavy.truncate(LISTED);
        name(&mut processes);

        let instance = |name: &Name| name.0.clone();
        let failing = members.places.iter().filter_map(|(address, place)| {
            let failing = place.failing.clone().filter(|_| !members.is_spare(address))?;
            let instance = place.last.as_ref().map(instance);
            Some(Unread { address: address.clone(), failing, instance })
        });
        let is_unasked =
            |place: &&super::members::Address| place.failing.is_none() && place.last.is_none();
        let calm = processes.iter().filter_map(|process| process.reading.unusual.calm_since_ms);
        let mut view = View {
            now,
            calm_since_ms: calm.max(),
            processes,
            failing: failing.collect(),
            unasked: members.places.values().filter(is_unasked).count(),
            addresses: members.places.keys().filter(|address| !members.is_spare(address)).count(),
            gone: gone.len() + members.dropped(),
            merged,
            heavy,
            says: Vec::new(),
            more: 0,
            left_out: members.left_out,
        };
        view.says = says(&view);
        view
    }

    /// Notes the beginnings of all sentences, and keeps the most urgent ones.
    pub(super) fn note(&mut self, beginnings: &mut Beginnings) {
        beginnings.note(self.now, &self.processes, &mut self.says);
        self.more = self.says.len().saturating_sub(LISTED);
        self.says.truncate(LISTED);
    }
}

/// Adds to the names that several processes have what tells these apart: the address, or where that
/// is common, too, the start.
fn name(processes: &mut [Process]) {
    let with_address = |process: &Process| {
        let address = process.addresses.first().map_or("", String::as_str);
        format!("{} at {address}", process.name)
    };
    let with_start = |process: &Process| format!("{} ({})", process.name, process.reading.epoch);
    for longer in [&with_address as &dyn Fn(&Process) -> String, &with_start] {
        let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
        for process in &*processes {
            *numbers.entry(process.name.clone()).or_default() += 1;
        }
        for process in &mut *processes {
            if numbers[&process.name] > 1 {
                process.name = longer(process);
            }
        }
    }
}
