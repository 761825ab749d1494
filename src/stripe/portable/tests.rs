//! Tests of signal handlers and forked children.

use super::*;
use crate::arena::{arena, rows};
use crate::reclaim::announced::mine_or_taken;
use crate::stripe::column_word::TaggedColumn;
use crate::stripe::column_write::{Add, Number, Raise, put_first};
use crate::stripe::{Strategy, strategy};

/// A column that is never given back.
fn column() -> Column {
    strategy();
    arena().claim(1).expect("there is room")
}

fn word(column: Column) -> *mut AtomicU64 {
    TaggedColumn::encode(Some(column), Strategy::Portable)
}

/// A number that has a column.
#[derive(Clone, Copy)]
struct In(Column);

// SAFETY: such a word.
unsafe impl Number for In {
    fn word(self) -> *mut AtomicU64 {
        word(self.0)
    }

    fn claimed(self) -> *mut AtomicU64 {
        word(self.0)
    }

    fn aside(&self) -> &AtomicU64 {
        unreachable!("any thread can use a row")
    }
}

fn add(column: Column, n: u64) {
    put_first(In(column), Add(n, Ordering::Release));
}

/// A handler comes in the middle of an add, as on processors where one takes several instructions.
#[test]
fn who_finds_the_row_busy_adds_elsewhere() {
    let column = column();
    add(column, 1);
    // SAFETY: such a word.
    let Some(cell) = (unsafe { leased(word(column)) }) else {
        return; // no row is leased here, or all are
    };
    alone(|| {
        let seen = cell.right(0).load(Ordering::Relaxed);
        // SAFETY: such a word.
        assert!(unsafe { leased(word(column)).is_none() && dealt(word(column)).is_none() });
        add(column, 10); // the handler
        cell.right(0).store(seen + 100, Ordering::Release);
    });
    alone(|| cell.add_in_steps(0, 1_000));
    alone(|| cell.raise_in_steps(0, 5));
    assert_eq!(rows::sum(column), 1_111);
    add(column, 10_000);
    assert_eq!(cell.right(0).load(Ordering::Relaxed), 11_101, "the thread goes on with its row");
}

#[test]
fn a_leased_cell_is_raised_and_not_lowered() {
    let column = column();
    for (value, highest) in [(3, 3), (2, 3), (u64::MAX, u64::MAX), (7, u64::MAX)] {
        put_first(In(column), Raise(value));
        assert_eq!(rows::greatest(column), highest);
    }
}

#[test]
#[cfg(all(unix, not(miri)))]
fn a_forked_child_has_the_rows_of_threads_that_it_lacks() {
    let column = column();
    let all = std::sync::Barrier::new(2);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            add(column, 1);
            all.wait();
            all.wait();
        });
        all.wait();
        add(column, 2);
        // SAFETY: the child does what it may, and ends at once.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: such a word.
            let mine = usize::from(unsafe { leased(word(column)) }.is_some());
            let is_right = lease::taken() == mine && rows::sum(column) == 3;
            // SAFETY: it ends this process.
            unsafe { libc::_exit(i32::from(!is_right)) };
        }
        let mut status = 1;
        // SAFETY: waits for the child.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        all.wait();
        assert_eq!(status, 0);
    });
}

#[test]
fn a_slot_repeats_the_word_of_the_row_whichever_came_first() {
    for slot_first in [true, false] {
        let of_one_thread = move || {
            let column = column();
            if slot_first {
                mine_or_taken();
            }
            add(column, 1);
            let Some(slot) = mine_or_taken() else {
                return; // threads have no slots here
            };
            assert_ne!(slot.row(), NONE);
            assert_eq!(slot.row(), mine());
            set_row(GONE);
            assert_eq!(slot.row(), GONE, "a row that is given back is not used through the slot");
        };
        std::thread::spawn(of_one_thread).join().unwrap();
    }
}
