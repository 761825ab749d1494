//! Counters: many adders, drainers and readers at once.

use windrow::Counter;
use windrow_loom_tests::engine::{self, sync::Arc, thread};
use windrow_loom_tests::histories::{Call, CounterCall, Log, Recorder, check_counter};
use windrow_loom_tests::{Model, turn};

/// A step of a thread.
#[derive(Clone, Copy, Debug)]
enum Step {
    Add,
    Drain,
    Sum,
}

use Step::{Add, Drain, Sum};

/// Runs one thread for each list of steps, and a drain at rest. `n` returns the amount of an add.
fn run(program: &[Vec<Step>], n: impl Fn(usize) -> u64) -> Vec<Call<CounterCall>> {
    let counter = Arc::new(Counter::new());
    let recorder = Recorder::default();
    let mut adds = 0;
    let mut threads = Vec::new();
    for steps in program {
        let numbered: Vec<(Step, u64)> = steps
            .iter()
            .map(|step| {
                adds += usize::from(matches!(step, Add));
                (*step, n(adds))
            })
            .collect();
        let (counter, mut log) = (Arc::clone(&counter), recorder.log());
        threads.push(thread::spawn(move || {
            if engine::random().is_multiple_of(2) {
                engine::on_second_core();
            }
            for (step, n) in numbered {
                turn();
                take(&counter, &mut log, step, n);
            }
            log.into_calls()
        }));
    }
    let mut history: Vec<_> =
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
    let mut log = recorder.log();
    take(&counter, &mut log, Drain, 0);
    history.extend(log.into_calls());
    history
}

fn take(counter: &Counter, log: &mut Log<CounterCall>, step: Step, n: u64) {
    match step {
        Add => log.call(|| counter.add(n), |()| CounterCall::Add(n)),
        Drain => log.call(|| counter.take(), CounterCall::Drain),
        Sum => log.call(|| counter.sum(), CounterCall::Sum),
    }
}

/// Each add is a bit, so that every sum tells which adds are in it.
fn bit(add: usize) -> u64 {
    1 << add
}

fn demand(program: &[Vec<Step>], history: &[Call<CounterCall>]) {
    if let Err(why) = check_counter(history) {
        panic!("{why}\nprogram: {program:?}\nhistory: {history:#?}");
    }
}

/// Three threads add, two drain, two read.
#[test]
fn seven_threads() {
    Model::new("counters::seven_threads").explore(|| {
        let program = [
            vec![Add; 6],
            vec![Add; 6],
            vec![Add; 6],
            vec![Drain; 4],
            vec![Drain; 4],
            vec![Sum; 5],
            vec![Sum; 5],
        ];
        demand(&program, &run(&program, bit));
    });
}

/// Another program each time: two to six threads that add, drain and read as they like.
#[test]
fn any_program() {
    Model::new("counters::any_program").explore(|| {
        let threads = 2 + engine::random() % 5;
        let steps = || (0..=engine::random() % 6).map(|_| any_step()).collect();
        let program: Vec<Vec<Step>> = (0..threads).map(|_| steps()).collect();
        demand(&program, &run(&program, bit));
    });
}

fn any_step() -> Step {
    [Add, Add, Add, Drain, Sum, Sum][usize::try_from(engine::random() % 6).expect("below 6")]
}

/// Real threads that stay for long, so that they really meet: histories of thousands of adds.
#[cfg(not(shuttle))]
#[test]
fn long_histories() {
    for _ in 0..5 {
        let program = [vec![Add; 1_000], vec![Add; 1_000], [Drain, Sum].repeat(20), vec![Sum; 200]];
        demand(&program, &run(&program, |add| add as u64 % 7));
    }
}
