//! The heavy keys of a fleet: those of its processes, merged. The bounds stay guaranteed.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;
use windrow::heavy::HeavySnapshot;

use super::reading;
use crate::heavy::{self, Reading};
use crate::text::cut;

/// The heavy keys of all processes that are there, by name, and then by span in milliseconds.
#[derive(Default)]
pub(super) struct HeavyLists {
    lists: BTreeMap<String, List>,
    /// The number of spans that are left out.
    pub(super) more: usize,
}

#[derive(Default)]
struct List {
    help: String,
    spans: BTreeMap<u64, HeavySnapshot<str>>,
}

impl HeavyLists {
    /// Adds those of a process.
    pub(super) fn add(&mut self, reading: &reading::Reading) {
        for heavy in &reading.heavy {
            let list = self.lists.entry(heavy.name.clone()).or_default();
            list.help = cut(&heavy.help);
            for span in &heavy.spans {
                match list.spans.get_mut(&span.span_ms) {
                    Some(all) => all.merge(&span.keys),
                    None => _ = list.spans.insert(span.span_ms, span.keys.clone()),
                }
            }
        }
    }

    /// Leaves out spans beyond this number, by the order of names.
    pub(super) fn truncate(&mut self, most: usize) {
        let (mut room, mut more) = (most, 0);
        self.lists.retain(|_, list| {
            let kept = list.spans.len().min(room);
            more += list.spans.len() - kept;
            room -= kept;
            while list.spans.len() > kept {
                list.spans.pop_last();
            }
            kept > 0
        });
        self.more = more;
    }

    pub(super) fn json(&self) -> Value {
        heavy::json(self.lists())
    }

    pub(super) fn text(&self) -> String {
        let text = heavy::text(self.lists());
        if self.more > 0 {
            format!("{text}\nand {} more lists of heavy keys\n", self.more)
        } else {
            text
        }
    }

    fn lists(&self) -> impl Iterator<Item = heavy::List<'_>> {
        self.lists.iter().map(|(name, List { help, spans })| {
            let spans = spans.iter();
            let spans = spans.map(|(span, keys)| Reading::of(Duration::from_millis(*span), keys));
            heavy::List { name, help, spans: spans.collect() }
        })
    }
}
