//! Broken twins of what opens rows, and visits those that are open.

use crate::models::{CHECKER, PER_CORE};
use crate::twin::Twin;

/// Every mistake with open rows that a model must notice.
pub(super) const ROWS: &[Twin] = &[
    Twin {
        name: "row-not-opened",
        file: "src/stripe/portable.rs",
        find: "    open(row); // before it is dealt",
        replace: "    // before it is dealt",
        build: &CHECKER,
        model: "open_rows::sum_behind_an_add_to_a_new_row",
        why: "no read visits the row (I9)",
    },
    Twin {
        name: "number-of-rows-remembered",
        file: "src/arena/rows.rs",
        find: "    let first = (1..open.first).fold(begin, &mut with);",
        replace: "    crate::sync::thread_number!(UNSEEN);
    let unseen = UNSEEN.with(std::cell::Cell::get).max(crate::stripe::first_rows() - open.first);
    UNSEEN.with(|mine| mine.set(unseen));
    let first = (1..crate::stripe::first_rows() - unseen).fold(begin, &mut with);",
        build: &CHECKER,
        model: "counter_drains::two_drains_share_what_was_added",
        why: "a drain does not visit a row that the drain before has counted: it is negative (I8)",
    },
    Twin {
        name: "extreme-taken-in-two-steps",
        file: "src/arena/rows.rs",
        find: "    cell.swap(0, Ordering::Acquire)",
        replace: "    let taken = cell.load(Ordering::Acquire);
    cell.store(0, Ordering::Relaxed);
    taken",
        build: &CHECKER,
        model: "extreme_takes::take_against_a_rise",
        why: "a raise between the two steps is in no take",
    },
    Twin {
        name: "zero-taken-in-two-steps",
        file: "src/counters/extreme.rs",
        find: "self.has_zero.swap(false, Ordering::Acquire)",
        replace: "{
            let has_zero = self.has_zero.load(Ordering::Acquire);
            self.has_zero.store(false, Ordering::Relaxed);
            has_zero
        }",
        build: &CHECKER,
        model: "extreme_takes::take_of_zero_against_take",
        why: "two takes have one zero",
    },
    Twin {
        name: "column-freed-but-for-its-new-rows",
        file: "src/arena/rows.rs",
        find: "    fold((), |(), row| {
        let cell = column.cell(row);
        // Relaxed",
        replace: "    (0..1).for_each(|row| {
        let cell = column.cell(row);
        // Relaxed",
        build: &CHECKER,
        model: "open_rows::column_freed_with_its_new_row",
        why: "the next owner begins with the rest in the row (I1)",
    },
    Twin {
        name: "sequence-commits-to-a-row-that-is-not-open",
        file: "src/stripe/per_core_model.rs",
        find: "    row == 0 || row < open::open_rows().first",
        replace: "    row == 0 || row != open::open_rows().first + 2",
        build: &PER_CORE,
        model: "open_rows::sum_behind_an_add_to_a_new_row",
        why: "no read visits the row (I9)",
    },
    Twin {
        name: "sequence-opens-its-row-after-the-commit",
        file: "src/stripe/per_core_model.rs",
        find: "    if !N::is_open(row) {
        return missed(Miss::NoRow);
    }
    let cells = Row { first: PerCoreColumn::<N>(word, PhantomData).column(), row };
    // The sequence has loaded everything, and the cells that it will store are decided. Its steps
    // follow one by one; a barrier, or another thread, may come before each.
    for step in steps {
        let core = cores()[row].lock().unwrap();
        if *core != mine {
            drop(core);
            return missed(Miss::Aborted);
        }
        match step(cells) {
            Step::GoOn => {}
            Step::Done => return,",
        replace:
            "    let cells = Row { first: PerCoreColumn::<N>(word, PhantomData).column(), row };
    for step in steps {
        let core = cores()[row].lock().unwrap();
        if *core != mine {
            drop(core);
            return missed(Miss::Aborted);
        }
        match step(cells) {
            Step::GoOn => {}
            Step::Done => {
                drop(core);
                return super::open::open(row);
            }",
        build: &PER_CORE,
        model: "open_rows::close_against_an_add_to_a_new_row",
        why: "a closer does not visit a row that was added to before the barrier (I6)",
    },
];
