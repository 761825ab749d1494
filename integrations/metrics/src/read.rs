//! From the registry to a snapshot.

use std::sync::Arc;

use crate::cell::Cell;
use crate::counter::CounterCell;
use crate::exported::{DROPPED, REFUSED, UNRECORDED, recommended};
use crate::gauge::GaugeCell;
use crate::histogram::{HistogramCell, Told};
use crate::kind::Kind;
use crate::listing::Listed;
use crate::names::{Labels, with_global};
use crate::problem::Problem;
use crate::registry::Registry;
use crate::snapshot::{Family, Series, Snapshot, Value};

/// A family that has no exported name yet, and what is known about it.
struct Found {
    /// The name without suffixes.
    name: Arc<str>,
    order: usize,
    family: Family,
    /// Two of its names, if it has several.
    merged: Option<[String; 2]>,
    repeated: Option<String>,
    /// The labels of a series that two keys share.
    shared: Option<Labels>,
    told: Told,
}

impl Registry {
    /// Reads all numbers. No key waits for it.
    pub(crate) fn snapshot(&self) -> Snapshot {
        self.let_idle_leave();
        let mut found = Registry::found(&self.listed::<CounterCell>());
        found.extend(Registry::found(&self.listed::<GaugeCell>()));
        found.extend(Registry::found(&self.listed::<HistogramCell>()));
        // A name goes to the metric that came first.
        found.sort_unstable_by_key(|found| found.order);
        let names = &mut *self.names();
        names.begin();
        let (mut families, mut problems) = (Vec::new(), Vec::new());
        for mut found in found {
            let (kind, unit) = (found.family.kind, found.family.unit);
            let wants = || {
                if self.config.recommended_naming {
                    recommended(&found.name, kind, unit)
                } else {
                    found.name.to_string()
                }
            };
            let (exported, wanted) = names.give(kind, &found.name, wants);
            found.family.name = exported;
            problems.extend(found.problems(wanted));
            families.push(found.family);
        }
        let refused = Kind::ALL.map(|kind| Problem::Refused { kind, calls: self.refused(kind) });
        problems.extend(refused);
        let dropped = |kind| Problem::Dropped { kind, updates: self.dropped(kind).count() };
        problems.extend(Kind::ALL.map(dropped));
        problems.retain(|problem| {
            !matches!(
                problem,
                Problem::Refused { calls: 0, .. } | Problem::Dropped { updates: 0, .. }
            )
        });
        families.extend(self.own(&problems));
        let by_name =
            |one: &Family, other: &Family| (one.kind, &one.name).cmp(&(other.kind, &other.name));
        families.sort_unstable_by(by_name);
        Snapshot { families, problems }
    }

    /// Returns the families of one kind.
    fn found<T: Cell>(listed: &[Listed<T>]) -> Vec<Found> {
        let of_one = |one: &Listed<T>, next: &Listed<T>| one.head.name == next.head.name;
        listed.chunk_by(of_one).filter_map(|family| Registry::family(family)).collect()
    }

    fn family<T: Cell>(listed: &[Listed<T>]) -> Option<Found> {
        let Listed { head, description, .. } = listed.last()?; // the newest look
        let unit = description.as_ref().and_then(|description| description.0);
        let help = description.as_ref().map(|description| description.1.to_string());
        let series = |one: &Listed<T>| Series {
            labels: Arc::clone(&one.labels),
            value: T::read(&one.cells),
        };
        let series = listed.iter().map(series).collect();
        let cells = listed.iter().flat_map(|one| one.cells.iter());
        Some(Found {
            name: Arc::clone(&head.name),
            order: head.order,
            family: Family { name: String::new(), kind: T::KIND, unit, help, series },
            merged: head.also_called.get().map(|other| [head.called.clone(), other.clone()]),
            repeated: head.repeated.get().cloned(),
            shared: head.shared.get().cloned(),
            told: cells.fold(Told::default(), |all, cell| {
                let told = cell.told();
                Told {
                    unrecorded: all.unrecorded + told.unrecorded,
                    below_zero: all.below_zero + told.below_zero,
                }
            }),
        })
    }

    /// Returns the recorder's metrics about itself.
    fn own(&self, problems: &[Problem]) -> Vec<Family> {
        let one = |name: &str, help: &str, told: fn(&Problem) -> Option<(&str, String, u64)>| {
            let series = |(label, value, n): (&str, String, u64)| {
                let own = [(label.to_owned(), value)].into_iter();
                let labels = with_global(own, Kind::Counter, &self.config.global_labels);
                Series { labels, value: Value::Counter(n) }
            };
            let series: Vec<Series> = problems.iter().filter_map(told).map(series).collect();
            let (name, help) = (name.to_owned(), Some(help.to_owned()));
            Family { name, kind: Kind::Counter, unit: None, help, series }
        };
        let refused =
            "Calls that had a new key beyond the limit of keys, or a key that is too long.";
        let refused = one(REFUSED, refused, |problem| match problem {
            Problem::Refused { kind, calls } => Some(("kind", kind.to_string(), *calls)),
            _ => None,
        });
        let unrecorded = "Values that no sum can hold: not finite, or beyond 2^53.";
        let unrecorded = one(UNRECORDED, unrecorded, |problem| match problem {
            Problem::Unrecorded { name, values } => Some(("histogram", name.clone(), *values)),
            _ => None,
        });
        let dropped = "Updates that are in no series, because their key was refused.";
        let dropped = one(DROPPED, dropped, |problem| match problem {
            Problem::Dropped { kind, updates } => Some(("kind", kind.to_string(), *updates)),
            _ => None,
        });
        let mut own = vec![refused, dropped, unrecorded];
        own.retain(|family| !family.series.is_empty());
        own
    }
}

impl Found {
    /// Returns the problems of the family, once its exported name is known. It would have had the
    /// name `wanted`.
    fn problems(&mut self, wanted: String) -> impl Iterator<Item = Problem> + use<> {
        let Family { kind, name, .. } = &self.family;
        let (kind, name) = (*kind, name.clone());
        let renamed = (wanted != name).then(|| Problem::Renamed {
            kind,
            name: wanted,
            exported: name.clone(),
        });
        let merged = self.merged.take();
        let merged = merged.map(|names| Problem::Merged { names, exported: name.clone() });
        let repeated = self.repeated.take();
        let repeated = repeated.map(|label| Problem::RepeatedLabel { name: name.clone(), label });
        let shared = self.shared.take();
        let shared = shared
            .map(|labels| Problem::MergedLabels { name: name.clone(), labels: labels.to_vec() });
        let Told { unrecorded, below_zero } = self.told;
        let below_zero =
            (below_zero > 0).then(|| Problem::BelowZero { name: name.clone(), values: below_zero });
        let unrecorded =
            (unrecorded > 0).then_some(Problem::Unrecorded { name, values: unrecorded });
        [renamed, merged, shared, repeated, unrecorded, below_zero].into_iter().flatten()
    }
}
