//! The registry: which key counts in which cell.
//!
//! Two maps of each kind: by key, which finds the cell that a key adds to (see `index`); and by
//! exported name and labels, which an export goes through. Keys that are the same for Prometheus
//! (`http.requests` and `http_requests`) share a series. A counter has a cell for each of its keys,
//! which are added up, so that `absolute` knows what its key has counted. The keys of a gauge or
//! histogram share its one cell.
//!
//! The map by name is a tree of trees: it compares names and labels, so those chosen for their
//! hashes gain nothing. The number and the length of keys are limited, which limits a comparison.
//!
//! An export takes references to the series, a few at a time (see `listing`): so no key waits for
//! it. Of several locks, that of the state is taken first, then that of a shard of the index.

use std::collections::BTreeMap;
use std::fmt::{self, Debug, Formatter};
use std::sync::atomic::Ordering;
use std::sync::{
    Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
};
use std::time::Instant;

use metrics::atomics::AtomicU64;
use metrics::{Key, SharedString, Unit};
use windrow::Counter;

use crate::builder::Builder;
use crate::cell::Cell;
use crate::counter::CounterCell;
use crate::exported::Names;
use crate::gauge::GaugeCell;
use crate::histogram::HistogramCell;
use crate::index::Index;
use crate::kind::Kind;
use crate::names::{self, Labels, metric_name};
use crate::own::{Dropped, Own};

/// All metrics of a recorder.
pub(crate) struct Registry {
    /// See [`number`](Registry::number).
    number: AtomicU64,
    pub(crate) config: Builder,
    counters: Index<CounterCell>,
    gauges: Index<GaugeCell>,
    histograms: Index<HistogramCell>,
    state: RwLock<State>,
    /// The exported names, used by exports only.
    names: Mutex<Names>,
    /// Calls whose key was refused, by kind.
    pub(crate) refused: [Counter; Kind::ALL.len()],
    /// Updates that are in no series, by kind.
    pub(crate) dropped: [Arc<Dropped>; Kind::ALL.len()],
    /// The time of the last look for idle keys.
    pub(crate) looked: Mutex<Instant>,
}

/// The state that new keys change, and exports go through.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) counters: Table<CounterCell>,
    pub(crate) gauges: Table<GaugeCell>,
    pub(crate) histograms: Table<HistogramCell>,
    /// The number of keys, of all kinds.
    pub(crate) keys: usize,
    /// The number of keys and refuges that ever came, which numbers the families.
    came: usize,
    /// The entries by exported name, without suffixes.
    pub(crate) descriptions: BTreeMap<String, Description>,
}

/// A metric's unit and its help.
pub(crate) type Description = Arc<(Option<Unit>, SharedString)>;

/// The metrics of one kind, by exported name, without suffixes.
pub(crate) type Table<T> = BTreeMap<Arc<str>, Family<T>>;

/// The series of one name.
pub(crate) struct Family<T> {
    pub(crate) head: Arc<Head>,
    pub(crate) keys: usize,
    /// The cells of the keys, by labels.
    pub(crate) series: BTreeMap<Labels, KeyCells<T>>,
    /// The cell of keys that were refused.
    pub(crate) overflow: Option<Arc<T>>,
}

/// The cells of one series' keys.
pub(crate) type KeyCells<T> = Arc<[Arc<T>]>;

/// The facts about a name.
#[derive(Default)]
pub(crate) struct Head {
    /// The exported name, without suffixes.
    pub(crate) name: Arc<str>,
    /// Greater than that of all earlier names, of all kinds.
    pub(crate) order: usize,
    /// The name of the first key, and the first one of another name.
    pub(crate) called: String,
    pub(crate) also_called: OnceLock<String>,
    /// A label that a key had twice.
    pub(crate) repeated: OnceLock<String>,
    /// The labels of a series that has two keys of one name.
    pub(crate) shared: OnceLock<Labels>,
}

/// Selects the index and the tables of a kind.
pub(crate) trait Tabled: Cell {
    fn index(registry: &Registry) -> &Index<Self>;

    fn table(state: &State) -> &Table<Self>;

    fn table_mut(state: &mut State) -> &mut Table<Self>;
}

macro_rules! tabled {
    ($($cell:ty: $kind:ident),+) => {
        $(impl Tabled for $cell {
            fn index(registry: &Registry) -> &Index<$cell> {
                &registry.$kind
            }

            fn table(state: &State) -> &Table<$cell> {
                &state.$kind
            }

            fn table_mut(state: &mut State) -> &mut Table<$cell> {
                &mut state.$kind
            }
        })+
    };
}

tabled! { CounterCell: counters, GaugeCell: gauges, HistogramCell: histograms }

/// The cell in which a key counts.
pub(crate) enum Target<T> {
    /// A cell of its series, by a handle of the thread's own.
    Own(Arc<Own<T>>),
    /// A cell of its series, permanently.
    Series(Arc<T>),
    /// The cell shared by all refused keys.
    Overflow(Arc<T>),
    /// No cell: the updates are dropped.
    Nowhere,
}

/// The low bits of a registry's number, behind those that tell it from other registries.
pub(crate) const EPOCH_BITS: u32 = 32;

/// The label that marks the series of refused keys.
const OVERFLOW: (&str, &str) = ("overflow", "true");

impl Registry {
    pub(crate) fn new(config: Builder) -> Registry {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Registry {
            number: AtomicU64::new(NEXT.fetch_add(1 << EPOCH_BITS, Ordering::Relaxed)),
            counters: Index::new(config.keys),
            gauges: Index::new(config.keys),
            histograms: Index::new(config.keys),
            state: RwLock::default(),
            names: Mutex::new(Names::new(config.recommended_naming)),
            refused: Default::default(),
            dropped: Default::default(),
            looked: Mutex::new(Instant::now()),
            config,
        }
    }

    /// Returns a number that no other registry of this process has or ever had. It changes after
    /// each look for idle keys: so threads look up each key anew, and used keys are noticed.
    #[inline]
    pub(crate) fn number(&self) -> u64 {
        self.number.load(Ordering::Relaxed) // nothing but a number
    }

    pub(crate) fn next_number(&self) {
        self.number.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn names(&self) -> MutexGuard<'_, Names> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the cell in which `key` counts; a new key gets one.
    #[inline]
    pub(crate) fn target<T: Tabled>(&self, key: &Key) -> Target<T> {
        let index = T::index(self);
        let hash = index.hash(key);
        match index.shard(hash).find(hash, key) {
            Some(cell) => Target::Series(cell),
            None => self.other_target(hash, key),
        }
    }

    /// Returns where a key counts that was not known.
    #[cold]
    fn other_target<T: Tabled>(&self, hash: u64, key: &Key) -> Target<T> {
        let state = self.read();
        let name = metric_name(key.name());
        if self.is_refused::<T>(&state, key, &name)
            && let Some(target) = state.refuge(&name)
        {
            self.refused[T::KIND as usize].increment();
            return target;
        }
        drop(state);
        self.new_target(hash, key, &name)
    }

    fn new_target<T: Tabled>(&self, hash: u64, key: &Key, name: &str) -> Target<T> {
        let state = &mut *self.write();
        let shard = T::index(self).shard(hash);
        if let Some(cell) = shard.find(hash, key) {
            return Target::Series(cell); // another thread was faster
        }
        let global = &self.config.global_labels;
        if self.is_refused::<T>(state, key, name) {
            self.refused[T::KIND as usize].increment();
            if let Some(target) = state.refuge(name) {
                return target; // the same
            }
            let refuge = state.refuge_name::<T>(name);
            let make = || T::new(&self.config.buckets, &refuge);
            let family = state.family::<T>(&refuge, &refuge);
            let (label, value) = OVERFLOW;
            let own = [(label.to_owned(), value.to_owned())].into_iter();
            let cell = family.add(names::with_global(own, T::KIND, global), make);
            family.overflow = Some(Arc::clone(&cell));
            return Target::Overflow(cell);
        }
        let (labels, repeated) = names::labels(key, T::KIND, global);
        let family = state.family::<T>(name, key.name());
        let common = family.series.contains_key(&labels).then(|| Arc::clone(&labels));
        family.head.note(key.name(), repeated, common);
        family.keys += 1;
        let cell = family.add(labels, || T::new(&self.config.buckets, name));
        let (key, known) = (key.to_retained(), Arc::clone(&cell));
        shard.write().insert(hash, key, known);
        state.keys += 1;
        Target::Series(cell)
    }

    /// Returns whether a new key called `name` is refused.
    fn is_refused<T: Tabled>(&self, state: &State, key: &Key, name: &str) -> bool {
        let of_name = T::table(state).get(name).map_or(0, |family| family.keys);
        state.keys >= self.config.keys
            || of_name >= self.config.keys_per_name
            || names::bytes(key) > self.config.key_bytes
    }

    /// Describes the metrics called `name`, unless they are described already. The number of
    /// descriptions has the same limit as that of keys.
    pub(crate) fn describe(&self, name: &str, unit: Option<Unit>, text: SharedString) {
        let exported = metric_name(name);
        let is_vain = |state: &State| {
            state.descriptions.len() >= self.config.keys
                || name.len() > self.config.key_bytes
                || state.descriptions.contains_key(&exported)
        };
        if is_vain(&self.read()) {
            return;
        }
        let state = &mut *self.write();
        if !is_vain(state) {
            state.descriptions.insert(exported, Arc::new((unit, text)));
        }
    }
}

/// Shows the number of keys.
impl Debug for Registry {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry").field("keys", &self.read().keys).finish_non_exhaustive()
    }
}

impl State {
    fn family<T: Tabled>(&mut self, name: &str, called: &str) -> &mut Family<T> {
        self.came += 1;
        let order = self.came;
        T::table_mut(self).entry(name.into()).or_insert_with_key(|name| {
            let (name, called) = (Arc::clone(name), called.to_owned());
            let head = Arc::new(Head { name, order, called, ..Head::default() });
            Family { head, keys: 0, series: BTreeMap::new(), overflow: None }
        })
    }

    /// Returns where a refused key called `name` counts, if that is known.
    fn refuge<T: Tabled>(&self, name: &str) -> Option<Target<T>> {
        if T::KIND == Kind::Gauge {
            return Some(Target::Nowhere); // the last value of many gauges would mean nothing
        }
        let family = T::table(self).get(&*self.refuge_name::<T>(name))?;
        family.overflow.clone().map(Target::Overflow)
    }

    /// Returns the family in which a refused key called `name` counts: its own, if there is one.
    fn refuge_name<T: Tabled>(&self, name: &str) -> String {
        if T::table(self).contains_key(name) {
            name.to_owned()
        } else {
            format!("windrow_metrics_overflow_{}", T::KIND)
        }
    }
}

impl Head {
    /// Records the problems of a new key, whose series may be `shared` with an earlier key. The
    /// first record of each stays.
    fn note(&self, called: &str, repeated: Option<String>, shared: Option<Labels>) {
        if self.called != called {
            self.also_called.get_or_init(|| called.to_owned());
        }
        // Where there are two names, the report of these covers their series.
        if let Some(labels) = shared
            && self.also_called.get().is_none()
        {
            self.shared.get_or_init(|| labels);
        }
        if let Some(label) = repeated {
            self.repeated.get_or_init(|| label);
        }
    }
}

impl<T: Cell> Family<T> {
    /// Returns a cell for one more key of the series with these labels.
    fn add(&mut self, labels: Labels, make: impl FnOnce() -> T) -> Arc<T> {
        let cells = self.series.entry(labels).or_insert_with(|| Arc::new([]));
        if let Some(cell) = cells.last().filter(|_| !T::EACH_KEY_ITS_OWN) {
            return Arc::clone(cell);
        }
        let cell = Arc::new(make());
        *cells = cells.iter().chain([&cell]).cloned().collect();
        cell
    }
}
