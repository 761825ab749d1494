//! The time at which each window was last added to a batch, by its own clock: a bucket that closes
//! later than the window's ring reaches may be overwritten before it is handed out.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use windrow::Timestamp;

/// The last turn of a window: its addition to a batch.
#[derive(Debug)]
struct Turn {
    /// The time by the window's clock.
    at: Timestamp,
    noted: Instant,
    reach: Duration,
}

/// The last turns of windows, by their names.
#[derive(Debug)]
pub(crate) struct Turns {
    opened: Instant,
    last: HashMap<String, Turn>,
    /// The number of new names until the next search for names that can go.
    until_look: usize,
}

impl Turns {
    /// The greatest number of windows that are watched.
    const MOST: usize = 1 << 17;
    const FEW: usize = 1 << 10;

    pub(crate) fn new() -> Turns {
        Turns { opened: Instant::now(), last: HashMap::new(), until_look: Turns::FEW }
    }

    /// Notes a window's turn. Returns whether it came later after the one before than the ring
    /// reaches: its interval less one bucket.
    ///
    /// `noted` is the beginning of the batch: lateness is judged by each window's own clock, and
    /// the age of a name by this. A window without an earlier turn has waited since it was built,
    /// or since the log was opened.
    pub(crate) fn note(
        &mut self,
        resource: &str,
        (built, now): (Timestamp, Timestamp),
        reach: Duration,
        noted: Instant,
    ) -> bool {
        let turn = Turn { at: now, noted, reach };
        if let Some(last) = self.last.get_mut(resource) {
            // Another window may have the name now.
            let waited_since = last.at.max(built);
            *last = turn;
            return waited_since + reach < now;
        }
        self.until_look -= 1;
        if self.until_look == 0 {
            // If a window whose reach has passed comes again, its first turn is late, too.
            self.last.retain(|_, turn| noted - turn.noted <= turn.reach);
            // The number of names that a search visits: so each new name pays for one.
            self.until_look = self.last.len().max(Turns::FEW);
        }
        if self.last.len() < Turns::MOST {
            self.last.insert(resource.to_owned(), turn);
            let opened = now - (noted - self.opened);
            return opened.max(built) + reach < now;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_waits_since_it_was_built_or_the_log_was_opened() {
        let mut turns = Turns::new();
        let after = |secs| turns.opened + Duration::from_secs(secs);
        let (hundred, two_hundred) = (after(100), after(200));
        let [at, now] = [950, 1_000].map(Timestamp::from_secs);
        let reach = Duration::from_secs(60);
        assert!(!turns.note("young", (at, now), reach, hundred));
        assert!(turns.note("as old as the log", (Timestamp::from_secs(0), now), reach, hundred));
        let later = Timestamp::from_secs(1_061);
        assert!(turns.note("young", (at, later), reach, two_hundred), "61 s since its last turn");
        assert!(!turns.note("young", (later, later), reach, two_hundred), "another of its name");
    }

    #[test]
    fn windows_that_come_and_go_are_forgotten() {
        let mut turns = Turns::new();
        let at = Timestamp::from_secs(100);
        for number in 0..10_000 {
            let now = Instant::now();
            assert!(!turns.note(&number.to_string(), (at, at), Duration::ZERO, now));
            assert!(turns.last.len() <= Turns::FEW, "{}", turns.last.len());
        }
        for number in 0..Turns::MOST + 10 {
            let now = Instant::now();
            assert!(!turns.note(&number.to_string(), (at, at), Duration::MAX, now));
        }
        assert_eq!(turns.last.len(), Turns::MOST);
    }
}
