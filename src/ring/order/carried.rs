//! Numbers of earlier generations, added up once no thread could change them.

use std::collections::BTreeMap;
use std::sync::Arc;

/// The final numbers of buckets that changes of geometry have merged into one.
#[derive(Debug)]
pub(in crate::ring) struct Carried {
    pub(in crate::ring) numbers: Box<[u64]>,
    /// The part that awaited its turn when it was carried. Shared, so that a drain can hand it out
    /// without keeping the generation.
    pub(in crate::ring) waiting: Option<Arc<[u64]>>,
}

/// All numbers that a generation carries, by start. (A sorted list, because windows that never
/// change need no more than that it is empty.)
#[derive(Debug, Default)]
pub(in crate::ring) struct AllCarried(Box<[(u64, Carried)]>);

impl AllCarried {
    pub(in crate::ring) fn new(carried: BTreeMap<u64, Carried>) -> AllCarried {
        AllCarried(carried.into_iter().collect())
    }

    /// Returns those of starts from `oldest` on, in the order of their starts.
    pub(in crate::ring) fn from(&self, oldest: u64) -> &[(u64, Carried)] {
        &self.0[self.0.partition_point(|(start, _)| *start < oldest)..]
    }

    /// Returns those of starts after `last`, in the order of their starts.
    pub(in crate::ring) fn after(&self, last: u64) -> &[(u64, Carried)] {
        &self.0[self.0.partition_point(|(start, _)| *start <= last)..]
    }

    /// Returns the newest start.
    pub(in crate::ring) fn newest(&self) -> Option<u64> {
        self.0.last().map(|(start, _)| *start)
    }

    pub(in crate::ring) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn what_is_carried_is_found_by_its_start() {
        let nothing = || Carried { numbers: Box::default(), waiting: None };
        let all = AllCarried::new([30, 10, 20].map(|start| (start, nothing())).into());
        let starts =
            |some: &[(u64, Carried)]| some.iter().map(|(start, _)| *start).collect::<Vec<_>>();
        assert_eq!(starts(all.from(0)), [10, 20, 30]);
        assert_eq!([starts(all.from(20)), starts(all.from(21))], [vec![20, 30], vec![30]]);
        assert_eq!([starts(all.after(19)), starts(all.after(20))], [vec![20, 30], vec![30]]);
        assert!(all.from(31).is_empty() && all.after(u64::MAX).is_empty());
        assert_eq!((all.newest(), all.is_empty()), (Some(30), false));
        assert_eq!(
            (AllCarried::default().newest(), AllCarried::default().is_empty()),
            (None, true)
        );
    }
}
