//! Broken twins of paces.

use crate::models::CHECKER;
use crate::twin::Twin;

/// Every mistake in a pace that a model must notice.
pub(super) const PACE: &[Twin] = &[
    Twin {
        name: "pace-end-stored-without-comparing",
        file: "src/pace/answer.rs",
        find: "match word.compare_exchange_weak(from, to, order, failed) {",
        replace: "word.store(to, order);\n            match Ok::<u64, u64>(failed as u64) {",
        build: &CHECKER,
        model: "pace::call_against_calls",
        why: "two calls have one moment",
    },
    Twin {
        name: "pace-turn-given-back-by-a-difference",
        file: "src/pace/reservation.rs",
        find: "self.word.compare_exchange(self.to, self.from, order, failed).is_ok()",
        replace: "{ let _ = failed; self.word.fetch_sub(self.to - self.from, order); true }",
        build: &CHECKER,
        model: "pace::giving_back_against_a_call",
        why: "the next call comes at the moment of one that stays where it was",
    },
    Twin {
        name: "pace-turn-given-back-under-a-later-one",
        file: "src/pace/reservation.rs",
        find: "self.word.compare_exchange(self.to, self.from, order, failed).is_ok()",
        replace: "{ let _ = failed; self.word.swap(self.from, order) >= self.to }",
        build: &CHECKER,
        model: "pace::giving_back_against_a_call",
        why: "the later call is forgotten, and another comes at its moment",
    },
    Twin {
        name: "pace-turn-given-back-behind-a-look",
        file: "src/pace/reservation.rs",
        find: "self.word.compare_exchange(self.to, self.from, order, failed).is_ok()",
        replace: "{ let last = self.word.load(failed) == self.to; if last { self.word.store(self.from, order); } last }",
        build: &CHECKER,
        model: "pace::giving_back_against_a_call",
        why: "a call that comes between the look and the store is forgotten",
    },
    Twin {
        name: "paces-word-stored-without-comparing",
        file: "src/pace/several.rs",
        find: "        Answer::take(&self.word, |word| self.decide(word, now, n, max_wait))",
        replace: "        let answer = self.decide(self.word.load(Ordering::Relaxed), now, n, max_wait);\n        \
                  if let Answer::Taken { to, .. } = answer { self.word.store(to, Ordering::Relaxed) }\n        answer",
        build: &CHECKER,
        model: "pace::several_limits_against_giving_back",
        why: "no level has one of two calls",
    },
    Twin {
        name: "paces-levels-raised-behind-a-look",
        file: "src/pace/several.rs",
        find: "        Answer::take(&self.word, |word| self.decide(word, now, n, max_wait))",
        replace: "        let answer = self.decide(self.word.load(Ordering::Relaxed), now, n, max_wait);\n        \
                  if let Answer::Taken { from, to, .. } = answer { self.word.fetch_add(to - from, Ordering::Relaxed); }\n        answer",
        build: &CHECKER,
        model: "pace::several_limits_against_giving_back",
        why: "each level has both calls, and lets them through at once beyond its burst",
    },
];
