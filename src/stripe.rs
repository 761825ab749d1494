//! The strategies of striping, that is, of sharding over cores: the row to which a thread adds, and
//! how it adds. A process chooses one, once.
//!
//! | strategy | platform | an add is |
//! |---|---|---|
//! | [`per_core`] | Linux on x86-64 and arm64, with glibc | a plain add to this core's row |
//! | [`portable`] | all | a plain add to a leased row, or a locked one to a dealt row |
//!
//! Per core, an add is a restartable sequence, which the kernel restarts if it interrupts it; glibc
//! has registered the threads for that. A leased row belongs to one thread, a dealt one to several.
//!
//! In the portable strategy, a window has three ways to learn that a bucket's adds are over: see
//! [`Strategy`].
//!
//! The decision is made at the first use and never changes. The pointer to each column contains it
//! (see [`column_word`]), so that an add needs no further load: one bit of a pointer that it loads
//! in any case distinguishes *per core, by concurrency id* from all other ways.

use crate::reclaim::announced;
use crate::sync::{AtomicBool, AtomicU8, Ordering, global, thread_number};
use crate::thread_end;

// Columns, and how one is written.
pub(crate) mod column_word;
pub(crate) mod column_write;
pub(crate) mod live_bucket;
pub(crate) mod ration;
pub(crate) mod ration_use;

// Rows, and whose they are.
mod banks;
mod cores;
mod lease;
pub(crate) mod open_rows;
pub(crate) mod row_numbers;
mod settings;
pub(crate) mod shard_choice;

// The strategies, and what they need.
pub(crate) mod branch_hint;
pub(crate) mod membarrier;
pub(crate) mod misses;
pub(crate) mod portable;
pub(crate) mod retries;
// One of three, with the same functions: the real one, the one for models, or none.
#[cfg_attr(windrow_per_core, path = "stripe/per_core_model.rs")]
#[cfg_attr(
    not(any(
        windrow_per_core,
        all(
            target_os = "linux",
            any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")),
            target_pointer_width = "64", // not x32, where a pointer is half as long
            target_env = "gnu",
            not(any(loom, shuttle))
        )
    )),
    path = "stripe/per_core_absent.rs"
)]
pub(crate) mod per_core;

use banks::{LEASES_BY_DEFAULT, MODEL_ROWS, is_leasing};
pub(crate) use banks::{first_rows, mapped_rows, rows};
#[cfg(windrow_per_core)]
pub use per_core::run_on_second_core;
pub use retries::aborts;
use settings::{MOST_ROWS, Settings, Wish};

/// The strategy by which adds avoid contention on a cache line, and by which a window learns that
/// the adds to a bucket are over. Chosen once for each process, at the first use.
///
/// For counters the last three do not differ.
///
/// ```
/// // The first add chooses the strategy.
/// windrow::Counter::new().increment();
/// println!("adds are striped {:?}", windrow::diagnostics::strategy());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Strategy {
    /// A plain add to the current core's own cell, in a restartable sequence: Linux on x86-64 and
    /// arm64 with glibc 2.35 or newer. 1 to 2 ns on x86-64, no locked instruction.
    PerCore,
    /// An add to the cell of the thread's row, 1 to 3 ns if the thread has leased the row (no other
    /// thread writes it until this one ends), 2 to 4 if threads share it. A window's add announces
    /// its bucket first, by plain stores, and a thread that closes a bucket lets the system
    /// interrupt all threads of the process. Chosen without restartable sequences, where the system
    /// can do that (Linux 4.14 or newer, Windows).
    Portable,
    /// Like `Portable`, but each add of a window has a fence of its own. Chosen where the system
    /// cannot interrupt all threads.
    Fenced,
    /// Like `Portable`, but each add of a window pins an epoch. Chosen if the environment variable
    /// demands it, or if the system has no free thread-local key to report a thread's end.
    Epochs,
}

global! {
    /// True if threads may have slots in which they announce buckets; false until that is known.
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
/// Three environment variables, read at the first use, are for comparisons and tests:
///
/// * `WINDROW_STRATEGY=portable` chooses as if there were no restartable sequences:
///   [`Portable`](Strategy::Portable), or [`Fenced`](Strategy::Fenced) where the system cannot
///   interrupt all threads. `fenced` and `epochs` choose [`Fenced`](Strategy::Fenced) and
///   [`Epochs`](Strategy::Epochs). `cpu-id` numbers rows by processor, even where the kernel (6.3
///   and newer) offers numbers that are dense among the threads of the process.
/// * `WINDROW_ROWS`, a number from 1 to 256, limits the number of rows. The default is the number
///   of the machine's cores. With fewer rows, cores without a row of their own share
///   others, up to the same number; for windows they share cells.
/// * `WINDROW_LEASES`, `on` or `off`, decides whether each thread leases a row for itself as
///   long as there is a free one, or all share rows. The default is `on` for x86-64 and arm64.
///
/// The first use writes one line on standard error if one of these has another value, or if there
/// is another variable whose name begins with `WINDROW_`.
///
/// The first use must not be in a handler of `pthread_atfork(3)`, because it calls that function,
/// which with musl, and with glibc before 2.36, waits for the handlers to end.
///
/// # Rows
///
/// Rows are *opened* as they are needed, and reads visit only open rows. An open row stays open. So
/// the cost of a read grows with the cores that the process has used, not with those of the
/// machine. In the per-core strategy, the number of open rows is the largest number of threads that
/// ever ran at the same time (by processor number: the number of the highest processor that has
/// added). In the portable strategy, it is the largest number of adding threads that lived at the
/// same time, up to twice the number of cores, and beyond that one shared row for each core.
/// (Without leases: the number of threads that have added, up to the number of rows.)
///
/// ```
/// use windrow::diagnostics::{Strategy, strategy};
///
/// println!("{:?}", strategy());
/// assert_eq!(strategy(), strategy());
/// ```
#[inline]
pub fn strategy() -> Strategy {
    loop {
        match decided() {
            Some(strategy) => return strategy,
            None => std::thread::yield_now(), // another thread is choosing: microseconds
        }
    }
}

/// Returns the strategy, which the first call chooses; `None` while another thread, or the thread
/// that a signal handler has interrupted, is choosing. Callers do not wait; they use a shared cell.
pub(crate) fn decided() -> Option<Strategy> {
    if MODEL_ROWS != 0 {
        return Some(modelled());
    }
    // Acquire: pairs with the Release in `decide`, so the data that the strategy has detected is
    // visible.
    match state().load(Ordering::Acquire) {
        UNDECIDED => decide(),
        DECIDING => None,
        PER_CORE => Some(Strategy::PerCore),
        PORTABLE => Some(Strategy::Portable),
        FENCED => Some(Strategy::Fenced),
        _ => Some(Strategy::Epochs),
    }
}

/// Returns the strategy of a model's build.
fn modelled() -> Strategy {
    #[cfg(windrow_announced)]
    if WITH_FENCES.get() || Settings::read().wish == Wish::Fenced {
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
    /// True if models that this thread explores are of [`Strategy::Fenced`], where it would be
    /// [`Strategy::Portable`].
    pub(crate) static WITH_FENCES: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

thread_number! {
    /// Not zero while this thread detects the platform. The allocator may count what it allocates
    /// for that.
    FINDING_OUT
}

/// Detects the platform before it marks the state as deciding, because a thread that waits for the
/// decision may hold the loader's lock (in a constructor of an object that it loads). So two
/// threads may detect the same at the same time.
#[cold]
fn decide() -> Option<Strategy> {
    if FINDING_OUT.with(|finding| finding.replace(1)) != 0 {
        return None;
    }
    let found = find_out();
    thread_end::keep_code();
    // Relaxed: it decides which thread decides.
    let (order, failed) = (Ordering::Relaxed, Ordering::Relaxed);
    let decides = state().compare_exchange(UNDECIDED, DECIDING, order, failed).is_ok();
    if decides {
        let leases = found.to_lease > 0 && portable::prepare();
        let [first, second] =
            if leases { [found.to_lease, found.rows] } else { [found.rows, found.shared] };
        banks::decide(found.rows, [first, second], leases);
        announcing().store(announced::prepare(), Ordering::Relaxed);
        // Release: pairs with the Acquire in `decided`.
        state().store(found.state, Ordering::Release);
        settings::complain(); // now that no thread waits for the decision
    }
    FINDING_OUT.with(|finding| finding.set(0));
    self::decided()
}

/// The answers of the platform and of the environment.
struct Found {
    /// The next state.
    state: u8,
    /// The number of rows for cores.
    rows: usize,
    /// The number of rows to lease; zero if threads lease none.
    to_lease: usize,
    /// The number of rows that cores without a row of their own share, if threads lease none.
    shared: usize,
}

fn find_out() -> Found {
    let settings = Settings::read();
    let cores = cores::count();
    let rows = cores.min(settings.most_rows.unwrap_or(MOST_ROWS));
    let state = match settings.wish {
        Wish::Fenced => FENCED,
        Wish::Epochs => EPOCHS,
        Wish::Any if per_core::detect(true) => PER_CORE,
        Wish::ByProcessor if per_core::detect(false) => PER_CORE,
        Wish::Any | Wish::ByProcessor | Wish::Portable => without_sequences(),
    };
    // Where windows are per core too, no thread would lease a row.
    let leases = settings.leases.unwrap_or(LEASES_BY_DEFAULT)
        && !(state == PER_CORE && windows_can_be_per_core());
    // Not every thread that has counted continues to: a resting one leaves a row to an active one.
    let to_lease = settings.most_rows.map_or((2 * rows).min(MOST_ROWS), |_| rows);
    // For cores beyond the rows, and for those that may come: any number, if there is no list.
    let without = || cores::end().map_or(rows, |end| end.max(cores) - rows);
    let shared = if state == PER_CORE { without().min(rows) } else { 0 };
    Found { state, rows, to_lease: if leases { to_lease } else { 0 }, shared }
}

/// Returns whether [`of_windows`] will probably be per core. Asks whether the kernel has the
/// barriers, but does not register the process for them: without windows it never needs them. If
/// the kernel refuses to register it later, windows are portable all the same, and threads share
/// the rows to which they add.
fn windows_can_be_per_core() -> bool {
    per_core::pairs_are_whole() && membarrier::restarting_is_offered()
}

/// Returns the state for systems without restartable sequences.
fn without_sequences() -> u8 {
    if membarrier::is_offered() { PORTABLE } else { FENCED }
}

/// Returns the strategy of a window. It asks the system for barriers, because without them the end
/// of a sequence cannot be known; and it checks that the processor stores a record in one piece. If
/// either is missing, windows are portable, while counters keep their strategy.
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

/// Returns whether a family's lookup may announce its series. It may where barriers let the thread
/// that frees the series do without fences in lookups; not while the strategy is being chosen. Asks
/// the system for barriers, which may take a millisecond at the first call.
#[inline]
pub(crate) fn families_announce() -> bool {
    let is_wished = matches!(decided(), Some(Strategy::PerCore | Strategy::Portable));
    is_wished && may_announce() && membarrier::may_fence()
}

/// Returns whether threads may have slots for announcements. The strategy must be decided.
#[inline]
fn may_announce() -> bool {
    MODEL_ROWS != 0 || announcing().load(Ordering::Relaxed) // as in `rows`
}

/// Returns whether threads lease rows in a portable [`Strategy`]. A thread that finds a free row at
/// its first add then has that row for itself, and adds to it without a locked instruction.
///
/// There are two rows to lease for each core of the machine (at most 256; `WINDROW_ROWS` replaces
/// the number), so that threads which have counted once and rest leave enough to others. Each
/// thread leases a row at its first add, and gives it back when it ends. A thread that finds no
/// free row shares a row with others as long as it lives, as all threads do without leases, and
/// adds by a locked instruction. (A thread that is killed by a raw `exit` system call keeps its
/// row.)
///
/// True on x86-64 and arm64, and on other architectures with `WINDROW_LEASES=on` in the
/// environment. False with `WINDROW_LEASES=off`; where counters and windows are both per core, so
/// that no thread would lease a row; if the system has no free thread-local key to report a
/// thread's end; and where it has none that may be used in an allocator, as on Windows.
///
/// ```
/// assert_eq!(windrow::diagnostics::leases(), windrow::diagnostics::leases());
/// println!("threads lease rows: {}", windrow::diagnostics::leases());
/// ```
#[inline]
pub fn leases() -> bool {
    strategy();
    is_leasing()
}
