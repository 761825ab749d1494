//! `/snapshot.json`: all numbers, or one series with all that is known of it.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};
use windrow::Kind;

use crate::console::{Named, Shown};
use crate::key::write_key;
use crate::ledger::{Audit, Ledger};
use crate::percentiles;
use crate::source::{Pairs, kind_name};

/// All series with their numbers, in the order of their names.
pub(crate) fn all(shown: &Shown) -> String {
    let mut failing = Vec::new();
    let mut audits = 0_u64;
    let mut metrics = Vec::new();
    for metric in &shown.metrics {
        let mut rows = Vec::new();
        let mut key = String::new();
        metric.source.walk(&mut |pairs, series| {
            write_key(&mut key, &metric.name, pairs);
            let audit = series.audit(&mut Ledger::default());
            audits += u64::from(audit != Audit::Nothing);
            if let Audit::Fails { by } = audit {
                failing.push(json!({ "key": key, "by": by }));
            }
            let mut row = series.all();
            row["key"] = key.as_str().into();
            row["labels"] = labels(pairs);
            rows.push((key.clone(), row));
        });
        rows.sort_by(|(one, _), (other, _)| one.cmp(other));
        let rows: Vec<Value> = rows.into_iter().map(|(_, row)| row).collect();
        let mut described = describe(shown, metric);
        described["series"] = rows.into();
        metrics.push(described);
    }
    let mut all = head(shown);
    all["metrics"] = metrics.into();
    all["check"] = json!({ "audits": audits, "failing": failing });
    all.to_string()
}

/// One series; `None` if there is none of this key.
pub(crate) fn one(shown: &Shown, wanted: &str) -> Option<String> {
    let mut found = None;
    for metric in shown.metrics.iter().filter(|metric| wanted.starts_with(&metric.name)) {
        let mut key = String::new();
        metric.source.walk(&mut |pairs, series| {
            write_key(&mut key, &metric.name, pairs);
            if key == wanted {
                let audit = series.audit(&mut Ledger::default());
                let mut row = series.detail();
                row["key"] = wanted.into();
                row["labels"] = labels(pairs);
                row["metric"] = describe(shown, metric);
                row["check"] = match audit {
                    Audit::Nothing => Value::Null,
                    Audit::Holds | Audit::Pending => json!({ "holds": true }),
                    Audit::Fails { by } => json!({ "holds": false, "by": by }),
                };
                found = Some(row);
            }
        });
    }
    let mut one = head(shown);
    one["series"] = found?;
    Some(one.to_string())
}

fn head(shown: &Shown) -> Value {
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    json!({
        "service": shown.service,
        "epoch": shown.epoch,
        "age_ms": u64::try_from(shown.age().as_millis()).unwrap_or(u64::MAX),
        "time_ms": u64::try_from(time.as_millis()).unwrap_or(u64::MAX),
    })
}

fn describe(shown: &Shown, metric: &Named) -> Value {
    let unit = |name: &str| shown.is_duration(name).then_some("ns");
    let event = |(name, kind): &(&str, Kind)| {
        let mut event = json!({ "name": name, "kind": kind_name(*kind), "unit": unit(name) });
        if let Kind::Histogram(scale) = kind {
            event["scale"] = percentiles::scale(*scale);
        }
        event
    };
    json!({
        "name": metric.name,
        "help": metric.help,
        "form": metric.outline.form.name(),
        "unit": unit(&metric.name),
        "labels": metric.outline.labels,
        "events": metric.outline.events.iter().map(event).collect::<Vec<_>>(),
    })
}

fn labels(pairs: &dyn Pairs) -> Value {
    let mut labels = Map::new();
    pairs.each(&mut |name, value| _ = labels.insert(name.to_owned(), value.to_string().into()));
    labels.into()
}
