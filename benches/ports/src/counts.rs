//! prometheus' integer counters.

use std::hint::black_box;

use crate::contender::{Call, Contender, OWN, PORTED};

/// The calls of a program on integer counters, for one copy of the crate.
macro_rules! uses {
    ($prometheus:ident, $whose:expr) => {{
        use $prometheus::{IntCounter, IntCounterVec, Opts};

        let new = || IntCounter::new("requests", "Requests.").expect("a sound name");
        let (one, read) = (new(), new());
        read.inc();
        let opts = Opts::new("answers", "Answers.");
        let labelled = IntCounterVec::new(opts, &["method", "code"]).expect("sound names");
        [
            Contender::new("prometheus: an inc", $whose, Call(move || one.inc())),
            Contender::new(
                "prometheus: an inc, by its labels",
                $whose,
                Call(move || labelled.with_label_values(&[black_box("GET"), "200"]).inc()),
            ),
            Contender::new(
                "prometheus: reading a count",
                $whose,
                Call(move || _ = black_box(read.get())),
            ),
        ]
    }};
}

pub(crate) fn contenders() -> Vec<Contender> {
    let own = uses!(own_prometheus, OWN);
    let ported = uses!(ported_prometheus, PORTED);
    own.into_iter().zip(ported).flat_map(|(own, ported)| [own, ported]).collect()
}
