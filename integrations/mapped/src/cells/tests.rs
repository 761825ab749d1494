//! Adds and raises in each of their ways.

use crate::file::File;

use super::*;

fn cells() -> Cells {
    let file = File::builder().columns(512).sealed().unwrap();
    file.counter("a", &[]).unwrap().cells
}

#[test]
fn an_add_is_plain_and_in_one_cell() {
    let file = File::builder().columns(512).sealed().unwrap();
    if !file.is_plain() {
        return; // no sequences here
    }
    let cells = file.counter("a", &[]).unwrap().cells;
    cells.add(5);
    let values: Vec<u64> =
        (0..cells.plain).map(|row| cells.cell(row).load(Ordering::Relaxed)).collect();
    assert_eq!(values.iter().sum::<u64>(), 5, "{values:?}");
    assert_eq!(values.iter().filter(|value| **value != 0).count(), 1, "{values:?}");
}

#[test]
fn a_processor_without_a_row_adds_to_a_locked_one() {
    let cells = Cells { rows: 0, ..cells() };
    cells.add(3);
    assert_eq!(cells.sum(), 3);
    assert!((0..cells.plain).all(|row| cells.cell(row).load(Ordering::Relaxed) == 0));
}

#[test]
fn a_processor_behind_the_rows_of_the_file_adds_to_a_locked_one() {
    let file = File::builder().columns(512).sealed().unwrap();
    if !file.is_plain() || std::thread::available_parallelism().unwrap().get() < 2 {
        return; // no sequences, or no processor of number 1
    }
    let [sum, most] = ["sum", "most"].map(|name| {
        let cells = file.counter(name, &[]).unwrap().cells;
        Cells { rows: 1, ..cells }
    });
    let is_moved = std::thread::spawn(move || {
        // SAFETY: all zeros are an empty set.
        let is_moved = unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(1, &mut set);
            libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set) == 0
        };
        sum.add(3);
        most.raise(4);
        is_moved
    });
    if is_moved.join().unwrap() {
        for (cells, value) in [(sum, 3), (most, 4)] {
            assert_eq!(cells.greatest(), value);
            assert!((0..cells.plain).all(|row| cells.cell(row).load(Ordering::Relaxed) == 0));
        }
    }
}

#[test]
fn threads_take_different_locked_rows() {
    let cells = Cells { rows: 0, ..cells() };
    std::thread::scope(|scope| {
        for _ in 0..cells.locked {
            scope.spawn(|| cells.add(1));
        }
    });
    let used = |row: &u32| cells.cell(*row).load(Ordering::Relaxed) != 0;
    assert!((cells.plain..).take(cells.locked as usize).filter(used).count() > 1);
    assert_eq!(cells.sum(), cells.locked.into());
}

#[test]
fn sums_wrap() {
    let cells = cells();
    cells.add(u64::MAX);
    cells.add(3);
    assert_eq!(cells.sum(), 2);
}

#[test]
fn a_raise_is_plain_or_locked_and_never_lowers() {
    for cells in [cells(), Cells { rows: 0, ..cells() }] {
        for (value, greatest) in [(5, 5), (3, 5), (5, 5), (u64::MAX, u64::MAX), (0, u64::MAX)] {
            cells.raise(value);
            assert_eq!(cells.greatest(), greatest);
        }
        assert_eq!(cells.sum(), u64::MAX, "one cell was written");
    }
}

#[cfg(all(target_arch = "x86_64", target_env = "gnu", not(target_feature = "crt-static")))]
mod twins;
