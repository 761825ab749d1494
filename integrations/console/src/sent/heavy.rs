//! Heavy keys in answers: the keys with the most weight, each with its share and the bounds of
//! both.

use std::fmt::Write;

use serde_json::{Value, json};

use super::json::exact;
use super::words::{legible, percent};
use crate::read::buckets::millis;
use crate::shown::heavy::{Heavy, Top, Weight};

/// Returns keys for a frame: a name, a help, and for each span its milliseconds, the total weight,
/// and the keys with their bounds.
pub(crate) fn brief(Heavy { name, help, tops }: &Heavy) -> Value {
    let key = |Weight { key, at_least, at_most }: &Weight| {
        json!([key, exact(*at_least), exact(*at_most)])
    };
    let span = |Top { span, total, keys }: &Top| {
        json!([millis(*span), exact(*total), keys.iter().map(key).collect::<Value>()])
    };
    json!([name, help, tops().iter().map(span).collect::<Value>()])
}

/// Returns all for `/snapshot.json`.
pub(crate) fn json(all: &[Heavy]) -> Value {
    let key = |weight: &Weight, total| {
        let Weight { key, at_least, at_most } = weight;
        let shares = weight.shares(total);
        json!({ "key": key, "at_least": at_least, "at_most": at_most, "shares": shares })
    };
    let span = |Top { span, total, keys }: &Top| {
        let keys: Value = keys.iter().map(|weight| key(weight, *total)).collect();
        json!({ "span_ms": millis(*span), "total": total, "keys": keys })
    };
    let one = |heavy: &Heavy| {
        let spans: Value = (heavy.tops)().iter().map(span).collect();
        json!({ "name": heavy.name, "help": heavy.help, "spans": spans })
    };
    all.iter().map(one).collect()
}

/// Returns all for a terminal: a line for each key.
pub(crate) fn text(all: &[Heavy]) -> String {
    let mut text = String::new();
    for heavy in all {
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "\n# {}: {}", legible(&heavy.name), legible(&heavy.help));
        for Top { span, total, keys } in (heavy.tops)() {
            let _ = writeln!(text, "the last {} s: {total} in all", span.as_secs_f64());
            for weight in keys {
                let key = legible(&weight.key);
                let [at_least, at_most] = weight.shares(total).map(percent);
                let shares = range(&at_least, &at_most);
                let weights = range(&weight.at_least.to_string(), &weight.at_most.to_string());
                let _ = writeln!(text, "{key}  {weights} ({shares})");
            }
        }
    }
    text
}

/// Returns a range in words, or one bound if both are the same.
fn range(at_least: &str, at_most: &str) -> String {
    if at_least == at_most { at_least.to_owned() } else { format!("{at_least} to {at_most}") }
}
