use std::collections::HashSet;

use super::segment::{ASKED, LINE, LOOKS};
use super::*;
use crate::stripe;
use crate::sync::AtomicU64;

/// An arena that only its test claims from.
fn private() -> Arena {
    stripe::strategy();
    Arena::new()
}

/// Returns the number of mapped segments.
fn mapped(arena: &Arena) -> usize {
    arena.usage().1 / COLUMNS
}

#[test]
fn runs_do_not_overlap_and_begin_on_a_line() {
    let arena = private();
    let mut taken = HashSet::new();
    for length in [1, 3, 8, 5, 64, 1, 70, 200, 2, 13, COLUMNS] {
        let column = arena.claim(length).unwrap();
        let first = column.first().as_ptr() as usize;
        assert_eq!(first % (8 * length.next_power_of_two().min(LINE)), 0, "length {length}");
        for distance in 0..length {
            assert!(taken.insert(column.right(distance).first()), "length {length}");
        }
    }
}

#[test]
fn what_is_given_back_is_zero_for_the_next() {
    let arena = private();
    let column = arena.claim(3).unwrap();
    stripe::open_rows::open(stripe::first_rows() - 1);
    stripe::open_rows::open(stripe::mapped_rows() - 1);
    for row in 0..stripe::mapped_rows() {
        column.right(1).cell(row).store(7, Ordering::Relaxed);
    }
    // SAFETY: claimed above, used no more.
    unsafe { arena.free(column, 3) };
    let second = arena.claim(3).unwrap();
    assert_eq!(second, column);
    assert_eq!(rows::sum(second.right(1)), 0);
}

#[test]
fn what_is_given_back_is_claimed_again_wherever_it_was() {
    let arena = private();
    // One column may be any free one, if the thread moves to another core: so all others are taken.
    for (length, number) in [(1, COLUMNS), (3, 40), (8, 40), (64, 40), (130, 40)] {
        let all: Vec<_> = (0..number).map(|_| arena.claim(length).unwrap()).collect();
        let last = all[39];
        // SAFETY: claimed above, used no more.
        unsafe { arena.free(last, length) };
        assert_eq!(arena.claim(length), Some(last), "length {length}");
    }
}

#[test]
fn runs_fill_a_segment() {
    for length in [1, 8, 64, 128] {
        let arena = private();
        let cells: Vec<_> = (0..COLUMNS / length)
            .map(|_| {
                arena.claim(length).unwrap().first().as_ptr() as usize / size_of::<AtomicU64>()
            })
            .collect();
        let last = cells.iter().max().unwrap() - cells.iter().min().unwrap();
        assert_eq!(last, COLUMNS - length, "length {length}");
    }
}

#[test]
fn a_full_arena_refuses_and_recovers() {
    let arena = private();
    let all: Vec<_> = (0..SEGMENTS).map(|_| arena.claim(COLUMNS).unwrap()).collect();
    assert_eq!(arena.claim(1), None);
    assert_eq!(arena.claim(65), None);
    // SAFETY: claimed above, used no more.
    unsafe { arena.free(all[SEGMENTS / 2], COLUMNS) };
    let (long, short) = (arena.claim(65).unwrap(), arena.claim(1).unwrap());
    assert_ne!(long, short);
    assert_eq!(arena.claim(COLUMNS), None);
}

/// The spare column is missing in a line that is free without it.
#[test]
fn a_run_is_found_where_a_spare_column_is_part_of_it() {
    let arena = private();
    let all: Vec<_> = (0..COLUMNS / LINE).map(|_| arena.claim(LINE).unwrap()).collect();
    // SAFETY: claimed above, used no more.
    unsafe { arena.free(all[9], LINE) };
    let line: Vec<_> = (0..LINE).map(|_| arena.claim(1).unwrap()).collect();
    // SAFETY: claimed above, used no more.
    line.iter().for_each(|column| unsafe { arena.free(*column, 1) });
    assert_eq!(arena.usage(), (COLUMNS - LINE, COLUMNS));
    assert_eq!(arena.claim(LINE), Some(all[9]));
    assert_eq!(arena.usage(), (COLUMNS, COLUMNS));
}

#[test]
fn a_run_of_none_or_of_too_many_is_refused_and_maps_nothing() {
    for length in [0, COLUMNS + 1, 2 * COLUMNS, usize::MAX] {
        let arena = private();
        assert_eq!(arena.claim(length), None);
        assert_eq!(mapped(&arena), 0, "length {length}");
    }
}

#[test]
fn long_runs_map_a_segment_each_and_no_more() {
    const LONG: usize = COLUMNS / 2 + 1; // two do not fit
    let arena = private();
    for claimed in 1..=3 {
        assert!(arena.claim(LONG).is_some());
        assert_eq!(mapped(&arena), claimed);
    }
    std::thread::scope(|scope| {
        (0..8).for_each(|_| _ = scope.spawn(|| assert!(arena.claim(LONG).is_some())));
    });
    assert_eq!(mapped(&arena), 11, "threads race for them");
}

#[test]
fn threads_that_claim_and_give_back_never_share_a_column() {
    let arena = private();
    std::thread::scope(|scope| {
        for thread in 1..=4 {
            let arena = &arena;
            scope.spawn(move || {
                for round in 0..2_000 {
                    let length = [1, 5, 8, 64, 130][(round + thread) % 5];
                    let column = arena.claim(length).unwrap();
                    for distance in 0..length {
                        let cell = column.right(distance).cell(0);
                        assert_eq!(cell.swap(thread as u64, Ordering::Relaxed), 0);
                    }
                    for distance in 0..length {
                        let cell = column.right(distance).cell(0);
                        assert_eq!(cell.load(Ordering::Relaxed), thread as u64);
                    }
                    // SAFETY: claimed above, used no more.
                    unsafe { arena.free(column, length) };
                }
            });
        }
    });
}

/// Returns the number of words of bitmaps at which a claim looks.
fn looks(arena: &Arena, length: usize) -> (Option<Column>, usize) {
    let before = LOOKS.get();
    let claimed = arena.claim(length);
    (claimed, LOOKS.get() - before)
}

/// "A claim that finds a run refused looks at no bitmap."
#[test]
fn a_refusal_is_remembered_until_something_is_freed() {
    let arena = private();
    let all: Vec<_> = (0..SEGMENTS).map(|_| arena.claim(COLUMNS).unwrap()).collect();
    for length in [219, COLUMNS, 8, 1] {
        assert_eq!(looks(&arena, length).0, None);
        assert_eq!(looks(&arena, length), (None, 0), "length {length}");
    }
    let middle = all[SEGMENTS / 2];
    // SAFETY: claimed above, used no more.
    unsafe { arena.free(middle, COLUMNS) };
    let (claimed, looked) = looks(&arena, 1);
    let distance = claimed.unwrap().first().as_ptr().addr() - middle.first().as_ptr().addr();
    assert!(distance < COLUMNS * size_of::<AtomicU64>(), "not in the segment with room");
    assert!(looked <= 2, "{looked} words, of one segment");
    let (claimed, looked) = looks(&arena, COLUMNS);
    assert!(claimed.is_none() && looked <= COLUMNS / 64, "{looked} words, of one segment");
    assert_eq!(looks(&arena, COLUMNS), (None, 0));
    assert!(arena.claim(219).is_some(), "a shorter one was not refused");
}

/// "A claim passes over 64 of them that have refused a run by one load."
#[test]
fn a_full_group_that_has_refused_a_run_is_asked_once() {
    let arena = private();
    let full = 3 * group::SIZE;
    let all: Vec<_> = (0..full).map(|_| arena.claim(COLUMNS - 64).unwrap()).collect();
    let asked = |length| {
        let before = ASKED.get();
        let claimed = arena.claim(length).unwrap();
        // SAFETY: claimed above, used no more.
        unsafe { arena.free(claimed, length) };
        ASKED.get() - before
    };
    assert!(asked(219) >= full, "each has refused the first time");
    // In a segment of its own, and freed: that changes nothing for the full groups.
    assert_eq!([asked(219), asked(300)], [1, 1]);
    assert_eq!(asked(64), 1, "a shorter one was not refused");
    // SAFETY: claimed above, used no more.
    unsafe { arena.free(all[group::SIZE], COLUMNS - 64) };
    assert!(asked(219) <= group::SIZE, "but one group is passed over");
}

/// Many segments with few free columns each: long runs pass over them, even if columns are freed in
/// other segments.
#[test]
fn a_long_run_does_not_look_again_where_it_was_refused() {
    const MOST: usize = COLUMNS - 64;
    let arena = private();
    let all: Vec<_> = (0..50).map(|_| arena.claim(MOST).unwrap()).collect();
    let new = arena.claim(219).unwrap(); // in a segment of its own
    for _ in 0..10 {
        let short = arena.claim(1).unwrap();
        // SAFETY: claimed above, used no more.
        unsafe { arena.free(short, 1) };
        let (claimed, looked) = looks(&arena, 219);
        assert!(looked <= 2 * COLUMNS / 64, "{looked} words, of two segments");
        // SAFETY: as above.
        unsafe { arena.free(claimed.unwrap(), 219) };
    }
    assert_eq!((mapped(&arena), arena.usage().0), (51, 50 * MOST + 256));
    drop((all, new));
}

/// Holes that are too short for a run are looked at once.
#[test]
fn a_run_longer_than_all_holes_is_refused_once() {
    let arena = private();
    let rest: Vec<_> = (1..SEGMENTS).map(|_| arena.claim(COLUMNS).unwrap()).collect();
    let words: Vec<_> = (0..COLUMNS / 64).map(|_| arena.claim(64).unwrap()).collect();
    for word in words.iter().step_by(2) {
        // SAFETY: claimed above, used no more.
        unsafe { arena.free(*word, 64) };
    }
    assert_eq!(arena.claim(65), None);
    assert_eq!(looks(&arena, 65), (None, 0));
    assert!(arena.claim(64).is_some());
    drop(rest);
}

/// Columns that are free at the end are found, after any claims, refusals and frees of threads.
#[test]
fn no_room_is_missed_for_good() {
    let arena = private();
    let held: Vec<_> = (0..SEGMENTS - 1).map(|_| arena.claim(COLUMNS).unwrap()).collect();
    let free = |column, length| {
        // SAFETY: claimed by the caller, used no more.
        unsafe { arena.free(column, length) };
    };
    for round in 0..20 {
        let refused = std::thread::scope(|scope| {
            let work = |thread: usize| {
                let mut refused = 0;
                for step in 0..200 {
                    let length = [COLUMNS, 64, 1, COLUMNS / 2, 4_000][(step + thread + round) % 5];
                    let Some(column) = arena.claim(length) else {
                        refused += 1;
                        continue;
                    };
                    free(column, length);
                }
                refused
            };
            let threads: Vec<_> = (0..4).map(|thread| scope.spawn(move || work(thread))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum::<usize>()
        });
        let last = arena.claim(COLUMNS);
        assert!(last.is_some(), "a whole segment is free, after {refused} refusals");
        free(last.unwrap(), COLUMNS);
    }
    assert_eq!(arena.usage().0, held.len() * COLUMNS);
}
