//! The sums of an instrument: the increase of each series since the last export.
//!
//! An observable counter receives totals. From them an SDK makes deltas by attributes, and of
//! totals that a View has merged it keeps the last. It would take a series that is removed and
//! comes back with its labels for the same one, and likewise two series whose attributes a View
//! drops. So sums go to synchronous counters: at each collection, each series, known by its number,
//! adds its increase since the last one. The first reader that collects adds it, for all readers.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Mutex, PoisonError};

use opentelemetry::KeyValue;
use opentelemetry::metrics::{Counter, UpDownCounter};

use crate::instrument::Attributes;
use crate::look::{Look, OVERFLOW, Reading};

/// An instrument that is added to.
#[derive(Debug)]
pub(crate) enum Sum {
    /// A counter of a total that never goes back: a lower total has wrapped once.
    Counter(Counter<u64>),
    /// A counter of levels. The level of a series that was removed is subtracted.
    UpDown(UpDownCounter<i64>),
}

/// A part of a metric that is added up.
pub(crate) struct Sums {
    sum: Sum,
    look: Look,
    known: Mutex<Known>,
}

/// The series present at the last there were at the last collection.
#[derive(Debug)]
struct Known {
    /// The exported series, by their numbers.
    series: HashMap<u64, Exported>,
    /// The number of sets of attributes that series may still take.
    room: usize,
    /// The number of collections.
    collections: u64,
    /// True if an absent series may return with its earlier total.
    returns: bool,
}

/// The exported state of a series.
#[derive(Debug)]
struct Exported {
    attributes: Vec<KeyValue>,
    /// The number of sets that it takes; zero if it is added to the overflow series.
    sets: usize,
    /// The value of each measurement, in their order, which is one for the life of the series.
    last: Vec<(Attributes, u64)>,
    /// The last collection that had it.
    seen: u64,
}

impl Sums {
    /// Returns the sums of a source, in `room` sets of attributes beside those of the overflow
    /// series.
    pub(crate) fn new(sum: Sum, look: Look, room: usize, returns: bool) -> Sums {
        let known = Known { series: HashMap::new(), room, collections: 0, returns };
        Sums { sum, look, known: Mutex::new(known) }
    }

    /// Adds the increases since the last collection.
    pub(crate) fn collect(&self) {
        // A panic under the lock can only come from the SDK; values recorded before it have been
        // added.
        let known = &mut *self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.collections += 1;
        self.look.read(&mut |reading| known.take(&reading, &self.sum));
        known.forget(&self.sum);
    }
}

impl Known {
    fn take(&mut self, reading: &Reading<'_>, sum: &Sum) {
        let exported = match self.series.entry(reading.series) {
            Entry::Occupied(there) => there.into_mut(),
            // A series that could not be read is still unknown.
            Entry::Vacant(_) if reading.values.is_empty() => return,
            Entry::Vacant(place) => {
                let sets = reading.values.len();
                let (attributes, sets) = if reading.is_overflow || sets > self.room {
                    (vec![KeyValue::new(OVERFLOW, "true")], 0)
                } else {
                    self.room -= sets;
                    (reading.attributes.to_vec(), sets)
                };
                place.insert(Exported { attributes, sets, last: Vec::new(), seen: 0 })
            }
        };
        exported.seen = self.collections;
        for (index, (more, value)) in reading.values.iter().enumerate() {
            let Some(now) = value.whole() else { continue };
            if index == exported.last.len() {
                exported.last.push((more.clone(), 0));
            }
            let last = &mut exported.last[index].1;
            let change = now.wrapping_sub(*last);
            *last = now;
            add(sum, &mut exported.attributes, more, change);
        }
    }

    /// Forgets the removed series.
    fn forget(&mut self, sum: &Sum) {
        let (now, returns) = (self.collections, self.returns);
        for exported in self.series.values_mut().filter(|exported| exported.seen != now) {
            if let Sum::UpDown(_) = sum {
                for (more, last) in exported.last.iter_mut().filter(|(_, last)| *last != 0) {
                    add(sum, &mut exported.attributes, more, last.wrapping_neg());
                    *last = 0;
                }
            }
        }
        if !returns {
            let room = &mut self.room;
            self.series.retain(|_, exported| {
                let stays = exported.seen == now;
                *room += if stays { 0 } else { exported.sets };
                stays
            });
        }
    }
}

fn add(sum: &Sum, attributes: &mut Vec<KeyValue>, more: &Attributes, change: u64) {
    let own = attributes.len();
    attributes.extend(more.iter().flatten().cloned());
    match sum {
        Sum::Counter(counter) => counter.add(change, attributes),
        Sum::UpDown(counter) => counter.add(change.cast_signed(), attributes),
    }
    attributes.truncate(own);
}
