//! A kernel that refuses `membarrier`: from the beginning, or from some time on.

use std::thread;

use crate::refused::refuse;
use crate::work::Work;
use testkit::alone;

/// Makes the kernel refuse `membarrier` to this thread and those that it will start.
fn refuse_barriers() {
    refuse(libc::SYS_membarrier);
    // SAFETY: a plain question.
    assert_eq!(unsafe { libc::syscall(libc::SYS_membarrier, 0, 0, 0) }, -1, "still allowed");
}

fn by_threads(work: &Work) {
    let books: Vec<_> = thread::scope(|scope| {
        let threads = [0, 1, 2, 3].map(|thread| scope.spawn(move || work.run(thread)));
        threads.into_iter().map(|thread| thread.join().expect("no thread panics")).collect()
    });
    work.check(0..4, &books);
}

#[test]
fn refused_from_the_beginning() {
    alone::in_each_strategy("barriers::refused_before_the_first_window");
    for way in &alone::WAYS[..2] {
        alone::run("barriers::refused_after_the_first_use", way);
    }
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn refused_before_the_first_window() {
    refuse_barriers();
    by_threads(&Work::new());
}

/// The process has chosen barriers, and windows cannot have them.
#[test]
#[ignore = "run by another test, in a process of its own"]
fn refused_after_the_first_use() {
    windrow::diagnostics::strategy();
    refuse_barriers();
    let window =
        testkit::window::<crate::Seen>(testkit::ns(10), 2, &windrow::clock::Manual::default());
    assert_eq!(window.strategy(), windrow::diagnostics::Strategy::Fenced);
    by_threads(&Work::new());
}

/// Then a retired bucket can never be closed: buckets open without a block.
#[test]
fn refused_later() {
    alone::in_each_strategy("barriers::refused_between_two_adds");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn refused_between_two_adds() {
    let before = Work::new();
    let books = [before.run(0)];
    let after = Work::new();
    refuse_barriers();
    by_threads(&after);
    after.grows_exactly();
    before.check(0..1, &books);
    before.grows_exactly();
}
