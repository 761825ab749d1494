//! The roles of a window's events, by their names: which of them count operations that passed, were
//! refused, or failed.

use windrow::Kind;

use super::layout::{only_grows, places};

/// The positions of these events; `None` where there is none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Roles {
    /// All operations, including those that are refused.
    pub(crate) all: Option<usize>,
    /// Admitted operations, including those that fail.
    pub(crate) pass: Option<usize>,
    /// Admitted operations that have succeeded.
    pub(crate) success: Option<usize>,
    pub(crate) block: Option<usize>,
    pub(crate) exception: Option<usize>,
    /// The first event whose count only grows.
    pub(crate) first: Option<usize>,
    /// The first event with percentiles.
    pub(crate) values: Option<usize>,
    /// The position of each event's first number among those of a row.
    pub(crate) places: Vec<usize>,
}

const ALL: [&str; 6] = ["request", "requests", "call", "calls", "operation", "operations"];
const PASS: [&str; 2] = ["pass", "passed"];
const SUCCESS: [&str; 4] = ["success", "successes", "succeeded", "ok"];
const BLOCK: [&str; 6] = ["block", "blocked", "reject", "rejected", "refused", "limited"];
const EXCEPTION: [&str; 8] =
    ["exception", "exceptions", "failure", "failures", "failed", "error", "errors", "fail"];

impl Roles {
    pub(crate) fn of(events: &[(&str, Kind)]) -> Roles {
        let named = |names: &[&str]| {
            let is_named = |name: &str| names.iter().any(|known| known.eq_ignore_ascii_case(name));
            events.iter().position(|(name, kind)| *kind == Kind::Count && is_named(name))
        };
        Roles {
            places: places(events),
            all: named(&ALL),
            pass: named(&PASS),
            success: named(&SUCCESS),
            block: named(&BLOCK),
            exception: named(&EXCEPTION),
            first: events.iter().position(|(_, kind)| only_grows(*kind)),
            values: events.iter().position(|(_, kind)| matches!(kind, Kind::Histogram(_))),
        }
    }

    /// Returns counts of operations: of all, and of those that failed or were refused. `count` has
    /// the count of an event. Of which operations failures are a part is known only where there is
    /// an event for all of them, or for those that passed or have succeeded.
    pub(crate) fn counts(&self, count: impl Fn(usize) -> u64) -> [u64; 3] {
        let of = |event: Option<usize>| event.map_or(0, &count);
        let (failed, refused) = (of(self.exception), of(self.block));
        let all = match (self.pass, self.all, self.success) {
            (Some(_), ..) => of(self.pass).wrapping_add(refused),
            (None, Some(_), _) => of(self.all), // which the refused ones are part of
            (None, None, Some(_)) => of(self.success).wrapping_add(failed).wrapping_add(refused),
            (None, None, None) => return [of(self.first), 0, 0],
        };
        [all, failed, refused]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_a_share_only_of_operations_that_are_counted_by_name() {
        let counts = |names: [&str; 2]| {
            let events = names.map(|name| (name, Kind::Count));
            Roles::of(&events).counts(|event| [10, 3][event])
        };
        assert_eq!(counts(["Pass", "Failed"]), [10, 3, 0]);
        assert_eq!(counts(["Success", "Failed"]), [13, 3, 0]);
        assert_eq!(counts(["Pass", "Block"]), [13, 0, 3]);
        assert_eq!(counts(["Request", "Failed"]), [10, 3, 0]);
        assert_eq!(counts(["Requests", "Block"]), [10, 0, 3], "they are requests, too");
        assert_eq!(counts(["Pass", "Request"]), [10, 0, 0], "it says more exactly what it counts");
        assert_eq!(counts(["Request", "Pass"]), [3, 0, 0]);
        assert_eq!(counts(["Request", "Success"]), [10, 0, 0]);
        assert_eq!(counts(["Success", "Total"]), [10, 0, 0], "a total may be of anything");
        assert_eq!(counts(["Hit", "Error"]), [10, 0, 0]);
        assert_eq!(counts(["Error", "Hit"]), [10, 0, 0]);
        assert_eq!(counts(["Hit", "Blocked"]), [10, 0, 0]);
    }
}
