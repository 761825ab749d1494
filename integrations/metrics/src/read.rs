//! From the registry to a snapshot.

use std::sync::Arc;

use windrow::Counter;

use crate::cell::Cell;
use crate::counter::CounterCell;
use crate::exported::{DROPPED, OWN, REFUSED, UNRECORDED};
use crate::gauge::GaugeCell;
use crate::histogram::{HistogramCell, Told};
use crate::kind::Kind;
use crate::listing::Listed;
use crate::names::with_global;
use crate::problem::Problem;
use crate::registry::{Head, Registry};
use crate::snapshot::{Family, Series, Snapshot, Value};

/// A family that has no exported name yet, and what is known about it.
struct Found {
    head: Arc<Head>,
    family: Family,
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
        found.sort_unstable_by_key(|found| found.head.order);
        let names = &mut *self.names();
        names.begin();
        let (mut families, mut problems) = (Vec::new(), Vec::new());
        for mut found in found {
            let (name, kind, unit) = (&found.head.name, found.family.kind, found.family.unit);
            let (exported, wanted) = names.give(kind, name, unit);
            found.family.name = exported;
            problems.extend(found.problems(wanted));
            families.push(found.family);
        }
        let counted = |counts: [u64; 3]| Kind::ALL.into_iter().zip(counts).filter(|(_, n)| *n > 0);
        let refused = counted(self.refused.each_ref().map(Counter::lifetime));
        problems.extend(refused.map(|(kind, calls)| Problem::Refused { kind, calls }));
        let dropped = counted(self.dropped.each_ref().map(|dropped| dropped.0.lifetime()));
        problems.extend(dropped.map(|(kind, updates)| Problem::Dropped { kind, updates }));
        families.extend(self.own(&problems));
        families.sort_unstable_by(|one, other| {
            one.kind.cmp(&other.kind).then_with(|| one.name.cmp(&other.name))
        });
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
        let family = Family { name: String::new(), kind: T::KIND, unit, help, series };
        let told = || listed.iter().flat_map(|one| one.cells.iter()).map(|cell| cell.told());
        let unrecorded = told().map(|told| told.unrecorded).sum();
        let below_zero = told().map(|told| told.below_zero).sum();
        Some(Found { head: Arc::clone(head), family, told: Told { unrecorded, below_zero } })
    }

    /// Returns the recorder's metrics about itself: those that have counted.
    fn own(&self, problems: &[Problem]) -> Vec<Family> {
        let told = |problem: &Problem| match problem {
            Problem::Refused { kind, calls } => Some((REFUSED, "kind", kind.to_string(), *calls)),
            Problem::Dropped { kind, updates } => {
                Some((DROPPED, "kind", kind.to_string(), *updates))
            }
            Problem::Unrecorded { name, values } => {
                Some((UNRECORDED, "histogram", name.clone(), *values))
            }
            _ => None,
        };
        let series = |(_, label, value, n): (&str, &str, String, u64)| {
            let own = [(label.to_owned(), value)].into_iter();
            let labels = with_global(own, Kind::Counter, &self.config.global_labels);
            Series { labels, value: Value::Counter(n) }
        };
        let family = |&(name, help): &(&str, &str)| {
            let of_it = problems.iter().filter_map(told).filter(|(own, ..)| *own == name);
            let series: Vec<Series> = of_it.map(series).collect();
            let (name, help) = (name.to_owned(), Some(help.to_owned()));
            Family { name, kind: Kind::Counter, unit: None, help, series }
        };
        OWN.iter().map(family).filter(|family| !family.series.is_empty()).collect()
    }
}

impl Found {
    /// Returns the problems of the family, once its exported name is known. It would have had the
    /// name `wanted`.
    fn problems(&self, wanted: String) -> Vec<Problem> {
        let Found { head, family: Family { kind, name, .. }, told } = self;
        let name = || name.clone();
        let mut problems = Vec::new();
        if wanted != name() {
            problems.push(Problem::Renamed { kind: *kind, name: wanted, exported: name() });
        }
        if let Some(other) = head.also_called.get() {
            let names = [head.called.clone(), other.clone()];
            problems.push(Problem::Merged { names, exported: name() });
        }
        if let Some(labels) = head.shared.get() {
            problems.push(Problem::MergedLabels { name: name(), labels: labels.to_vec() });
        }
        if let Some(label) = head.repeated.get() {
            problems.push(Problem::RepeatedLabel { name: name(), label: label.clone() });
        }
        if told.unrecorded > 0 {
            problems.push(Problem::Unrecorded { name: name(), values: told.unrecorded });
        }
        if told.below_zero > 0 {
            problems.push(Problem::BelowZero { name: name(), values: told.below_zero });
        }
        problems
    }
}
