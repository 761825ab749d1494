//! The data points of one series, encoded, before they are put into a request.
//!
//! They are put there all at once: so a series whose reading panics is in no request, in part
//! either.

use windrow::exemplar::Exemplar;

use crate::attributes::Attributes;
use crate::exemplars;
use crate::number::Number;
use crate::protobuf::put_fixed;

/// The tags of `NumberDataPoint`.
const START: u8 = 2;
const TIME: u8 = 3;
const DOUBLE: u8 = 4;
const EXEMPLARS: u8 = 5;
const INT: u8 = 6;
const ATTRIBUTES: u8 = 7;

/// The kind of a data point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A counter's.
    Count,
    /// A level's, which goes both ways and can be added up.
    Level,
    /// A gauge's, which cannot be added up.
    Gauge,
    Octaves,
    Exponential,
}

/// The attributes, the exemplars and the times of a data point.
#[derive(Clone, Copy)]
pub(crate) struct Frame<'f> {
    pub(crate) attributes: &'f Attributes,
    pub(crate) exemplars: &'f [Exemplar],
    pub(crate) start: u64,
    pub(crate) time: u64,
}

/// The data points of a series. Its memory serves one series after the other.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    /// The messages, one behind the other.
    messages: Vec<u8>,
    /// The index of each point's metric among those of the source, its kind, and where its message
    /// ends.
    points: Vec<(usize, Kind, usize)>,
}

impl Draft {
    pub(crate) fn clear(&mut self) {
        self.messages.clear();
        self.points.clear();
    }

    /// Adds the point that `put` appends.
    pub(crate) fn add(&mut self, index: usize, kind: Kind, put: impl FnOnce(&mut Vec<u8>)) {
        put(&mut self.messages);
        self.points.push((index, kind, self.messages.len()));
    }

    /// Returns the points: the index of the metric, the kind, and the message of each.
    pub(crate) fn points(&self) -> impl Iterator<Item = (usize, Kind, &[u8])> {
        let mut begin = 0;
        self.points.iter().map(move |&(index, kind, end)| {
            (index, kind, &self.messages[std::mem::replace(&mut begin, end)..end])
        })
    }
}

/// Appends a message `NumberDataPoint`.
pub(crate) fn put_number(number: Number, frame: Frame<'_>, to: &mut Vec<u8>) {
    put_fixed(START, frame.start, to);
    put_fixed(TIME, frame.time, to);
    number.put(DOUBLE, INT, to);
    exemplars::put(EXEMPLARS, frame.exemplars, to);
    frame.attributes.put(ATTRIBUTES, to);
}
