//! Broken twins of an add, which must lose counts: they show that the tests of several processes
//! could see a loss, and that each rule of [`sequence`](crate::sequence) is needed.

use std::arch::asm;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::cells::Cells;
use crate::file::File;
use crate::layout::ROW_SHIFT;
use crate::tests as child;

const CHILD: &str = "cells::tests::twins::the_child_adds";

/// The adds of each process.
const ADDS: u64 = 50_000_000;

/// The time in which both processes are up.
const START: Duration = Duration::from_secs(60);

/// An add to the row of the concurrency id, which two processes may have on two processors at once.
fn add_by_concurrency_id(cells: &Cells, n: u64) {
    let first = cells.first.as_ptr();
    let mut is_added = 0_u32;
    while is_added == 0 {
        // SAFETY: as `add` of the sequence. (An id is less than the number of processors.)
        unsafe {
            asm!(
                ".pushsection __rseq_cs, \"aw?\", @progbits",
                ".balign 32",
                "66:",
                ".long 0, 0",
                ".quad 62f, 63f - 62f, 64f",
                ".popsection",
                ".pushsection .text.rseq_abort, \"ax?\", @progbits",
                ".byte 0x0f, 0xb9, 0x3d",
                ".long 0x53053053",
                "64:",
                "xor {is_added:e}, {is_added:e}",
                "jmp 65f",
                ".popsection",
                "mov {is_added:e}, 1",
                "lea {row}, [rip + 66b]",
                "mov qword ptr fs:[{area} + 8], {row}",
                "62:",
                "mov {row:e}, dword ptr fs:[{area} + 24]",
                "shl {row}, {row_shift}",
                "add qword ptr [{row} + {first}], {n}",
                "63:",
                "65:",
                row = out(reg) _,
                is_added = inout(reg) is_added,
                area = in(reg) cells.area,
                first = in(reg) first,
                n = in(reg) n,
                row_shift = const ROW_SHIFT,
                options(nostack),
            );
        }
    }
}

/// Runs in a child.
#[test]
fn the_child_adds() {
    let Some((path, task)) = child::task() else { return };
    let (row, task) = task.split_once(' ').unwrap();
    let file = File::open(path).unwrap();
    let calls = file.counter("calls", &[]).unwrap().cells;
    // Both processes wait until the other one is there.
    let ready = file.counter("ready", &[]).unwrap();
    ready.add(1);
    let begun = Instant::now();
    while ready.sum() < 2 {
        assert!(begun.elapsed() < START);
        std::thread::yield_now();
    }
    let cell: &AtomicU64 = calls.cell(row.parse().unwrap());
    let add: &dyn Fn() = match task {
        "by concurrency id" => &|| add_by_concurrency_id(&calls, 1),
        "plain" => &|| calls.add(1),
        "locked in a plain row" => &|| {
            cell.fetch_add(1, Ordering::Relaxed);
        },
        "locked" => &|| calls.add_locked(calls.plain, 1),
        other => panic!("{other}"),
    };
    (0..ADDS).for_each(|_| add());
}

/// Returns the number of adds that two processes have lost, each on a processor of its own.
///
/// So they run at once, and each has the concurrency id 0, which is that of the first processor on
/// which a process runs. The first one adds to the row that each task begins with.
fn lost(path: &Path, tasks: [&str; 2]) -> u64 {
    let processors = processors();
    let mut numbers = processors.into_iter();
    let mut children = tasks.map(|task| {
        let number = numbers.next().unwrap();
        let mut command = child::command(CHILD, path, &format!("{} {task}", processors[0]));
        // SAFETY: between fork and exec it makes a system call alone.
        unsafe { command.pre_exec(move || stay_on(number)) };
        command.spawn().unwrap()
    });
    assert!(children.iter_mut().all(|child| child.wait().unwrap().success()));
    let calls = File::open(path).unwrap().counter("calls", &[]).unwrap();
    2 * ADDS - calls.sum()
}

/// Returns the first two processors that this process may use.
fn processors() -> [usize; 2] {
    // SAFETY: all zeros are an empty set, which the call fills.
    let set = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        assert_eq!(libc::sched_getaffinity(0, size_of_val(&set), &raw mut set), 0);
        set
    };
    // SAFETY: the number is less than the size of a set.
    let is_there = |number: &usize| unsafe { libc::CPU_ISSET(*number, &set) };
    let mut all = (0..libc::CPU_SETSIZE as usize).filter(is_there);
    [(); 2].map(|()| all.next().expect("two processors"))
}

/// Lets this process run on one processor alone.
fn stay_on(number: usize) -> io::Result<()> {
    // SAFETY: all zeros are an empty set.
    let result = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(number, &mut set);
        libc::sched_setaffinity(0, size_of_val(&set), &raw const set)
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Runs two processes until they have lost adds, or ten times.
fn some_are_lost(tasks: [&str; 2]) -> bool {
    (0..10).any(|_| {
        let folder = tempfile::tempdir_in("/dev/shm").unwrap();
        let lost = lost(&folder.path().join("f"), tasks);
        println!("{tasks:?}: {lost} of {} adds lost", 2 * ADDS);
        lost > 0
    })
}

#[test]
#[ignore = "long: two processes add for seconds, on two processors"]
fn twins_lose_adds_and_the_real_ones_do_not() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let is_plain = File::open(folder.path().join("f")).unwrap().is_plain();
    if !is_plain || std::thread::available_parallelism().unwrap().get() < 2 {
        return; // no sequences, or no two threads at once
    }
    assert!(some_are_lost(["by concurrency id", "by concurrency id"]));
    assert!(some_are_lost(["plain", "locked in a plain row"]));
    for (name, tasks) in [("p", ["plain", "plain"]), ("m", ["plain", "locked"])] {
        assert_eq!(lost(&folder.path().join(name), tasks), 0, "{tasks:?}");
    }
}
