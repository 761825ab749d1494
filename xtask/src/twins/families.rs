//! Mistakes in families.

use crate::models::CHECKER;
use crate::twin::Twin;

/// Every mistake in families that a model must notice.
pub(super) const FAMILIES: &[Twin] = &[
    Twin {
        name: "series-inserted-without-a-second-search",
        file: "src/family/table.rs",
        find: "if let Search::Found(series) = unsafe { self.search_from(first, labels) } {",
        replace: "if let Search::Found(series) = unsafe { self.search_from(null_mut(), labels) } {",
        build: &CHECKER,
        model: "families::two_threads_make_the_same_series",
        why: "two threads that need the same new series make two, and each counts on its own",
    },
    Twin {
        name: "series-published-relaxed",
        file: "src/family/table.rs",
        find: "            // Release: publishes the series. Acquire, on failure: as in `search`.
            let (order, failed) = (Ordering::Release, Ordering::Acquire);",
        replace: "            let (order, failed) = (Ordering::Relaxed, Ordering::Acquire);",
        build: &CHECKER,
        model: "families::an_insertion_against_a_removal",
        why: "a search may find a series whose fields it cannot see",
    },
    Twin {
        name: "series-freed-without-a-grace-period",
        file: "src/family/forgotten.rs",
        find: "while self.waiting.front().is_some_and(|(until, _)| until.is_over()) {",
        replace: "while !self.waiting.is_empty() {",
        build: &CHECKER,
        model: "families::an_add_against_a_removal",
        why: "an add that has just found the series uses memory that is freed, and is not in the lifetime",
    },
    Twin {
        name: "series-freed-under-a-handle",
        file: "src/family/forgotten.rs",
        find: "|| Shared::count(series) > 1 {",
        replace: "|| Shared::count(series) == 0 {",
        build: &CHECKER,
        model: "families::a_handle_lets_go_of_a_removed_series",
        why: "adds of a handle after the series was forgotten are not in the lifetime",
    },
    Twin {
        name: "series-removed-by-a-store-to-the-head",
        file: "src/family/table.rs",
        find: "        if let Err(first) = self.head.compare_exchange(gone, rest, order, failed) {",
        replace: "        let first = self.head.load(failed);
        if first == gone {
            self.head.store(rest, order);
        } else {",
        build: &CHECKER,
        model: "families::an_insertion_against_a_removal",
        why: "a series that was inserted meanwhile is gone with its counts",
    },
    Twin {
        name: "series-taken-out-by-its-state-of-use",
        file: "src/family/series.rs",
        find: "        !self.is_out.swap(true, Ordering::Relaxed)",
        replace: "        self.hide()",
        build: &CHECKER,
        model: "families::an_add_against_two_removals_of_its_series",
        why: "a use that was begun before makes it look as if it were in its list: it is taken out twice",
    },
    Twin {
        name: "series-counted-when-it-is-back",
        file: "src/family/lookup.rs",
        find: "            self.series.fetch_add(count, Ordering::Relaxed);
            if series.try_use(was_hidden) {
                return;
            }
            self.series.fetch_sub(count, Ordering::Relaxed);",
        replace: "            if series.try_use(was_hidden) {
                self.series.fetch_add(count, Ordering::Relaxed);
                return;
            }",
        build: &CHECKER,
        model: "families::a_series_that_comes_back_against_its_removal",
        why: "a removal counts it off first: there are 2^64 - 1 series for a moment",
    },
    Twin {
        name: "room-taken-without-a-second-look",
        file: "src/family/lookup.rs",
        find: "if self.series.fetch_add(1, Ordering::Relaxed) >= limit {",
        replace: "if self.series.fetch_add(1, Ordering::Relaxed) == usize::MAX {",
        build: &CHECKER,
        model: "families::two_sets_and_room_for_one",
        why: "two threads that find room for one series make two",
    },
    Twin {
        name: "series-removed-without-a-look-at-it",
        file: "src/family/remove.rs",
        find: "if series.is_there() && which(&series.metric) => {",
        replace: "if series.is_there() && (which(&series.metric) || true) => {",
        build: &CHECKER,
        model: "families::two_threads_take_out_the_same_series_by_a_look_at_it",
        why: "a thread takes out the series that another has found in place of the one that is over",
    },
];
