//! The contenders, by what they do.

use std::time::Duration;

use windrow::clock::{Coarse, Ticker};
use windrow_benches::facade;
use windrow_benches::harness::{Contender, Rival};
use windrow_benches::histograms;
use windrow_benches::lab::subject::{Group, Process, Subject, make};
use windrow_benches::limits::{
    Asked, Counted, Governor, Limiter, MutexRing, Terms, Timed, gate, paced, rationed,
};

/// Contenders that do the same.
pub(crate) struct Kind {
    /// The operation, as a title.
    pub(crate) title: &'static str,
    /// The contenders, windrow's first.
    pub(crate) contenders: Vec<Contender>,
}

/// Returns all kinds, with their contenders made afresh.
pub(crate) fn all() -> Vec<Kind> {
    let kind = |title, contenders| Kind { title, contenders };
    vec![
        kind("An add to a counter", of(Group::Counter)),
        kind("An add to a window, time published", of(Group::Window)),
        kind("An add to a window, coarse clock", of(Group::Coarse)),
        kind("A record into a histogram", histograms()),
        kind("A decision of a limiter, granted", limiters()),
        kind("An add to a series with labels", of(Group::Labels)),
        kind("A metric of the facade `metrics`", facade::all()),
    ]
}

/// Returns the lab's contenders of `group`, without those that need a process of their own.
fn of(group: Group) -> Vec<Contender> {
    let subjects = Subject::all(group, false).into_iter();
    let here = subjects.filter(|subject| subject.process == Process::Here);
    here.filter_map(|subject| make(group, subject.name)).collect()
}

fn histograms() -> Vec<Contender> {
    let made = histograms::makers().into_iter();
    made.map(|(name, make)| Contender { name, rival: make() as Box<dyn Rival> }).collect()
}

fn limiters() -> Vec<Contender> {
    fn asked<L: Limiter + 'static>(name: &'static str, limiter: L) -> Contender {
        Contender::new(name, Asked::new(limiter, 1, true))
    }
    let (terms, coarse) = (Terms::ENDLESS, Coarse::default);
    let ticker = Ticker::start(Duration::from_millis(1));
    vec![
        asked("windrow: Gate, Coarse", gate(terms, coarse())),
        asked("windrow: Gate, Ticker", gate(terms, ticker.clone())),
        asked("windrow: RationedGate, by 1000, Coarse", rationed(terms, 1_000, coarse())),
        asked("windrow: RationedGate, by 1000, Ticker", rationed(terms, 1_000, ticker)),
        asked("windrow: Pace, Coarse", paced(terms, coarse())),
        asked("AtomicU64::fetch_add", Counted::default()),
        asked("a lock around a ring, Coarse", MutexRing::new(terms, coarse())),
        asked("governor", Governor::own(terms)),
        asked("governor, Coarse", Governor::new(terms, Timed(coarse()))),
    ]
}
