//! Borrowed series of families: removed while a thread has one, leaked, and kept to the end of a
//! thread. In a process of their own, because a thread that is pinned delays what others free.

use std::cell::RefCell;
use std::mem;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread;

use windrow::diagnostics::{Strategy, strategy};
use windrow::family::{Metric, Pinned};
use windrow::{Counter, Family, labels};

labels! { struct Key { key: u32 } }

/// Counts its drops.
#[derive(Default)]
struct Noted(Counter);

static DROPPED: AtomicUsize = AtomicUsize::new(0);

impl Drop for Noted {
    fn drop(&mut self) {
        if self.0.sum() == 7 {
            DROPPED.fetch_add(1, Ordering::SeqCst);
        }
    }
}

impl Metric for Noted {
    type Total = u64;

    fn total(&self) -> u64 {
        self.0.sum()
    }

    fn merge(one: &mut u64, other: u64) {
        *one += other;
    }
}

/// A thread borrows one series at a time, and then two of the same family and one of another. None
/// is freed before it lets go, and all are freed after that.
#[test]
fn a_borrowed_series_is_freed_after_its_borrower_has_let_go() {
    let (family, other) = (Family::<Key, Noted>::new(), Family::<Key, Noted>::new());
    for borrowed in 1..=3 {
        DROPPED.store(0, Ordering::SeqCst);
        let (has_it, wait) = channel();
        let (let_go, until) = channel::<()>();
        thread::scope(|scope| {
            scope.spawn(|| {
                let until = until;
                // The first uses, by a pin.
                for (of, key) in [(&family, 1), (&family, 2), (&other, 3)] {
                    of.with(Key { key }).0.add(3);
                }
                let first = family.with(Key { key: 1 });
                let second = (borrowed > 1).then(|| family.with(Key { key: 2 }));
                let third = (borrowed > 2).then(|| other.with(Key { key: 3 }));
                for one in [&first].into_iter().chain(&second).chain(&third) {
                    one.0.add(4);
                }
                has_it.send(()).unwrap();
                until.recv().unwrap();
                drop(first);
                drop((second, third));
            });
            wait.recv().unwrap();
            for key in [1, 2, 3] {
                family.remove(Key { key });
                other.remove(Key { key });
            }
            for _ in 0..10 {
                _ = (family.lifetime(), other.lifetime());
            }
            assert_eq!(DROPPED.load(Ordering::SeqCst), 0);
            let_go.send(()).unwrap();
        });
        while DROPPED.load(Ordering::SeqCst) < borrowed {
            _ = (family.lifetime(), other.lifetime());
            thread::yield_now();
        }
    }
    assert_eq!((family.lifetime(), other.lifetime()), (3 * 6 + 3 * 4 + 2 * 4, 3 * 3 + 4));
}

type Kept = RefCell<Option<Pinned<'static, Key, Counter>>>;

static FAMILY: Family<Key, Counter> = Family::new();

thread_local! {
    static KEPT: Kept = const { RefCell::new(None) };
}

/// Threads end while they have a series: some leak it, and others drop it as one of their last
/// values. Threads that come after them, and get what they left, borrow others. (A thread that
/// leaks a pin would be pinned for ever: where lookups pin, none does.)
#[test]
fn a_series_may_be_borrowed_to_the_end_of_a_thread_or_be_leaked() {
    let announces = matches!(strategy(), Strategy::PerCore | Strategy::Portable);
    for round in 0..20 {
        let threads = [0, 1, 2].map(|kind| {
            thread::spawn(move || {
                let key = 10 * round + kind;
                FAMILY.with(Key { key }).increment();
                let series = FAMILY.with(Key { key });
                series.increment();
                match kind {
                    0 if announces => mem::forget(series),
                    1 => KEPT.set(Some(series)),
                    _ => drop(series),
                }
            })
        });
        for thread in threads {
            thread.join().unwrap();
        }
        for kind in 0..3 {
            assert!(FAMILY.remove(Key { key: 10 * round + kind }));
        }
        assert_eq!(FAMILY.lifetime(), 6 * (u64::from(round) + 1));
    }
}
