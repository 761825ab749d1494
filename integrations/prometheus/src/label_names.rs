//! Labels in the text formats. The names of a metric's labels are checked and escaped once: each
//! series has the same ones at the same positions, and another name takes the place of the one
//! before.

use windrow::export::Series;
use windrow::labels::LabelValue;

use crate::escaping::{Escaping, NameKind, push_quoted};
use crate::number::{push_signed, push_unsigned};

/// The names of labels as they are written: most series have the same ones.
pub(crate) struct LabelNames {
    escaping: Escaping,
    /// Those written last, by their positions.
    known: Vec<LabelName>,
}

#[derive(Default)]
struct LabelName {
    name: String,
    /// A comma, the escaped name, and the beginning of a value.
    written: Vec<u8>,
    /// These bytes with zeros behind them, if they are at most `SHORT`: an array, whose length the
    /// compiler knows, is appended without a call.
    short: Option<[u8; SHORT]>,
}

const SHORT: usize = 16;

impl LabelNames {
    pub(crate) fn new(escaping: Escaping) -> LabelNames {
        LabelNames { escaping, known: Vec::new() }
    }

    /// Appends the labels of a series. A label at the place `first` has no comma before it.
    pub(crate) fn push_all(&mut self, labels: &mut Vec<u8>, first: usize, series: &dyn Series) {
        let mut position = 0;
        series.labels(&mut |name, value| {
            self.push(labels, first, position, name, value);
            position += 1;
        });
    }

    /// Appends a label, behind a comma if it is not the first.
    #[inline]
    pub(crate) fn push(
        &mut self,
        labels: &mut Vec<u8>,
        first: usize,
        position: usize,
        name: &str,
        value: LabelValue<'_>,
    ) {
        let LabelName { written, short, .. } = match self.known.get(position) {
            Some(known) if is_same(known.name.as_bytes(), name.as_bytes()) => known,
            _ => self.note(position, name),
        };
        match short {
            Some(short) if labels.len() != first => {
                labels.extend_from_slice(short);
                labels.truncate(labels.len() - (SHORT - written.len()));
            }
            _ => labels.extend_from_slice(&written[usize::from(labels.len() == first)..]),
        }
        match value {
            LabelValue::Text(text) => push_quoted(labels, text),
            LabelValue::Unsigned(number) => push_unsigned(labels, number),
            LabelValue::Signed(number) => push_signed(labels, number),
            LabelValue::Short(text) => push_quoted(labels, &text),
            other => push_quoted(labels, &other.to_string()),
        }
        labels.push(b'"');
    }

    /// Keeps the name of the label at a position, and returns it.
    #[cold]
    fn note(&mut self, position: usize, name: &str) -> &LabelName {
        if self.known.len() <= position {
            self.known.resize_with(position + 1, LabelName::default);
        }
        let known = &mut self.known[position];
        name.clone_into(&mut known.name);
        known.written = b",".to_vec();
        let escaped = self.escaping.name(NameKind::Label, name);
        if NameKind::Label.is_plain(&escaped) {
            known.written.extend_from_slice(escaped.as_bytes());
            known.written.extend_from_slice(b"=\"");
        } else {
            known.written.push(b'"');
            push_quoted(&mut known.written, &escaped);
            known.written.extend_from_slice(b"\"=\"");
        }
        let mut short = known.written.clone();
        short.resize(SHORT.max(short.len()), 0);
        known.short = short.try_into().ok();
        known
    }
}

/// Returns whether two texts are equal; quickly, if they have four to eight bytes.
#[inline]
fn is_same(one: &[u8], other: &[u8]) -> bool {
    let ends = |text: &[u8]| Some((*text.first_chunk::<4>()?, *text.last_chunk::<4>()?));
    if one.len() <= 8
        && let Some(ends_of_one) = ends(one)
    {
        return one.len() == other.len() && ends(other) == Some(ends_of_one);
    }
    one == other
}
