//! The orders that no model can judge, each with the reason and another witness.

/// An order that no model misses, and why it stands.
pub(super) struct Excuse {
    /// The site, by name.
    pub(super) site: &'static str,
    /// The weaker orders that no model notices.
    pub(super) orders: &'static [&'static str],
    /// The reason, in sentences.
    pub(super) why: &'static str,
    /// A file or folder of this workspace that vouches for it instead.
    pub(super) witness: &'static str,
}

impl Excuse {
    /// Returns the text for the table: the reason's number in the list below it.
    pub(super) fn text(&self) -> String {
        let number = reasons().position(|why| why == self.why).map_or(0, |at| at + 1);
        format!("reason {number}")
    }
}

/// Returns each reason once, in the order of its number.
fn reasons() -> impl Iterator<Item = &'static str> {
    let is_new = |at: usize| !EXCUSES[..at].iter().any(|before| before.why == EXCUSES[at].why);
    EXCUSES.iter().enumerate().filter(move |(at, _)| is_new(*at)).map(|(_, excuse)| excuse.why)
}

/// Returns the reasons with their witnesses, for the list below the table.
pub(super) fn list() -> Vec<String> {
    let item = |why| {
        let mut witnesses: Vec<String> = Vec::new();
        for excuse in EXCUSES.iter().filter(|excuse| excuse.why == why) {
            let witness = format!("`{}`", excuse.witness);
            if !witnesses.contains(&witness) {
                witnesses.push(witness);
            }
        }
        format!("{why} See {}.", witnesses.join(", "))
    };
    reasons().map(item).collect()
}

const FENCES: &str = "Its theorem needs a third thread and the collector's own fences, which is \
                      more than a model can finish: the file proves it.";
const DECIDED: &str = "Models decide nothing: they know the strategy and the rows beforehand.";
const MADE: &str = "In a model each window is made before it is shared.";
const LOCKED: &str = "In a model the lock that stands for the core orders it already; on x86-64 \
                      only the compiler could move it, on arm64 the processor too.";
const CALLED: &str = "In a model the lock that stands for the core orders it already; on a \
                      processor the barrier before it, a system call, is a fence too.";
const NEWEST: &str = "In a model each change of a number follows those that ran before it, so \
                      the subtraction cannot overtake the addition; on arm64 it could.";
const BY_ADDRESS: &str = "Models load with Acquire, where others order by address; the file proves \
                          that it is as good.";
const TICKER: &str = "Models have neither a ticker's thread nor forked children.";
const THIRD: &str = "It takes a third preemption: with one, the model finds it in seconds, but \
                     takes six minutes where nothing is wrong.";
const DRAINS: &str = "The cursor's word hands on all but ranks that were written in vain: a drain \
                      must lose its turn to a change, and another thread must have the next one.";
const RANKS: &str = "Two turns must pass while a change reads its ranks, and a change lets none \
                     pass: only its reading and the writing after it depend on this order.";
const LOCK: &str = "Each pin of the checking reclaimer orders what the lock would; and the lock \
                    decides which thread closes a bucket, and when, not what is in it.";
const TWICE: &str = "The thread has loaded this word before, and in a model a thread's second load of a \
                     word hides its race: the file proves it.";
const MANY: &str = "One by one, the same loads at other positions are noticed. Beside a read of \
                    many, it takes more rotations than a model of a histogram can finish.";
const PAIR: &str = "Models of what readers have seen are of one number, by `number`; here only \
                    the order of a pair's two is at stake.";
const NOTER: &str = "A thread must stop in the middle of a note while others retire, close and \
                     rebase: more rotations than loom can finish. `note_against_note` has them in \
                     random orders.";
const ASKED_FOR: &str = "It is for locked adds for which the caller asks for SeqCst, which loom \
                         takes for AcqRel; the file proves what it is for.";
const BEGUN: &str = "One thread must take the ticket, another begin the barrier, and a third add: \
                     more than a model can finish; the file proves it.";
const NEXT: &str = "The fence in `has_adders`, which comes next, orders this too; but it is there \
                    for something else.";
const OPENED: &str = "The thread then opens the row, whether it is open or not, and the fence \
                      there orders this too; but it is there for something else.";
const AGAIN: &str = "`follow` has found the slot without a bucket just before, and acquired that. \
                     For another word a bucket must have come and gone between the two loads: \
                     more than a model can finish.";
const OWNED: &str = "The load of the owner before it has mostly acquired this. To miss that, the \
                     closer must stop twice, and the next owner between that load and this: loom \
                     does not find it even with three preemptions.";
const SHARED: &str = "A model makes the shared cells before it claims columns; a thread that \
                      finds another's loads them anew.";
const RETIRED: &str = "A reader must stand still while two rotations retire its bucket and take \
                       its block: three threads.";

/// All of them.
pub(super) const EXCUSES: &[Excuse] = &[
    Excuse {
        site: "ring/order/slot.rs: rounds_left: load: Acquire",
        orders: &["Relaxed"],
        why: AGAIN,
        witness: "src/ring/order/slot.rs",
    },
    Excuse {
        site: "reclaim/announced.rs: announcements: load: Acquire",
        orders: &["Relaxed"],
        why: NEXT,
        witness: "src/ring/order/bucket_ref.rs",
    },
    Excuse {
        site: "reclaim/announced.rs: announcements: load: Acquire #2",
        orders: &["Relaxed"],
        why: NEXT,
        witness: "src/ring/order/bucket_ref.rs",
    },
    Excuse {
        site: "stripe/membarrier.rs: ticket: fence: SeqCst",
        orders: &["AcqRel", "no fence"],
        why: BEGUN,
        witness: "src/stripe/membarrier.rs",
    },
    Excuse {
        site: "stripe/membarrier.rs: execute: fence: SeqCst",
        orders: &["AcqRel", "no fence"],
        why: BEGUN,
        witness: "src/stripe/membarrier.rs",
    },
    Excuse {
        site: "thread_end/holder.rs: take: compare_exchange: Acquire",
        orders: &["Relaxed"],
        why: OPENED,
        witness: "src/stripe/lease.rs",
    },
    Excuse {
        site: "ring/turn/prefix.rs: counted_before: fence: Acquire",
        orders: &["no fence"],
        why: NOTER,
        witness: "loom-tests/tests/models/window_tiers.rs",
    },
    Excuse {
        site: "clock/ticker/tick.rs: run: store: Release",
        orders: &["Relaxed"],
        why: TICKER,
        witness: "tests/survival/ticker.rs",
    },
    Excuse {
        site: "clock/ticker/tick.rs: run: fence: SeqCst",
        orders: &["AcqRel", "no fence"],
        why: TICKER,
        witness: "tests/survival/ticker.rs",
    },
    Excuse {
        site: "clock/ticker/tick.rs: wake: fence: SeqCst",
        orders: &["AcqRel", "no fence"],
        why: TICKER,
        witness: "tests/survival/ticker.rs",
    },
    Excuse {
        site: "clock/ticker/tick.rs: wake: load: Acquire",
        orders: &["Relaxed"],
        why: TICKER,
        witness: "tests/survival/ticker.rs",
    },
    Excuse {
        site: "clock/ticker/tick.rs: with_chores: fence: SeqCst",
        orders: &["AcqRel", "no fence"],
        why: TICKER,
        witness: "tests/survival/ticker.rs",
    },
    Excuse {
        site: "clock/ticker/tick.rs: with_chores: fence: SeqCst #2",
        orders: &["AcqRel", "no fence"],
        why: TICKER,
        witness: "tests/survival/ticker.rs",
    },
    Excuse {
        site: "thread_end/holder.rs: free_in_child: store: Release",
        orders: &["Relaxed"],
        why: TICKER,
        witness: "tests/survival/leases.rs",
    },
    Excuse {
        site: "clock/ticker/forks.rs: first: load: Acquire",
        orders: &["Relaxed"],
        why: TICKER,
        witness: "tests/survival/ticker.rs",
    },
    Excuse {
        site: "clock/ticker/forks.rs: handle: load: Acquire",
        orders: &["Relaxed"],
        why: TICKER,
        witness: "tests/survival/ticker.rs",
    },
    Excuse {
        site: "clock/ticker/forks.rs: handle: store: Release",
        orders: &["Relaxed"],
        why: TICKER,
        witness: "tests/survival/ticker.rs",
    },
    Excuse {
        site: "clock/ticker/forks.rs: add: compare_exchange: Release",
        orders: &["Relaxed"],
        why: TICKER,
        witness: "tests/survival/ticker.rs",
    },
    Excuse {
        site: "clock/ticker/forks.rs: take: compare_exchange: Release",
        orders: &["Relaxed"],
        why: TICKER,
        witness: "tests/survival/ticker.rs",
    },
    Excuse {
        site: "clock/ticker/forks.rs: leave: fence: SeqCst",
        orders: &["AcqRel", "no fence"],
        why: TICKER,
        witness: "tests/survival/ticker.rs",
    },
    Excuse {
        site: "clock/ticker/forks.rs: orphan_all: load: Acquire",
        orders: &["Relaxed"],
        why: TICKER,
        witness: "tests/survival/ticker.rs",
    },
    Excuse {
        site: "ring/coordination/closer.rs: try_lock: compare_exchange: Release",
        orders: &["Relaxed"],
        why: LOCK,
        witness: "tests/survival/slow.rs",
    },
    Excuse {
        site: "ring/coordination/closer.rs: try_unlock: swap: Acquire",
        orders: &["Relaxed"],
        why: LOCK,
        witness: "tests/survival/slow.rs",
    },
    Excuse {
        site: "reclaim/grace.rs: ticket: fence: SeqCst",
        orders: &["AcqRel", "no fence"],
        why: FENCES,
        witness: "litmus/src/races/add_rotate.rs",
    },
    Excuse {
        site: "reclaim/grace.rs: begin: fence: SeqCst",
        orders: &["AcqRel", "no fence"],
        why: FENCES,
        witness: "litmus/src/races/add_rotate.rs",
    },
    Excuse {
        site: "ring/store/block.rs: try_own: compare_exchange: AcqRel",
        orders: &["Release"],
        why: OWNED,
        witness: "litmus/src/races/close_read.rs",
    },
    Excuse {
        site: "ring/coordination/cursor.rs: look: load: Acquire",
        orders: &["Relaxed"],
        why: THIRD,
        witness: "loom-tests/tests/models/window_drains.rs",
    },
    Excuse {
        site: "ring/coordination/cursor.rs: drop: fetch_sub: Release",
        orders: &["Relaxed"],
        why: THIRD,
        witness: "loom-tests/tests/models/window_drains.rs",
    },
    Excuse {
        site: "ring/coordination/cursor.rs: drain: swap: Acquire",
        orders: &["Relaxed"],
        why: DRAINS,
        witness: "loom-tests/tests/models/window_drains.rs",
    },
    Excuse {
        site: "ring/coordination/cursor.rs: drop: store: Release",
        orders: &["Relaxed"],
        why: DRAINS,
        witness: "loom-tests/tests/models/window_drains.rs",
    },
    Excuse {
        site: "ring/coordination/cursor.rs: advance: compare_exchange: AcqRel",
        orders: &["Release"],
        why: RANKS,
        witness: "loom-tests/tests/models/window_drains.rs",
    },
    Excuse {
        site: "stripe.rs: decided: load: Acquire",
        orders: &["Relaxed"],
        why: DECIDED,
        witness: "tests/exact/threads.rs",
    },
    Excuse {
        site: "stripe.rs: decide: store: Release",
        orders: &["Relaxed"],
        why: DECIDED,
        witness: "tests/exact/threads.rs",
    },
    Excuse {
        site: "stripe/open.rs: open: fence: SeqCst",
        orders: &["AcqRel", "no fence"],
        why: ASKED_FOR,
        witness: "src/stripe/open.rs",
    },
    Excuse {
        site: "stripe/put.rs: aside: fence: SeqCst",
        orders: &["AcqRel", "no fence"],
        why: ASKED_FOR,
        witness: "src/stripe/open.rs",
    },
    Excuse {
        site: "stripe/membarrier.rs: passed: load: Acquire",
        orders: &["Relaxed"],
        why: LOCKED,
        witness: "docs/promela",
    },
    Excuse {
        site: "stripe/per_core_model.rs: fold_live: store: Release",
        orders: &["Relaxed"],
        why: LOCKED,
        witness: "tests/torture/agree.rs",
    },
    Excuse {
        site: "histogram/columns.rs: make_shared: compare_exchange: Acquire",
        orders: &["Relaxed"],
        why: SHARED,
        witness: "tests/histograms/storms.rs",
    },
    Excuse {
        site: "ring/store/block.rs: wide_base: load: Acquire",
        orders: &["Relaxed"],
        why: MANY,
        witness: "tests/histograms/window_storms.rs",
    },
    Excuse {
        site: "ring/store/block.rs: take_off_bases: merge: Acquire",
        orders: &["Relaxed"],
        why: MANY,
        witness: "tests/histograms/window_storms.rs",
    },
    Excuse {
        site: "ring/store/block.rs: add_bases: merge: Acquire",
        orders: &["Relaxed"],
        why: MANY,
        witness: "tests/histograms/window_storms.rs",
    },
    Excuse {
        site: "ring/turn/prefix.rs: wide_prefixes_to_write: fence: Release",
        orders: &["no fence"],
        why: RETIRED,
        witness: "tests/histograms/window_storms.rs",
    },
    Excuse {
        site: "ring/store.rs: number_of_value: shared: Acquire",
        orders: &["Relaxed"],
        why: PAIR,
        witness: "tests/histograms/window_storms.rs",
    },
    Excuse {
        site: "ring/store.rs: extremes: shared: Acquire",
        orders: &["Relaxed"],
        why: PAIR,
        witness: "tests/histograms/window_storms.rs",
    },
    Excuse {
        site: "ring/store.rs: each_number: of: Acquire",
        orders: &["Relaxed"],
        why: PAIR,
        witness: "tests/histograms/window_storms.rs",
    },
    Excuse {
        site: "window/made.rs: goes: load: Acquire",
        orders: &["Relaxed"],
        why: MADE,
        witness: "tests/exact/statics.rs",
    },
    Excuse {
        site: "window/made.rs: make: store: Release",
        orders: &["Relaxed"],
        why: MADE,
        witness: "tests/exact/statics.rs",
    },
    Excuse {
        site: "stripe/membarrier.rs: execute: fetch_max: Release",
        orders: &["Relaxed"],
        why: CALLED,
        witness: "docs/promela",
    },
    Excuse {
        site: "dependent.rs: acquire: fence: Acquire",
        orders: &["no fence"],
        why: BY_ADDRESS,
        witness: "src/dependent.rs",
    },
    Excuse {
        site: "ring/coordination/shared_prefix.rs: is_still: fence: Acquire",
        orders: &["no fence"],
        why: TWICE,
        witness: "src/ring/coordination/shared_prefix.rs",
    },
    Excuse {
        site: "ring/store.rs: open: store: Release",
        orders: &["Relaxed"],
        why: RETIRED,
        witness: "tests/exact/rates.rs",
    },
    Excuse {
        site: "family/series.rs: try_use: compare_exchange: Release",
        orders: &["Relaxed"],
        why: NEWEST,
        witness: "src/family/lookup.rs",
    },
    Excuse {
        site: "family/series.rs: hide: swap: Acquire",
        orders: &["Relaxed"],
        why: NEWEST,
        witness: "src/family/lookup.rs",
    },
];
