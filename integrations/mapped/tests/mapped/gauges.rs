//! Gauges and operations in progress: of processes that live, are stopped, die, or fork.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Lines, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Stdio};
use std::{fs, io};

use windrow_mapped::{File, InFlightGuard, Level, MappedError, Owner, Reader};

use crate::child;
use crate::forked::{fork, has_succeeded};

const CHILD: &str = "gauges::the_child_has_a_part";

/// Runs in a child: adds the number of its task to both gauges, says so, and waits.
#[test]
fn the_child_has_a_part() {
    let Some((path, task)) = child::task() else { return };
    let number: i64 = task.parse().unwrap();
    let file = File::open(path).unwrap();
    file.gauge("open", &[]).unwrap().add(number);
    let in_flight = file.in_flight("calls", &[]).unwrap();
    let guards: Vec<InFlightGuard> = (0..number).map(|_| in_flight.enter()).collect();
    println!("\nready");
    io::stdin().read_line(&mut String::new()).unwrap();
    drop(guards);
}

/// A process with a part of each gauge, and its output, which stays open. It is killed at the
/// latest when the test is over.
struct Process(Child, Lines<BufReader<ChildStdout>>);

impl Process {
    /// Starts a process, and waits until it has its part.
    fn start(path: &Path, number: i64) -> Process {
        Process::run(child::command(CHILD, path, &number.to_string()))
    }

    fn run(mut command: std::process::Command) -> Process {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.by_ref().any(|line| line.unwrap() == "ready"));
        Process(child, lines)
    }

    fn signal(&self, signal: libc::c_int) {
        // SAFETY: sends a signal to a child that was not waited for.
        assert_eq!(unsafe { libc::kill(self.0.id().cast_signed(), signal) }, 0);
    }

    fn kill(mut self) {
        // To wait would close it, and in a name space let the process leave before it is killed.
        let input = self.0.stdin.take();
        self.0.kill().unwrap();
        self.0.wait().unwrap();
        drop(input);
    }

    /// Lets the process leave and end by itself.
    fn end(mut self) {
        self.0.stdin.take().unwrap().write_all(b"\n").unwrap();
        assert!(self.0.wait().unwrap().success());
        assert!(self.1.by_ref().all(|line| line.is_ok()));
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill(); // it may have ended
        let _ = self.0.wait();
    }
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("f");
    (folder, path)
}

/// Returns the level of a gauge: of the living, and of the dead.
fn level(path: &Path, name: &str) -> (i64, i64) {
    let reading = Reader::open(path).unwrap().read().unwrap();
    let Level { live, dead, .. } = reading.get(name, &[]).unwrap().unwrap().level().unwrap();
    (live, dead)
}

fn levels(path: &Path) -> [(i64, i64); 2] {
    ["open", "calls"].map(|name| level(path, name))
}

fn owners(path: &Path) -> Vec<Owner> {
    Reader::open(path).unwrap().read().unwrap().owners().collect()
}

#[test]
fn the_living_are_added_up_and_what_the_dead_left_is_apart() {
    let (_folder, path) = folder();
    let [first, second] = [5, 3].map(|number| Process::start(&path, number));
    assert_eq!(levels(&path), [(8, 0); 2]);
    let reading = Reader::open(&path).unwrap().read().unwrap();
    let parts: Vec<(bool, u32, i64)> = reading
        .get("open", &[])
        .unwrap()
        .unwrap()
        .parts()
        .map(|(owner, part)| (owner.is_live, owner.process, part))
        .collect();
    assert_eq!(parts, [(true, first.0.id(), 5), (true, second.0.id(), 3)]);
    let dead = first.0.id();
    first.kill();
    assert_eq!(levels(&path), [(3, 5); 2]);
    let found: Vec<(u32, bool)> =
        owners(&path).iter().map(|owner| (owner.process, owner.is_live)).collect();
    assert_eq!(found, [(dead, false), (second.0.id(), true)]);
    // A process that leaves and ends by itself has left nothing in flight.
    second.end();
    assert_eq!(levels(&path), [(0, 8), (0, 5)]);
}

#[test]
fn a_process_that_is_stopped_lives() {
    let (_folder, path) = folder();
    let process = Process::start(&path, 5);
    process.signal(libc::SIGSTOP);
    assert_eq!(levels(&path), [(5, 0); 2]);
    process.signal(libc::SIGCONT);
    process.end();
    assert_eq!(levels(&path), [(0, 5), (0, 0)]);
}

#[test]
fn the_next_owner_of_a_slot_begins_at_zero() {
    let (_folder, path) = folder();
    File::builder().owners(1).open(&path).unwrap();
    Process::start(&path, 5).kill();
    assert_eq!(levels(&path), [(0, 5); 2]);
    let next = Process::start(&path, 2);
    assert_eq!(levels(&path), [(2, 0); 2]);
    assert_eq!(owners(&path).len(), 1);
    next.kill();
    assert_eq!(levels(&path), [(0, 2); 2]);
}

#[test]
fn what_the_dead_left_stays_while_other_slots_are_free() {
    let (_folder, path) = folder();
    File::builder().owners(3).open(&path).unwrap();
    Process::start(&path, 5).kill();
    for _ in 0..3 {
        Process::start(&path, 0).end();
    }
    assert_eq!(levels(&path), [(0, 5); 2]);
    let living = [1, 2].map(|number| Process::start(&path, number));
    assert_eq!(levels(&path), [(3, 5); 2]);
    let last = Process::start(&path, 7);
    assert_eq!(levels(&path), [(10, 0); 2]);
    drop((living, last));
}

#[test]
fn slots_that_are_all_taken_are_an_error_and_a_dead_process_makes_room() {
    let (_folder, path) = folder();
    let file = File::builder().owners(2).open(&path).unwrap();
    let mut processes = [1, 2].map(|number| Some(Process::start(&path, number)));
    let error = file.gauge("open", &[]).unwrap_err();
    assert!(matches!(&error, MappedError::OwnersFull { path: full, owners: 2 } if *full == path));
    assert!(matches!(file.take_slot().unwrap_err(), MappedError::OwnersFull { .. }));
    file.counter("counter", &[]).unwrap().add(1); // has no need of a slot
    processes[0].take().unwrap().kill();
    file.gauge("open", &[]).unwrap().add(4);
    assert_eq!(level(&path, "open"), (6, 0));
}

#[test]
fn sixty_four_processes_have_slots_by_default() {
    let (_folder, path) = folder();
    let file = File::open(&path).unwrap();
    let workers: Vec<libc::pid_t> = (0..64)
        .map(|_| {
            fork(|| {
                let gauge = file.gauge("open", &[]).unwrap();
                gauge.add(1);
                // Until the parent has read, and closes the gate.
                let gate = file.counter("gate", &[]).unwrap();
                file.counter("ready", &[]).unwrap().add(1);
                while gate.sum() == 0 {
                    std::thread::sleep(std::time::Duration::from_millis(5));
                }
                true
            })
        })
        .collect();
    let ready = file.counter("ready", &[]).unwrap();
    while ready.sum() < 64 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert_eq!(level(&path, "open"), (64, 0));
    let slots: HashSet<u32> = owners(&path).iter().map(|owner| owner.slot).collect();
    assert_eq!(slots.len(), 64);
    let error = file.gauge("open", &[]).unwrap_err();
    assert!(matches!(error, MappedError::OwnersFull { owners: 64, .. }), "{error}");
    file.counter("gate", &[]).unwrap().add(1);
    assert!(workers.into_iter().all(has_succeeded));
    file.gauge("open", &[]).unwrap();
}

#[test]
fn more_gauges_than_words_are_an_error() {
    let (_folder, path) = folder();
    let file = File::builder().gauges(3).open(&path).unwrap(); // seven, by the line
    for number in 0..7_i64 {
        file.gauge("open", &[("number", &number.to_string())]).unwrap().add(number);
    }
    let error = file.in_flight("calls", &[]).unwrap_err();
    assert!(
        matches!(&error, MappedError::Full { name, part: "words for gauges", most: 7 } if name == "calls")
    );
    assert_eq!(file.metrics().unwrap(), 7);
    let reading = Reader::open(&path).unwrap().read().unwrap();
    let levels: Vec<i64> =
        reading.named("open").map(|metric| metric.level().unwrap().live).collect();
    assert_eq!(levels, [0, 1, 2, 3, 4, 5, 6]);
}

#[test]
fn a_level_may_be_below_zero_and_be_set() {
    let (_folder, path) = folder();
    let gauge = File::open(&path).unwrap().gauge("open", &[]).unwrap();
    gauge.add(-7);
    assert_eq!((gauge.own(), level(&path, "open")), (-7, (-7, 0)));
    gauge.set(i64::MIN);
    gauge.decrement(); // wraps
    assert_eq!(level(&path, "open"), (i64::MAX, 0));
    gauge.set(3);
    gauge.increment();
    assert_eq!(level(&path, "open"), (4, 0));
}

#[test]
fn guards_leave_in_any_thread() {
    let (_folder, path) = folder();
    let calls = File::open(&path).unwrap().in_flight("calls", &[]).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..10_000 {
                    let [one, other] = [calls.enter(), calls.enter()];
                    scope.spawn(move || drop(one)).join().unwrap();
                    assert!(calls.own() >= 1);
                    drop(other);
                }
            });
        }
    });
    let kept = calls.enter();
    assert_eq!(level(&path, "calls"), (1, 0));
    drop(kept);
    assert_eq!(level(&path, "calls"), (0, 0));
}

#[test]
fn a_forked_child_has_a_part_of_its_own_and_its_copies_of_guards_leave_nothing() {
    let (_folder, path) = folder();
    let file = File::open(&path).unwrap();
    let (open, calls) = (file.gauge("open", &[]).unwrap(), file.in_flight("calls", &[]).unwrap());
    open.add(10);
    let guards = [calls.enter(), calls.enter()];
    let mut guards = Some(guards);
    let child = fork(|| {
        let zero = open.own() == 0 && calls.own() == 0;
        drop(guards.take()); // before this process has a slot
        open.add(1);
        let own = calls.enter();
        let now = level(&path, "open") == (11, 0) && level(&path, "calls") == (3, 0);
        drop(own);
        zero && now && open.own() == 1 && calls.own() == 0
    });
    assert!(has_succeeded(child));
    assert_eq!([level(&path, "open"), level(&path, "calls")], [(10, 1), (2, 0)]);
    drop(guards);
    assert_eq!(level(&path, "calls"), (0, 0));

    // A guard that is dropped when the child has a slot.
    let guard = calls.enter();
    let child = fork(|| {
        open.add(1);
        let inherited = guard;
        drop(inherited);
        calls.own() == 0
    });
    assert!(has_succeeded(child));
    assert_eq!(calls.own(), 0, "the closure has moved the guard, which left here");
}

/// Runs in a child, which forks a grandchild and is killed while that one lives.
#[test]
fn the_child_forks() {
    let Some((path, task)) = child::task() else { return };
    let file = File::open(path).unwrap();
    let open = file.gauge("open", &[]).unwrap();
    open.add(5);
    let grandchild = || {
        println!("\n{}", std::process::id());
        if task != "without" {
            open.add(1);
        }
        println!("ready");
        std::thread::sleep(std::time::Duration::from_secs(60));
        true
    };
    if task == "by the kernel" {
        // SAFETY: a fork without the C library's handlers. This process has no other thread that
        // could hold a lock of its memory.
        if unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) } == 0 {
            grandchild();
        }
    } else {
        fork(grandchild);
    }
    std::thread::sleep(std::time::Duration::from_secs(60));
}

#[test]
fn a_forked_child_does_not_keep_its_dead_parent_alive() {
    for (task, live) in [("with a part", 1), ("without", 0), ("by the kernel", 1)] {
        let (_folder, path) = folder();
        let mut command = child::command("gauges::the_child_forks", &path, task);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).process_group(0);
        let mut parent = command.spawn().unwrap();
        let mut lines = BufReader::new(parent.stdout.take().unwrap()).lines();
        let mut all = lines.by_ref().map(Result::unwrap).take_while(|line| line != "ready");
        let grandchild: libc::pid_t = all.by_ref().last().unwrap().parse().unwrap();
        assert_eq!(level(&path, "open"), (5 + live, 0), "{task}");
        parent.kill().unwrap();
        parent.wait().unwrap();
        let after = level(&path, "open");
        // SAFETY: ends the grandchild, which this test has started.
        unsafe { libc::kill(grandchild, libc::SIGKILL) };
        assert_eq!(after, (live, 5), "{task}");
    }
}

#[test]
fn a_forked_child_without_a_slot_is_not_seen_until_it_has_one() {
    let (_folder, path) = folder();
    let file = File::builder().owners(2).open(&path).unwrap();
    let calls = file.in_flight("calls", &[]).unwrap();
    let open = file.gauge("open", &[]).unwrap();
    let other = Process::start(&path, 1); // has the last slot
    open.add(1);
    let child = fork(|| {
        open.add(7);
        let guard = calls.enter();
        let own = (open.own(), calls.own());
        let hidden = level(&path, "open") == (2, 0);
        let refused = matches!(file.take_slot(), Err(MappedError::OwnersFull { owners: 2, .. }));
        other.signal(libc::SIGKILL);
        while file.take_slot().is_err() {
            std::thread::yield_now();
        }
        drop(guard); // was not counted in the slot that is there now
        let begun = (open.own(), calls.own());
        open.add(3);
        own == (7, 1) && hidden && refused && begun == (0, 0) && level(&path, "open") == (4, 0)
    });
    assert!(has_succeeded(child));
    assert_eq!(level(&path, "open"), (1, 3));
}

#[test]
fn processes_of_other_containers_are_judged_rightly() {
    let (_folder, path) = folder();
    let wrapped = |number: i64| {
        let program = child::command(CHILD, &path, &number.to_string());
        let mut command = std::process::Command::new("unshare");
        command.args(["--pid", "--fork", "--kill-child", "--mount", "--net"]);
        command.arg(program.get_program()).args(program.get_args());
        command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command
    };
    let allowed = std::process::Command::new("unshare").args(["--pid", "--fork", "true"]).output();
    if !allowed.is_ok_and(|output| output.status.success()) {
        return println!("not run, because name spaces cannot be made");
    }
    let [first, second] = [5, 3].map(|number| Process::run(wrapped(number)));
    assert_eq!(levels(&path), [(8, 0); 2]);
    let processes: Vec<u32> = owners(&path).iter().map(|owner| owner.process).collect();
    assert_eq!(processes, [1, 1], "each of them calls itself so");
    first.kill();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while levels(&path) != [(3, 5); 2] {
        assert!(std::time::Instant::now() < deadline, "{:?}", levels(&path));
    }
    second.kill();
}

#[test]
fn hostile_values_in_slots_are_values_and_no_more() {
    use std::os::unix::fs::FileExt;

    let (_folder, path) = folder();
    let file = File::builder().owners(8).open(&path).unwrap();
    let gauge = file.gauge("open", &[]).unwrap();
    gauge.add(1);
    let bytes = fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
    let mut table = [0; 4];
    bytes.read_exact_at(&mut table, 28).unwrap();
    let states = 4096 + u64::from(u32::from_le_bytes(table)).next_multiple_of(4096);
    for state in [1_u64, 2, 3, u64::MAX - 1, u64::MAX] {
        for slot in 1..8 {
            bytes.write_all_at(&state.to_le_bytes(), states + slot * 8).unwrap();
        }
        bytes.write_all_at(&[0xff; 7 * 512], states + 4096 + 512).unwrap();
        let (live, dead) = level(&path, "open");
        assert_eq!((live, dead), (1, if state % 2 == 0 { -7 } else { 0 }), "{state}");
        // The next process takes one of them.
        let child = fork(|| {
            gauge.add(2);
            level(&path, "open").0 == 3 && owners(&path).iter().filter(|it| it.is_live).count() == 2
        });
        assert!(has_succeeded(child), "{state}");
    }
}
