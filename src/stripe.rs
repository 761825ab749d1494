//! Which row a thread adds to, and how: a process decides this once.
//!
//! | strategy | where | an add is |
//! |---|---|---|
//! | [`per_core`] | Linux on x86-64, where glibc has registered threads for restartable sequences | a plain add to this core's row, in a sequence that the kernel restarts if it interrupts it |
//! | [`portable`] | everywhere | a plain add to the row that the thread has leased; or a locked one to the row that it was dealt |
//!
//! Portably, a window has three ways to know when a bucket's adds are over: see [`Strategy`].
//!
//! The decision is made at the first use and never changes. The pointer to each column holds it
//! ([`TaggedColumn`]), so that an add needs no further load: one bit of a pointer that it loads in
//! any case tells *per core, by concurrency id* from everything else.

use std::ptr::{NonNull, without_provenance_mut};

use crate::memory::column::Column;
use crate::reclaim::announced;
use crate::sync::{
    AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering, global, sized, thread_number,
};
use crate::thread_end;

mod lease;
pub(crate) mod live_bucket;
pub(crate) mod membarrier;
pub(crate) mod miss;
pub(crate) mod numbered;
pub(crate) mod open;
pub(crate) mod portable;
pub(crate) mod put;
pub(crate) mod rare;
pub(crate) mod ration;
pub(crate) mod retry;
pub(crate) mod take;
// One of three, with the same functions: the real one, the one for models, or none.
#[cfg_attr(windrow_per_core, path = "stripe/per_core_model.rs")]
#[cfg_attr(
    not(any(
        windrow_per_core,
        all(
            target_os = "linux",
            target_arch = "x86_64",
            target_pointer_width = "64", // not x32, where a pointer is half as long
            target_env = "gnu",
            not(any(loom, shuttle))
        )
    )),
    path = "stripe/per_core_absent.rs"
)]
pub(crate) mod per_core;

use numbered::UNAVAILABLE;
#[cfg(windrow_per_core)]
pub use per_core::run_on_second_core;
pub use retry::aborts;

/// A bank never has more rows than this: a read may come to visit each of them.
const MOST_ROWS: usize = 256;

/// Whether threads lease rows unless they are told not to: nobody has measured that elsewhere.
pub(crate) const LEASES_BY_DEFAULT: bool = cfg!(target_arch = "x86_64");

/// How many rows there are in a model, where loading the number would be one more step to explore;
/// zero elsewhere.
const MODEL_ROWS: usize = sized(0, 2);

/// How adds avoid sharing a cache line, and how a window knows that the adds to a bucket are over:
/// chosen once per process, at the first use.
///
/// For counters the last three are the same.
///
/// ```
/// // A counter, so that there has been a use.
/// windrow::Counter::new().increment();
/// println!("adds are striped {:?}", windrow::diagnostics::strategy());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Strategy {
    /// A plain add to the current core's own cell, in a restartable sequence: Linux on x86-64 with
    /// glibc 2.35 or newer. 1 to 2 ns, no locked instruction.
    PerCore,
    /// An add to the cell of the thread's row, 1 to 3 ns if the thread has leased the row (see
    /// [`leases`]), 2 to 4 if not. A window's add announces its bucket before, by plain stores, and
    /// whoever closes a bucket has the system interrupt all threads of the process: everywhere
    /// else, where the system does that (Linux 4.14 or newer, Windows).
    Portable,
    /// As `Portable`, but each add of a window has a fence of its own: where there is no such
    /// interruption.
    Fenced,
    /// As `Portable`, but each add of a window pins an epoch: where the environment asks for it, or
    /// the system has no room for what tells of a thread's end.
    Epochs,
}

global! {
    /// How many rows there are for cores, and in the second bank; zero until that is known.
    fn known_rows() -> AtomicUsize = AtomicUsize::new(0);
}

global! {
    /// How many rows the first bank has; zero until that is known.
    fn known_first_rows() -> AtomicUsize = AtomicUsize::new(0);
}

global! {
    /// Whether threads lease rows; false until that is known.
    fn leasing() -> AtomicBool = AtomicBool::new(false);
}

global! {
    /// Whether threads may have slots in which they announce buckets; false until that is known.
    fn announcing() -> AtomicBool = AtomicBool::new(false);
}

global! {
    /// One of the six below.
    fn state() -> AtomicU8 = AtomicU8::new(UNDECIDED);
}

const UNDECIDED: u8 = 0;
const DECIDING: u8 = 1;
const PER_CORE: u8 = 2;
const PORTABLE: u8 = 3;
const FENCED: u8 = 4;
const EPOCHS: u8 = 5;

/// Returns the strategy of this process. Chosen on the first call.
///
/// Three environment variables, read at the first use, serve comparisons and tests:
///
/// * `WINDROW_STRATEGY=portable` chooses what would be chosen if there were no restartable
///   sequences: [`Portable`](Strategy::Portable), or [`Fenced`](Strategy::Fenced) where the system
///   cannot interrupt all threads. `fenced` and `epochs` choose [`Fenced`](Strategy::Fenced) and
///   [`Epochs`](Strategy::Epochs). `cpu-id` numbers rows by processor, even where the kernel (6.3
///   and newer) offers numbers that are dense among the threads of the process.
/// * `WINDROW_ROWS`, a number from 1 to 256, limits the number of rows. By default there are as
///   many as the machine has cores. With fewer, some cores share a row, or use a cell that all of
///   them share.
/// * `WINDROW_LEASES`, `on` or `off`, says whether threads lease rows ([`leases`]).
///
/// The first use must not be in a handler of `pthread_atfork(3)`: it calls that function, which
/// waits for the handlers to end with musl, and with glibc before 2.36.
///
/// # Rows
///
/// Rows are *opened* as they are needed, and reads visit open rows alone. A row that is open stays
/// open. So a read grows with the cores that the process has used, and not with those that the
/// machine has. Per core there are as many open rows as threads have ever run at once (by processor
/// number: as the highest processor that has added says); portably, as many as threads that have
/// added have lived at once, up to twice as many as there are cores, and beyond these one for each
/// core, which threads share. (Where threads lease none: as many as threads have added, up to all.)
///
/// ```
/// use windrow::diagnostics::{Strategy, strategy};
///
/// println!("{:?}", strategy());
/// assert_eq!(strategy(), strategy());
/// ```
pub fn strategy() -> Strategy {
    loop {
        match decided() {
            Some(strategy) => return strategy,
            None => std::thread::yield_now(), // another thread is choosing: microseconds
        }
    }
}

/// The strategy, chosen on the first call; `None` while another thread, or the thread that a signal
/// handler has interrupted, is choosing. Callers do not wait; they use a shared cell.
pub(crate) fn decided() -> Option<Strategy> {
    if MODEL_ROWS != 0 {
        return Some(modelled());
    }
    // Acquire: pairs with the Release in `decide`; what the strategy found out is seen.
    match state().load(Ordering::Acquire) {
        UNDECIDED => decide(),
        DECIDING => None,
        PER_CORE => Some(Strategy::PerCore),
        PORTABLE => Some(Strategy::Portable),
        FENCED => Some(Strategy::Fenced),
        _ => Some(Strategy::Epochs),
    }
}

/// The strategy of a model's build.
fn modelled() -> Strategy {
    #[cfg(windrow_announced)]
    if WITH_FENCES.get() || std::env::var(VARIABLE).as_deref() == Ok("fenced") {
        return Strategy::Fenced;
    }
    if cfg!(windrow_per_core) {
        Strategy::PerCore
    } else if cfg!(windrow_announced) {
        Strategy::Portable
    } else {
        Strategy::Epochs
    }
}

#[cfg(windrow_announced)]
thread_local! {
    /// Whether models that this thread explores are of [`Strategy::Fenced`], where it would be
    /// [`Strategy::Portable`].
    pub(crate) static WITH_FENCES: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// The variable that names a strategy.
const VARIABLE: &str = "WINDROW_STRATEGY";

thread_number! {
    /// Not zero while this thread finds out what there is. What it allocates for that may be
    /// counted, too.
    FINDING_OUT
}

/// Finds out what there is, before it says that it decides: the loader's lock may be held by a
/// thread that waits for the decision (in a constructor of what it loads). So two threads may find
/// out the same at the same time.
#[cold]
fn decide() -> Option<Strategy> {
    if FINDING_OUT.with(|finding| finding.replace(1)) != 0 {
        return None;
    }
    let (decided, [rows, to_lease]) = find_out();
    thread_end::keep_code();
    // Relaxed: it decides which thread decides.
    let (order, failed) = (Ordering::Relaxed, Ordering::Relaxed);
    if state().compare_exchange(UNDECIDED, DECIDING, order, failed).is_ok() {
        let leases = to_lease > 0 && portable::prepare();
        known_rows().store(rows, Ordering::Relaxed);
        known_first_rows().store(if leases { to_lease } else { rows }, Ordering::Relaxed);
        leasing().store(leases, Ordering::Relaxed);
        announcing().store(announced::prepare(), Ordering::Relaxed);
        // Release: pairs with the Acquire in `decided`.
        state().store(decided, Ordering::Release);
    }
    FINDING_OUT.with(|finding| finding.set(0));
    self::decided()
}

/// The state to come, the number of rows, and of those to lease.
fn find_out() -> (u8, [usize; 2]) {
    let most = std::env::var("WINDROW_ROWS").ok().and_then(|rows| rows.parse().ok());
    let most = most.map(|rows: usize| rows.clamp(1, MOST_ROWS));
    let rows = cores().min(most.unwrap_or(MOST_ROWS));
    let decided = match std::env::var(VARIABLE).as_deref() {
        Ok("fenced") => FENCED,
        Ok("epochs") => EPOCHS,
        Ok("cpu-id") if per_core::detect(false) => PER_CORE,
        Ok("portable" | "cpu-id") => without_sequences(),
        _ if per_core::detect(true) => PER_CORE,
        _ => without_sequences(),
    };
    let leases = match std::env::var("WINDROW_LEASES").as_deref() {
        Ok("on") => true,
        Ok("off") => false,
        _ => LEASES_BY_DEFAULT,
    };
    // Not every thread that has counted goes on to: one that rests leaves a row to one that does
    // not.
    let to_lease = most.map_or((2 * rows).min(MOST_ROWS), |_| rows);
    (decided, [rows, if leases { to_lease } else { 0 }])
}

/// What is used where there are no restartable sequences.
fn without_sequences() -> u8 {
    if membarrier::is_offered() { PORTABLE } else { FENCED }
}

/// The strategy of a window. It asks the system for barriers, without which the end of a sequence
/// cannot be known; and on some processors a record is not seen as one. Then windows are portable,
/// while counters stay as they are.
pub(crate) fn of_windows() -> Strategy {
    match strategy() {
        Strategy::PerCore if per_core::pairs_are_whole() && membarrier::may_restart() => {
            Strategy::PerCore
        }
        Strategy::Epochs => Strategy::Epochs,
        _ if !may_announce() => Strategy::Epochs,
        Strategy::PerCore | Strategy::Portable if membarrier::may_fence() => Strategy::Portable,
        _ => Strategy::Fenced,
    }
}

/// Whether threads may have slots for announcements. The strategy is decided.
fn may_announce() -> bool {
    MODEL_ROWS != 0 || announcing().load(Ordering::Relaxed) // as in `rows`
}

/// How many cores the machine has. This thread may not be allowed on all of them, but other threads
/// may, and its own set can change. Not zero.
fn cores() -> usize {
    #[cfg(unix)]
    // SAFETY: it reads a setting of the system.
    let there = usize::try_from(unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) }).unwrap_or(0);
    #[cfg(not(unix))]
    let there = 0; // no `sysconf`
    match there {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        there => there,
    }
}

/// Whether threads lease rows, where a [`Strategy`] is portable: a thread that finds a row free at
/// its first add has it for itself, and adds to it without a locked instruction.
///
/// There are twice as many rows to lease as the machine has cores, so that threads which have
/// counted once and rest leave enough to others (256 at most; or as many as `WINDROW_ROWS` says, if
/// it is set). Each thread leases one at its first add, and gives it back when it ends. A thread
/// that finds none then shares a row with others as long as it lives, as all do where none is
/// leased, and adds by a locked instruction. (A thread that is killed by a raw `exit` system call
/// keeps its row.)
///
/// True on x86-64, and elsewhere with `WINDROW_LEASES=on` in the environment; nowhere with
/// `WINDROW_LEASES=off`, or where the system has no room for what tells of a thread's end, or
/// nothing that may be used in an allocator: on Windows, for one.
///
/// ```
/// assert_eq!(windrow::diagnostics::leases(), windrow::diagnostics::leases());
/// println!("threads lease rows: {}", windrow::diagnostics::leases());
/// ```
pub fn leases() -> bool {
    strategy();
    is_leasing()
}

/// As [`leases`]. The caller has a column, or claims one: so the strategy is decided.
fn is_leasing() -> bool {
    if MODEL_ROWS != 0 {
        return cfg!(windrow_announced);
    }
    leasing().load(Ordering::Relaxed) // as in `rows`
}

/// How many rows a segment of the arena has: those of one bank, or of two. The second bank follows
/// the first.
pub(crate) fn mapped_rows() -> usize {
    first_rows() + if is_leasing() { rows() } else { 0 }
}

/// How many rows the first bank has, open or not: as many as [`rows`], or as there are to lease. As
/// of those.
#[inline]
pub(crate) fn first_rows() -> usize {
    if MODEL_ROWS != 0 {
        return MODEL_ROWS;
    }
    known_first_rows().load(Ordering::Relaxed) // as in `rows`
}

/// How many rows there are for cores, and in the second bank, open or not. Never changes. The
/// caller has a column, or claims one: so the strategy is decided.
#[inline]
pub(crate) fn rows() -> usize {
    if MODEL_ROWS != 0 {
        return MODEL_ROWS;
    }
    // Relaxed: written before the decision, which the caller, or the thread that gave it the
    // column, has seen.
    known_rows().load(Ordering::Relaxed)
}

/// A column and how to add to it, in one word: a counter keeps one.
///
/// Cells are eight bytes, so the lowest three bits of a column's address are free. An odd word is a
/// column with per-core adds by concurrency id; [`portable::TAG`] is the tag of one with portable
/// adds; one without a tag has per-core adds by the processor's number. Zero: no column yet;
/// [`UNAVAILABLE`]: the arena was full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TaggedColumn {
    PerCore(per_core::PerCoreColumn<per_core::ById>),
    PerProcessor(per_core::PerCoreColumn<per_core::ByProcessor>),
    Portable(Column),
    Unavailable,
    Unclaimed,
}

/// Whether a word is that of a column.
#[inline]
pub(crate) fn is_column(word: *mut AtomicU64) -> bool {
    word.addr() > UNAVAILABLE
}

impl TaggedColumn {
    /// # Safety
    /// `word` is null or from [`encode`](Self::encode).
    #[inline]
    pub(crate) unsafe fn decode(word: *mut AtomicU64) -> TaggedColumn {
        if let Some(column) = per_core::by_id(word) {
            TaggedColumn::PerCore(column)
        } else if word.addr() & portable::TAG != 0 {
            let first = word.wrapping_byte_sub(portable::TAG);
            // SAFETY: `encode` makes such a word from a column's cell in row 0.
            TaggedColumn::Portable(unsafe { Column::new(NonNull::new_unchecked(first)) })
        } else if let Some(column) = per_core::by_processor(word) {
            TaggedColumn::PerProcessor(column)
        } else if word.is_null() {
            TaggedColumn::Unclaimed
        } else {
            TaggedColumn::Unavailable
        }
    }

    /// The word for a column, or for none.
    pub(crate) fn encode(column: Option<Column>, strategy: Strategy) -> *mut AtomicU64 {
        match (column, strategy) {
            (Some(column), Strategy::PerCore) => per_core::tag(column),
            (Some(column), _) => column.first().as_ptr().wrapping_byte_add(portable::TAG),
            (None, _) => without_provenance_mut(UNAVAILABLE),
        }
    }

    /// The column, of any strategy.
    #[inline]
    pub(crate) fn column(self) -> Option<Column> {
        match self {
            TaggedColumn::PerCore(column) => Some(column.column()),
            TaggedColumn::PerProcessor(column) => Some(column.column()),
            TaggedColumn::Portable(column) => Some(column),
            TaggedColumn::Unavailable | TaggedColumn::Unclaimed => None,
        }
    }
}
