//! The number of series while they come and go.

use std::sync::atomic::{AtomicBool, Ordering};

use testkit::alone::in_each_strategy;
use testkit::race;
use windrow::{
    Counter, Family, Gauge, Histogram, Minimum, SlidingWindow, diagnostics::columns, events,
    family::Metric, histogram::Distribution, snapshot::Totals,
};

use crate::{Method, Switch, Text};

/// A series of enums comes back by its use while another thread removes it.
#[test]
fn a_family_never_has_more_series_than_there_may_be() {
    let switches: Family<Switch, Counter> = Family::new();
    let texts: Family<Text, Counter> = Family::new().with_max_series(2);
    let on = Switch { method: Method::Get, on: true };
    let done = AtomicBool::new(false);
    race(3, |thread| {
        for number in 0..60_000_u32 {
            match thread {
                0 => {
                    switches.with(on).increment();
                    texts.with(Text { text: &(number % 5).to_string() }).increment();
                }
                1 => {
                    switches.remove(on);
                    texts.remove(Text { text: &(number % 5).to_string() });
                }
                _ => {
                    let (some, most) = (switches.len(), switches.max_series());
                    assert!(some <= most && texts.len() <= 2, "{some} of {most}");
                    assert!(switches.iter().len() <= 1);
                }
            }
            if done.load(Ordering::Relaxed) {
                break;
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    switches.remove(on);
    assert_eq!(switches.len(), 0);
}

events! { enum Http { Pass: Count, Micros: Histogram, Worst: Maximum } }

/// A metric of each kind, found by one lookup.
struct All {
    window: SlidingWindow<Http>,
    times: Histogram,
    open: Gauge,
    least: Minimum,
}

impl Metric for All {
    type Total = (Totals<Http>, Vec<Distribution>, i64, Option<u64>);

    fn total(&self) -> Self::Total {
        (self.window.total(), self.times.total(), self.open.total(), self.least.total())
    }

    fn merge(one: &mut Self::Total, other: Self::Total) {
        SlidingWindow::<Http>::merge(&mut one.0, other.0);
        Histogram::merge(&mut one.1, other.1);
        Gauge::merge(&mut one.2, other.2);
        Minimum::merge(&mut one.3, other.3);
    }
}

/// Columns are given back and taken again all the time, by series that come, go and overflow.
#[test]
#[ignore = "run by another test, in a process of its own"]
fn totals_are_kept_while_columns_change_hands() {
    const ROUNDS: u64 = 4_000;
    let family = Family::<Text, All, _>::with_constructor(|| All {
        window: SlidingWindow::builder().build().expect("a second, two buckets"),
        times: Histogram::new(),
        open: Gauge::new(),
        least: Minimum::new(),
    })
    .with_max_series(6);
    let others: Vec<Counter> = (0..20).map(|_| Counter::new()).collect();
    race(3, |thread| {
        let thread = thread as u64;
        for round in 0..ROUNDS {
            let labels = Text { text: &(round * (thread + 1) % 9).to_string() };
            let value = 1 + thread * ROUNDS + round;
            let kept = (round % 5 == 0).then(|| family.handle(labels));
            let all = family.with(labels);
            all.window.add(Http::Pass, 1);
            all.window.record(Http::Micros, value);
            all.window.record(Http::Worst, value);
            all.times.record(value);
            all.open.add(if round % 2 == 0 { 3 } else { -2 });
            all.least.record(value);
            drop(all);
            match round % 7 {
                0 => _ = family.retain(|_, _| false),
                1..4 => _ = family.remove(labels),
                _ => {}
            }
            if let Some(kept) = kept {
                kept.open.add(1);
                kept.open.add(-1);
            }
            others[round as usize % others.len()].increment();
        }
    });
    let rounds = 3 * ROUNDS;
    let sum = rounds * (rounds + 1) / 2;
    for _ in 0..3 {
        let (windows, times, open, least) = family.lifetime();
        assert_eq!(windows.stats(Http::Pass).sum, rounds);
        let micros = windows.stats(Http::Micros);
        assert_eq!((micros.count, micros.sum, micros.max), (rounds, sum, Some(rounds)));
        assert_eq!(windows.stats(Http::Worst).max, Some(rounds));
        assert_eq!((times[0].count(), times[0].sum(), times.len()), (rounds, sum, 1));
        assert_eq!((open, least), (rounds.cast_signed() / 2, Some(1)));
        family.retain(|_, _| false);
        assert_eq!(family.len(), 0);
    }
    assert_eq!(others.iter().map(Counter::sum).sum::<u64>(), rounds, "no column is shared");
    // All removed series have given their columns back, except the overflow series.
    let before = columns().claimed;
    for number in 0..200_u32 {
        let text = number.to_string();
        family.with(Text { text: &text }).times.record(1);
        family.remove(Text { text: &text });
        _ = family.lifetime();
    }
    let more = columns().claimed.saturating_sub(before);
    assert!(more < 2_000, "{more} columns more after 200 series came and went");
}

#[test]
fn totals_are_kept_in_each_strategy() {
    in_each_strategy("counts::totals_are_kept_while_columns_change_hands");
}
