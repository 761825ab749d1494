//! What series have counted since it was last exported: the sums of an instrument.
//!
//! An observable counter is told totals. From them an SDK makes deltas by attributes, and keeps the
//! last one of those that a View has made equal. A series that leaves and comes back with its
//! labels would be one to it, and two series whose attributes a View drops, too. So sums go to
//! counters that are added to: at each collection, what each series, by its number, has more than
//! at the last one. Whichever reader collects first adds it, for all readers.

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
    /// Of what never goes back: a total that is less has gone once around.
    Counter(Counter<u64>),
    /// Of levels. That of a series that has left is taken back.
    UpDown(UpDownCounter<i64>),
}

/// A part of a metric that is added up.
pub(crate) struct Sums {
    sum: Sum,
    look: Look,
    known: Mutex<Known>,
}

/// What is known of the series that there were at the last collection.
#[derive(Debug)]
struct Known {
    /// By the numbers of the series.
    series: HashMap<u64, Exported>,
    /// How many sets of attributes may still be taken by series.
    room: usize,
    /// How many collections there were.
    collections: u64,
    /// Whether a series that is not there may return with what it had counted.
    returns: bool,
}

/// What was exported of a series.
#[derive(Debug)]
struct Exported {
    attributes: Vec<KeyValue>,
    /// How many sets it takes; none, if it is added to the overflow series.
    sets: usize,
    /// The value of each measurement, in their order, which is one for the life of the series.
    last: Vec<(Attributes, u64)>,
    /// The collection in which it was last there.
    seen: u64,
}

impl Sums {
    /// Sums of what is looked at, in `room` sets of attributes beside those of the
    /// overflow series.
    pub(crate) fn new(sum: Sum, look: Look, room: usize, returns: bool) -> Sums {
        let known = Known { series: HashMap::new(), room, collections: 0, returns };
        Sums { sum, look, known: Mutex::new(known) }
    }

    /// Adds what there is more than at the last collection.
    pub(crate) fn collect(&self) {
        // A panic under the lock can come from the SDK alone; what was noted before it has been
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
            // What could not be read is unknown as yet.
            Entry::Vacant(_) if reading.values.is_empty() => return,
            Entry::Vacant(place) => {
                let sets = reading.values.len();
                let has_room = !reading.is_overflow && sets <= self.room;
                if has_room {
                    self.room -= sets;
                }
                let attributes = if has_room {
                    reading.attributes.to_vec()
                } else {
                    vec![KeyValue::new(OVERFLOW, "true")]
                };
                let sets = if has_room { sets } else { 0 };
                place.insert(Exported { attributes, sets, last: Vec::new(), seen: 0 })
            }
        };
        exported.seen = self.collections;
        for (index, (more, value)) in reading.values.iter().enumerate() {
            let Some(now) = value.bits() else { continue };
            if index == exported.last.len() {
                exported.last.push((more.clone(), 0));
            }
            let last = &mut exported.last[index].1;
            let change = now.wrapping_sub(*last);
            *last = now;
            add(sum, &mut exported.attributes, more, change);
        }
    }

    /// Forgets the series that are gone.
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
