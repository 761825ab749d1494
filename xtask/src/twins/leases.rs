//! Broken twins of what leases rows.

use crate::models::ANNOUNCED;
use crate::twin::Twin;

/// Every mistake with leases that a model must notice.
pub(super) const LEASES: &[Twin] = &[
    Twin {
        name: "lease-given-back-relaxed",
        file: "src/thread_end/holder.rs",
        find: "let (order, failed) = (Ordering::Release, Ordering::Relaxed);",
        replace: "let (order, failed) = (Ordering::Relaxed, Ordering::Relaxed);",
        build: &ANNOUNCED,
        model: "leases::a_row_from_one_thread_to_the_next",
        why: "the next thread may add to what a cell was before the last one's adds (I8)",
    },
    Twin {
        name: "lease-given-back-before-the-last-add",
        file: "src/stripe/portable.rs",
        find: "    if AT_END.arm(lease) {",
        replace: "    if AT_END.arm(lease) {\n        lease.give_back(process());",
        build: &ANNOUNCED,
        model: "leases::a_row_from_one_thread_to_the_next",
        why: "two threads write a row by plain stores: one's add is lost (I8)",
    },
    Twin {
        name: "lease-taken-by-looking-and-storing",
        file: "src/thread_end/holder.rs",
        find: "&& self.0.compare_exchange(FREE, process(), order, failed).is_ok()",
        replace: "&& self.0.load(order) == FREE && { self.0.store(process(), failed); true }",
        build: &ANNOUNCED,
        model: "leases::a_row_from_one_thread_to_the_next",
        why: "two threads have one row (I8)",
    },
    Twin {
        name: "locked-and-plain-adds-in-one-row",
        file: "src/stripe/portable.rs",
        find: "    let row = if is_leasing() { first_rows() + turn } else { turn };",
        replace: "    let row = turn;",
        build: &ANNOUNCED,
        model: "leases::a_row_from_one_thread_to_the_next",
        why: "a locked add comes between a plain one's load and store, and is lost (I8)",
    },
    Twin {
        name: "leased-row-not-opened",
        file: "src/stripe/portable.rs",
        find: "    open(row); // before the thread has it",
        replace: "    // before the thread has it",
        build: &ANNOUNCED,
        model: "open_rows::sum_behind_an_add_to_a_new_row",
        why: "no read visits the row (I9)",
    },
    Twin {
        name: "second-bank-not-visited",
        file: "src/arena/rows.rs",
        find: "    (0..open.second).fold(first,",
        replace: "    (0..open.second.min(0)).fold(first,",
        build: &ANNOUNCED,
        model: "leases::a_row_from_one_thread_to_the_next",
        why: "adds of threads without a lease are in no read (I9)",
    },
    Twin {
        name: "one-bank-opened-over-the-other",
        file: "src/stripe/open.rs",
        find: ".then_some((word & !half) | (count << shift))",
        replace: ".then_some((count << shift) | 1)",
        build: &ANNOUNCED,
        model: "leases::a_row_from_one_thread_to_the_next",
        why: "rows that were open are visited no more: a sum goes back (I9)",
    },
    Twin {
        name: "plain-add-relaxed",
        file: "src/stripe/portable/plain.rs",
        find: "    cell.store(sum, Ordering::Release);",
        replace: "    cell.store(sum, Ordering::Relaxed);",
        build: &ANNOUNCED,
        model: "counter_sum::sum_against_a_drain",
        why: "a sum counts an add, and not the drain that came before it (I9)",
    },
];
