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
    /// The escaped name, and the beginning of a value.
    written: Vec<u8>,
}

impl LabelNames {
    pub(crate) fn new(escaping: Escaping) -> LabelNames {
        LabelNames { escaping, known: Vec::new() }
    }

    /// Appends the labels of a series.
    pub(crate) fn push_all(&mut self, labels: &mut Vec<u8>, series: &dyn Series) {
        let mut position = 0;
        series.labels(&mut |name, value| {
            self.push(labels, position, name, value);
            position += 1;
        });
    }

    /// Appends a label, behind a comma if it is not the first.
    #[inline]
    pub(crate) fn push(
        &mut self,
        labels: &mut Vec<u8>,
        position: usize,
        name: &str,
        value: LabelValue<'_>,
    ) {
        if !labels.is_empty() {
            labels.push(b',');
        }
        let known = match self.known.get(position) {
            Some(known) if known.name == name => known,
            _ => self.note(position, name),
        };
        labels.extend_from_slice(&known.written);
        match value {
            LabelValue::Text(text) => push_quoted(labels, text),
            LabelValue::Unsigned(number) => push_unsigned(labels, number),
            LabelValue::Signed(number) => push_signed(labels, number),
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
        known.written.clear();
        let escaped = self.escaping.name(NameKind::Label, name);
        if NameKind::Label.is_plain(&escaped) {
            known.written.extend_from_slice(escaped.as_bytes());
            known.written.extend_from_slice(b"=\"");
        } else {
            known.written.push(b'"');
            push_quoted(&mut known.written, &escaped);
            known.written.extend_from_slice(b"\"=\"");
        }
        known
    }
}
