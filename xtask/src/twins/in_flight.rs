//! Broken twins of the gauge of operations in flight.

use crate::models::CHECKER;
use crate::twin::Twin;

/// Every mistake with levels that a model must notice.
pub(super) const IN_FLIGHT: &[Twin] = &[
    Twin {
        name: "in-flight-raised-by-enters-alone",
        file: "src/in_flight/entered.rs",
        find: "        self.owner.left(before);",
        replace: "        let _ = before;",
        build: &CHECKER,
        model: "in_flight::two_that_leave_in_a_later_bucket",
        why: "a bucket that sees only leaves has no maximum",
    },
    Twin {
        name: "in-flight-leave-raises-the-level-after-it",
        file: "src/in_flight/level.rs",
        find: "        self.sum.fetch_sub(weight, Ordering::AcqRel)",
        replace: "        self.sum.fetch_sub(weight, Ordering::AcqRel).wrapping_sub(weight)",
        build: &CHECKER,
        model: "in_flight::two_that_leave_in_a_later_bucket",
        why: "the level that a bucket began with is not in its maximum",
    },
    Twin {
        name: "in-flight-raises-what-it-reads-afterwards",
        file: "src/in_flight/level.rs",
        find: "        before.wrapping_add(weight)",
        replace: "        self.sum.load(Ordering::Acquire).max(before & 0)",
        build: &CHECKER,
        model: "in_flight::enter_against_a_leave_in_the_next_bucket",
        why: "others have left meanwhile, and the greatest level is in no maximum",
    },
    Twin {
        name: "in-flight-leave-raises-what-it-read-before",
        file: "src/in_flight/level.rs",
        find: "        self.sum.fetch_sub(weight, Ordering::AcqRel)",
        replace: "        let before = self.sum.load(Ordering::Acquire);
        self.sum.fetch_sub(weight, Ordering::AcqRel);
        before",
        build: &CHECKER,
        model: "in_flight::enter_against_a_leave_in_the_next_bucket",
        why: "another enter raises the level meanwhile, and no leave shows that it ended",
    },
    Twin {
        name: "in-flight-reads-the-clock-first",
        file: "src/in_flight/peaks.rs",
        find: "        self.entered(self.in_flight.rise(weight), weight)",
        replace: "        let at = self.window.now();
        let level = self.in_flight.rise(weight);
        crate::ring::Ring::add(self.window, at, self.cells.of_number(level), level);
        InFlightGuard::new(*self, weight, level)",
        build: &CHECKER,
        model: "in_flight::enters_against_the_clock",
        why: "a level counts in a bucket that had ended before it was reached",
    },
    Twin {
        name: "in-flight-limit-checks-and-then-adds",
        file: "src/in_flight/level.rs",
        find: "            match self.sum.compare_exchange_weak(before, after, order, failed) {
                Ok(_) => return Some(after),",
        replace: "            match self.sum.fetch_update(order, failed, |sum| Some(sum.wrapping_add(weight))) {
                Ok(_) => return Some(after),",
        build: &CHECKER,
        model: "in_flight::limit_against_limit",
        why: "two that have looked before either adds are in together",
    },
    Twin {
        name: "in-flight-leave-is-relaxed",
        file: "src/in_flight/level.rs",
        find: "        self.sum.fetch_sub(weight, Ordering::AcqRel)",
        replace: "        self.sum.fetch_sub(weight, Ordering::Relaxed)",
        build: &CHECKER,
        model: "in_flight::one_at_a_time",
        why: "the next thread that enters does not see the work of the last one",
    },
];
