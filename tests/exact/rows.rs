//! The contents of each row: the rows of a number and its shared part add up to its lifetime.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use testkit::{Finish, at, clock_at, ms, race, sum_of, window};
use windrow::clock::Manual;
use windrow::export::AnyWindow;
use windrow::{Counter, Event, SlidingWindow, events, snapshot::ByRow};

events! { enum Seen { Passed: Count, Level: Signed, Took: Value, Greatest: Maximum, Least: Minimum } }

type Window = SlidingWindow<Seen, Manual>;

const COUNTED: [Event<Seen>; 3] = [
    Event::at(Seen::Passed.index()),
    Event::at(Seen::Level.index()),
    Event::at(Seen::Took.index()),
];
const THREADS: usize = 4;
const EACH: u64 = 20_000;

fn count(window: &Window) {
    window.add(Seen::Passed, 1);
    window.add(Seen::Level, 1);
    window.record(Seen::Took, 1);
    window.record(Seen::Greatest, 1);
    window.record(Seen::Least, 1);
}

fn rows_are_the_lifetime(window: &Window) {
    for event in COUNTED {
        assert_eq!(
            sum_of(&window.by_row(event.index())),
            window.lifetime(event).count,
            "{event:?}"
        );
    }
}

/// Returns whether no row is less than it was, nor gone.
fn has_not_gone_back(before: &ByRow, now: &ByRow) -> bool {
    let rows = before.rows.iter().enumerate();
    rows.clone().all(|(row, number)| now.rows.get(row).is_some_and(|now| now >= number))
        && now.shared >= before.shared
}

#[test]
fn all_rows_of_a_counter_are_what_all_threads_have_added() {
    let counter = Counter::from(7);
    assert_eq!((counter.by_row().rows.len(), counter.by_row().shared), (0, 7));
    race(THREADS, |_| (0..EACH).for_each(|_| counter.add(3)));
    let added = 7 + 3 * EACH * THREADS as u64;
    assert_eq!(sum_of(&counter.by_row()), added);
    assert!(counter.by_row().rows.iter().any(|row| *row > 0));
    _ = counter.take();
    assert_eq!(sum_of(&counter.by_row()), added, "a drain moves no number");
}

#[test]
fn all_rows_of_a_window_are_its_lifetime_whatever_its_buckets_do() {
    let clock = clock_at(60_000);
    let window: Window = window(ms(10), 5, &clock);
    assert_eq!(sum_of(&window.by_row(Seen::Passed.index())), 0);
    for step in 0..100_u64 {
        race(2, |_| (0..50).for_each(|_| count(&window)));
        let older = at(60_000 + 10 * step.saturating_sub(1));
        window.add_at(older, Seen::Passed, 5).unwrap();
        rows_are_the_lifetime(&window);
        clock.advance(ms(10));
    }
    window.reconfigure(ms(90), 3).unwrap();
    count(&window);
    window.clear().unwrap();
    rows_are_the_lifetime(&window);
    assert_eq!(sum_of(&window.by_row(Seen::Took.index())), 100 * 100 + 1);
    assert!(window.by_row(Seen::Passed.index()).shared >= 5 * 99, "back-dated adds are in no row");

    // Late adds are in no row either.
    let shared = window.by_row(Seen::Passed.index()).shared;
    clock.set(at(1_000));
    window.add(Seen::Passed, 2);
    assert_eq!(window.late(Seen::Passed).count, 2);
    assert_eq!(window.by_row(Seen::Passed.index()).shared, shared + 2);
    rows_are_the_lifetime(&window);
}

#[test]
fn what_has_no_count_has_no_rows() {
    let clock = clock_at(60_000);
    let window: Window = window(ms(10), 5, &clock);
    count(&window);
    for event in [Event::<Seen>::from(Seen::Greatest), Seen::Least.into()] {
        assert_eq!(window.by_row(event.index()), ByRow::default());
        assert_eq!(sum_of(&window.by_row(event.index())), 0);
    }
}

#[test]
fn while_adds_run_the_rows_lie_between_two_lifetimes_and_none_goes_back() {
    let clock = clock_at(60_000);
    let (window, counter): (Window, _) = (window(ms(10), 5, &clock), Counter::new());
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let _finish = Finish(&done);
        for _ in 0..2 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    counter.increment();
                    window.add(Seen::Passed, 1);
                    window.record(Seen::Took, 9);
                }
            });
        }
        let (mut of_counter, mut passed, mut took) = (
            counter.by_row(),
            window.by_row(Seen::Passed.index()),
            window.by_row(Seen::Took.index()),
        );
        for round in 0..3_000 {
            if round % 10 == 0 {
                clock.advance(ms(10));
            }
            let least = counter.lifetime();
            let rows = counter.by_row();
            assert!((least..=counter.lifetime()).contains(&sum_of(&rows)));
            assert!(has_not_gone_back(&of_counter, &rows), "{of_counter:?} {rows:?}");
            of_counter = rows;

            let (of_passed, of_took) = (Event::<Seen>::from(Seen::Passed), Seen::Took.into());
            for (event, before) in [(of_passed, &mut passed), (of_took, &mut took)] {
                let least = window.lifetime(event).count;
                let rows = window.by_row(event.index());
                assert!(
                    (least..=window.lifetime(event).count).contains(&sum_of(&rows)),
                    "{event:?}"
                );
                assert!(has_not_gone_back(before, &rows), "{before:?} {rows:?}");
                *before = rows;
            }
        }
    });
}
