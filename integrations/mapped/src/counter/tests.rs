//! Adds in each of their ways.

use crate::file::File;

use super::*;

fn counter() -> Counter {
    File::builder().columns(512).sealed().unwrap().counter("a", &[]).unwrap()
}

#[test]
fn an_add_is_plain_and_in_one_cell() {
    let file = File::builder().columns(512).sealed().unwrap();
    if !file.is_plain() {
        return; // no sequences here
    }
    let counter = file.counter("a", &[]).unwrap();
    counter.add(5);
    let cells: Vec<u64> =
        (0..counter.plain).map(|row| counter.cell(row).load(Ordering::Relaxed)).collect();
    assert_eq!(cells.iter().sum::<u64>(), 5, "{cells:?}");
    assert_eq!(cells.iter().filter(|cell| **cell != 0).count(), 1, "{cells:?}");
}

#[test]
fn a_processor_without_a_row_adds_to_a_locked_one() {
    let counter = Counter { rows: 0, ..counter() };
    counter.add(3);
    assert_eq!(counter.sum(), 3);
    assert!((0..counter.plain).all(|row| counter.cell(row).load(Ordering::Relaxed) == 0));
}

#[test]
fn threads_take_different_locked_rows() {
    let counter = Counter { rows: 0, ..counter() };
    std::thread::scope(|scope| {
        for _ in 0..counter.locked {
            scope.spawn(|| counter.add(1));
        }
    });
    let used = |row: &u32| counter.cell(*row).load(Ordering::Relaxed) != 0;
    assert!((counter.plain..).take(counter.locked as usize).filter(used).count() > 1);
    assert_eq!(counter.sum(), counter.locked.into());
}

#[test]
fn sums_wrap() {
    let counter = counter();
    counter.add(u64::MAX);
    counter.add(3);
    assert_eq!(counter.sum(), 2);
}

#[cfg(all(target_arch = "x86_64", target_env = "gnu", not(target_feature = "crt-static")))]
mod twins;
