//! The heavy keys of a fleet: those of its processes, merged. The bounds stay guaranteed.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Value, json};
use windrow::heavy::HeavySnapshot;

use super::reading::{Reading, brief};
use crate::heavy::{SHOWN, cut, range};
use crate::text::shown_key;
use crate::unusual::percent;

/// The heavy keys of all processes that are there, by name, and then by span in milliseconds.
#[derive(Default)]
pub(super) struct HeavyLists(BTreeMap<String, List>);

#[derive(Default)]
struct List {
    help: String,
    spans: BTreeMap<u64, HeavySnapshot<str>>,
}

impl HeavyLists {
    /// Adds those of a process.
    pub(super) fn add(&mut self, reading: &Reading) {
        for heavy in &reading.heavy {
            let list = self.0.entry(heavy.name.clone()).or_default();
            list.help.clone_from(&heavy.help);
            for span in &heavy.spans {
                match list.spans.get_mut(&span.span_ms) {
                    Some(all) => all.merge(&span.keys),
                    None => _ = list.spans.insert(span.span_ms, span.keys.clone()),
                }
            }
        }
    }

    pub(super) fn json(&self) -> Value {
        let key = |keys: &HeavySnapshot<str>| -> Vec<Value> {
            let top = keys.top(SHOWN).into_iter();
            let shown = top.map(|heavy| {
                json!({
                    "key": cut(&heavy.key), "at_least": heavy.at_least, "at_most": heavy.at_most,
                })
            });
            shown.collect()
        };
        let list = |(name, list): (&String, &List)| {
            let spans = list.spans.iter().map(
                |(span, keys)| json!({ "span_ms": span, "total": keys.total(), "keys": key(keys) }),
            );
            json!({ "name": name, "help": list.help, "spans": spans.collect::<Vec<_>>() })
        };
        self.0.iter().map(list).collect()
    }

    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for (name, list) in &self.0 {
            // Writing to a `String` cannot fail.
            let _ = writeln!(text, "\n# {}: {}", shown_key(name), shown_key(&brief(&list.help)));
            for (span, keys) in &list.spans {
                let (seconds, total) = (*span as f64 / 1e3, keys.total());
                let _ = writeln!(text, "the last {seconds} s: {total} in all");
                for heavy in keys.top(SHOWN) {
                    let key = shown_key(&cut(&heavy.key));
                    let both = [heavy.at_least, heavy.at_most.min(total)];
                    let part = |weight: u64| weight as f64 / total.max(1) as f64;
                    let [least, most] = both.map(|weight| percent(part(weight)));
                    let [from, to] = both.map(|weight| weight.to_string());
                    let (weights, shares) = (range(&from, &to), range(&least, &most));
                    let _ = writeln!(text, "{key}  {weights} ({shares})");
                }
            }
        }
        text
    }
}
