//! One limit of several clients.

use std::sync::Barrier;
use std::task::{Context, Waker};
use std::thread;
use std::time::{Duration, Instant};

use windrow::AtMost;
use windrow::gate::Admission;
use windrow_redis::{Engine, SharedError, SharedGate};

use crate::book::Book;
use crate::server::{LONG, Server, engine, on_each, until};

const INTERVAL: Duration = Duration::from_millis(200);

/// Connects clients of one limit, each with an engine handle of its own, as processes have.
fn clients(server: &Server, limit: u64, count: usize) -> Vec<SharedGate> {
    let builder = SharedGate::builder(AtMost(limit)).interval(INTERVAL).buckets(4).name("it");
    (0..count).map(|_| builder.connect(&server.url()).unwrap()).collect()
}

/// Waits until the limit is no longer cold.
pub(crate) fn warm(gate: &SharedGate) {
    until("a permit", || gate.admit_blocking(1, Duration::from_millis(50)).is_granted());
}

#[test]
fn all_clients_together_stay_within_the_limit() {
    on_each(|program| {
        let server = Server::start(program, &[]);
        let folder = tempfile::tempdir().unwrap();
        let book = Book::open(&folder.path().join("book"), INTERVAL / 4);
        let (clients, limit) = (clients(&server, 300, 4), 300);
        let begun = Instant::now();
        thread::scope(|scope| {
            for (i, gate) in clients.iter().enumerate() {
                let book = &book;
                scope.spawn(move || {
                    while begun.elapsed() < Duration::from_millis(1_500) {
                        let weight = 1 + i as u64 % 2;
                        let patience = Duration::from_millis(2);
                        if !book.admit(weight, || gate.try_admit(weight)) {
                            book.admit(weight, || {
                                gate.admit_blocking(weight, patience).is_granted()
                            });
                        }
                        thread::sleep(Duration::from_micros(200));
                    }
                });
            }
        });
        let (worst, all) = book.worst(4);
        assert!(worst <= limit, "{program}: {worst} of {limit}");
        assert!(all > limit, "{program}: {all} in all");
    });
}

#[test]
fn a_weight_above_the_limit_never_fits_and_none_always_does() {
    let Some(server) = engine() else { return };
    let gate = &clients(&server, 5, 1)[0];
    let never = Admission::Refused { retry_after: None };
    assert_eq!(gate.admit_blocking(6, LONG), never);
    assert!(!gate.try_admit(6));
    assert!(gate.try_admit(0));
    assert_eq!(gate.admit_blocking(0, Duration::ZERO), Admission::Now);
    assert!(gate.admit_blocking(5, LONG).is_granted(), "the whole limit at once, once it is warm");
}

#[test]
fn a_spent_limit_refuses_by_itself_and_says_until_when() {
    let Some(server) = engine() else { return };
    let gate = &clients(&server, 5, 1)[0];
    assert!(gate.admit_blocking(5, LONG).is_granted());
    let refused = gate.admit_blocking(5, Duration::from_millis(10));
    let Admission::Refused { retry_after: Some(after) } = refused else {
        panic!("{refused:?}");
    };
    assert!(after <= INTERVAL * 2, "{after:?}");
    let asks = gate.engine().asks();
    for _ in 0..1_000 {
        assert!(!gate.admit_blocking(5, Duration::ZERO).is_granted());
    }
    assert!(gate.engine().asks() <= asks + 2, "a refusal asks nobody");
    thread::sleep(after);
    assert!(gate.admit_blocking(5, LONG).is_granted());
}

#[test]
fn futures_wait_without_a_runtime_and_leave_nothing_behind() {
    let Some(server) = engine() else { return };
    let gate = &clients(&server, 40, 1)[0];
    let patient = || block_on(gate.admit(1, LONG));
    assert_eq!(patient(), Admission::Now, "through the cold");
    let results: Vec<Admission> = thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| (0..10).map(|_| patient()).collect::<Vec<_>>()))
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert!(results.iter().all(|result| *result == Admission::Now), "{results:?}");
    // One that is dropped in the middle takes nothing, and wakes no other.
    let mut given_up = Box::pin(gate.admit_owned(40, LONG));
    let _ = given_up.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    drop(given_up);
    let impatient = block_on(gate.admit(40, Duration::from_millis(1)));
    assert!(!impatient.is_granted(), "its patience ends without an answer that it likes");
}

#[test]
fn what_was_reserved_and_not_used_is_given_back() {
    let Some(server) = engine() else { return };
    let builder =
        SharedGate::builder(AtMost(1_000)).interval(Duration::from_millis(800)).buckets(2);
    let gate = builder.connect(&server.url()).unwrap();
    let reserved = block_on(gate.reserve(1_000, LONG)).unwrap();
    assert_eq!(reserved.weight(), 1_000);
    assert!(gate.try_reserve(1).is_none(), "all is reserved");
    reserved.settle(400);
    assert!(gate.try_admit(600), "to this process's own ration");
    assert!(block_on(gate.reserve(1_001, LONG)).is_err());
    // After the end of its ration it goes back to the engine.
    let late = block_on(gate.reserve(1_000, LONG)).unwrap();
    until("the ration is over", || gate.left() == 0 && gate.try_reserve(1).is_none());
    late.cancel();
    assert!(gate.admit_blocking(1, LONG).is_granted());
}

#[test]
fn a_change_of_the_limit_reaches_all_clients() {
    let Some(server) = engine() else { return };
    let clients = clients(&server, 10, 2);
    clients.iter().for_each(warm);
    clients[0].set_limit(AtMost(50)).unwrap();
    until("the other learns of it", || {
        let _ = clients[1].admit_blocking(1, Duration::from_millis(5));
        clients[1].limit() == 50
    });
    until("more than before is admitted at once", || {
        clients[1].admit_blocking(30, Duration::from_millis(50)).is_granted()
    });
    // A client that comes later, with the old limit, learns of it too.
    let later = SharedGate::builder(AtMost(10)).interval(INTERVAL).buckets(4).name("it");
    assert_eq!(later.connect(&server.url()).unwrap().limit(), 50);
    assert!(clients[0].set_limit(AtMost(u64::MAX)).is_err());
}

#[test]
fn of_two_changes_at_once_the_one_that_is_lost_is_told_which_limit_holds() {
    on_each(|program| {
        let server = Server::start(program, &[]);
        let clients = clients(&server, 10, 2);
        clients.iter().for_each(warm);
        let mut lost = 0;
        for round in 0..20 {
            let wanted = [100 + round, 200 + round];
            let barrier = Barrier::new(2);
            let outcomes: [_; 2] = thread::scope(|scope| {
                [0, 1]
                    .map(|i| (&clients[i], wanted[i]))
                    .map(|(gate, limit)| {
                        let barrier = &barrier;
                        scope.spawn(move || {
                            barrier.wait();
                            let change = gate.set_limit(AtMost(limit)).unwrap();
                            if round % 2 == 0 { change.block() } else { block_on(change) }
                        })
                    })
                    .map(|thread| thread.join().unwrap())
            });
            let limits: Vec<u64> = clients.iter().map(SharedGate::limit).collect();
            for (i, outcome) in outcomes.into_iter().enumerate() {
                match outcome {
                    Ok(()) => {}
                    Err(SharedError::OtherLimit { limit, in_force }) => {
                        assert_eq!((limit, in_force), (wanted[i], wanted[1 - i]), "{program}");
                        assert_eq!(limits[i], in_force, "{program}");
                        lost += 1;
                    }
                    Err(error) => panic!("{program}: {error}"),
                }
            }
            until("both have the same limit", || {
                for gate in &clients {
                    let _ = gate.admit_blocking(1, Duration::from_millis(5));
                }
                clients[0].limit() == clients[1].limit()
            });
        }
        println!("{program}: {lost} of 20 changes were lost");
        assert!(lost > 0, "{program}");
        // One that was not heard of wins, and a second call wins over it.
        clients[0].set_limit(AtMost(7)).unwrap().block().unwrap();
        clients[0].set_limit(AtMost(8)).unwrap().block().unwrap();
        clients[0].set_limit(AtMost(9)).unwrap().block().unwrap();
        let lost = clients[1].set_limit(AtMost(70)).unwrap().block();
        if let Err(error) = &lost {
            assert_eq!(*error, SharedError::OtherLimit { limit: 70, in_force: 9 }, "{program}");
            clients[1].set_limit(AtMost(70)).unwrap().block().unwrap();
        }
        let later = SharedGate::builder(AtMost(10)).interval(INTERVAL).buckets(4).name("it");
        assert_eq!(later.connect(&server.url()).unwrap().limit(), 70, "{program}");
    });
}

#[test]
fn a_change_that_the_engine_cannot_hear_says_why_and_is_told_later() {
    let Some(server) = engine() else { return };
    let gate = &clients(&server, 10, 1)[0];
    warm(gate);
    server.stop(true);
    let outcome = gate.set_limit(AtMost(77)).unwrap().block();
    assert!(matches!(outcome, Err(SharedError::TimedOut { .. })), "{outcome:?}");
    let outcome = block_on(gate.set_limit(AtMost(78)).unwrap());
    assert!(outcome.is_err(), "{outcome:?}");
    server.stop(false);
    let later = SharedGate::builder(AtMost(10)).interval(INTERVAL).buckets(4).name("it");
    until("it is told", || later.connect(&server.url()).is_ok_and(|later| later.limit() == 78));
}

#[test]
fn a_weight_of_zero_is_always_reserved_and_pays_what_was_used() {
    let Some(server) = engine() else { return };
    let builder = SharedGate::builder(AtMost(1_000)).interval(Duration::from_secs(100)).buckets(2);
    let gate = builder.connect(&server.url()).unwrap();
    assert!(gate.left() == 0, "the limit is cold");
    gate.try_reserve(0).expect("as `try_admit(0)`").cancel();
    block_on(gate.reserve(0, Duration::ZERO)).expect("as `admit(0)`").settle(0);
    let warm = builder.interval(Duration::from_millis(800)).name("warm");
    let gate = warm.connect(&server.url()).unwrap();
    block_on(gate.reserve(1_000, LONG)).unwrap().settle(900);
    gate.try_reserve(0).unwrap().settle(60);
    assert!(!gate.try_admit(41), "40 are left");
    assert!(gate.try_admit(40));
}

#[test]
fn many_limits_share_one_connection() {
    let Some(server) = engine() else { return };
    let engine = Engine::connect(&server.url()).unwrap();
    let names: Vec<String> = (0..20).map(|i| format!("limit-{i}")).collect();
    let limit = |name: &String| {
        let builder = SharedGate::builder(AtMost(3)).interval(INTERVAL).buckets(2);
        builder.name(name).build(&engine).unwrap()
    };
    let gates: Vec<SharedGate> = names.iter().map(limit).collect();
    let barrier = Barrier::new(gates.len());
    thread::scope(|scope| {
        for gate in &gates {
            scope.spawn(|| {
                barrier.wait();
                assert!(gate.admit_blocking(3, LONG).is_granted(), "{}", gate.name());
            });
        }
    });
    let clients: String = server.command("CLIENT LIST");
    let ours = clients.lines().filter(|line| line.contains("lib-name=windrow-redis")).count();
    // (Redis before 7.2 knows no names of libraries.)
    assert!(ours <= 1, "{clients}");
}

#[test]
fn the_thread_ends_with_the_last_handle() {
    let Some(server) = engine() else { return };
    let connected = || -> usize {
        let clients: String = server.command("CLIENT LIST");
        clients.lines().count()
    };
    let alone = connected();
    let gate = clients(&server, 5, 1).remove(0);
    let other = gate.clone();
    assert_eq!(connected(), alone + 1);
    drop(gate);
    assert!(!other.try_admit(6));
    assert_eq!(connected(), alone + 1);
    drop(other);
    until("the connection is closed", || connected() == alone);
}

/// Runs a future on this thread, as a runtime would.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    struct Unpark(thread::Thread);
    impl std::task::Wake for Unpark {
        fn wake(self: std::sync::Arc<Unpark>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(std::sync::Arc::new(Unpark(thread::current())));
    let mut future = std::pin::pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            std::task::Poll::Ready(value) => return value,
            std::task::Poll::Pending => thread::park_timeout(LONG),
        }
    }
}
