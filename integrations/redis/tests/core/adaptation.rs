//! Rations follow the load: nearly all of the limit is used, by few calls of the engine.

use std::collections::VecDeque;

use super::ledger::Ledger;
use super::random::Random;
use super::twin::Twin;
use crate::machine::{Answer, Attempt, DRIFT, Machine, Terms};
use crate::permits::Permits;

/// The time between two looks of a process, and that of an ask there and back, in microseconds.
const STEP: u64 = 500;

/// The patience of a request.
const PATIENCE: u64 = 5_000;

struct Process {
    machine: Machine,
    permits: Permits,
    /// The requests in a step.
    load: f64,
    /// The part of a request that is left of the steps before.
    rest: f64,
    used: u64,
    asks: u64,
    /// The ends of the patience of requests that wait.
    waiting: VecDeque<u64>,
    /// The answer that arrives at the next step.
    on_the_way: Option<(Attempt, Answer)>,
}

struct Crowd {
    engine: Ledger,
    terms: Terms,
    processes: Vec<Process>,
    now: u64,
}

impl Crowd {
    /// Processes whose loads differ by up to 20, and together are `load` times the limit.
    fn new(limit: u64, count: usize, load: f64) -> Crowd {
        let terms = Terms { limit, version: 1, length: 100_000, buckets: 10, drift: DRIFT };
        let part = |place: usize| [20.0, 1.0, 5.0, 2.0][place % 4];
        let parts: f64 = (0..count).map(part).sum();
        let in_a_step = load * limit as f64 * STEP as f64 / 1_000_000.0;
        let process = |place| Process {
            machine: Machine::new(terms),
            permits: Permits::new(),
            load: in_a_step * part(place) / parts,
            rest: 0.0,
            used: 0,
            asks: 0,
            waiting: VecDeque::new(),
            on_the_way: None,
        };
        let processes = (0..count).map(process).collect();
        Crowd { engine: Ledger::warm(), terms, processes, now: 1_000_000_000 }
    }

    /// Goes on for some buckets.
    fn run(&mut self, buckets: u64, random: &mut Random) {
        for _ in 0..buckets * self.terms.length / STEP {
            self.now += STEP;
            for id in 0..self.processes.len() {
                self.step(id, random);
            }
        }
    }

    #[allow(clippy::cast_sign_loss)]
    fn step(&mut self, id: usize, random: &mut Random) {
        let (now, process) = (self.now, &mut self.processes[id]);
        if let Some((sent, answer)) = process.on_the_way.take() {
            let (number, attempt) = (sent.ask.number, sent.attempt);
            process.machine.answer(&process.permits, now, number, attempt, &answer);
        }
        process.rest += process.load * (random.below(2_000) as f64 / 1_000.0);
        let requests = process.rest as u64;
        process.rest -= requests as f64;
        while process.waiting.front().is_some_and(|until| *until < now) {
            process.waiting.pop_front();
        }
        while !process.waiting.is_empty() && process.permits.take(now, 1) {
            process.waiting.pop_front();
            process.used += 1;
        }
        for _ in 0..requests {
            if process.permits.take(now, 1) {
                process.used += 1;
            } else {
                process.permits.miss(1);
                process.waiting.push_back(now + PATIENCE);
            }
        }
        if let Some(attempt) = process.machine.poll(&process.permits, now, 1) {
            process.asks += 1;
            let answer = self.engine.ask(now, id as u64, &attempt.ask, &attempt.terms, Twin::None);
            process.on_the_way = Some((attempt, answer));
        }
    }

    fn used(&self) -> u64 {
        self.processes.iter().map(|process| process.used).sum()
    }

    fn asks(&self) -> u64 {
        self.processes.iter().map(|process| process.asks).sum()
    }
}

#[test]
fn nearly_all_of_the_limit_is_used_by_two_calls_a_bucket_and_process() {
    for (limit, count) in [(20_000, 2), (20_000, 8), (20_000, 32), (1_000_000, 8)] {
        let mut crowd = Crowd::new(limit, count, 1.5);
        let random = &mut Random::of(count as u64);
        crowd.run(22, random);
        let (used, asks) = (crowd.used(), crowd.asks());
        crowd.run(110, random); // ten times the limit, each in eleven buckets
        let (used, asks) = (crowd.used() - used, crowd.asks() - asks);
        let part = used as f64 / (10.0 * limit as f64);
        let calls = asks as f64 / (110.0 * count as f64);
        println!("{limit}, {count} processes: {part:.4} of n/(n + 1), {calls:.2} calls");
        assert!(part >= 0.99, "{count} processes used {part}");
        assert!(calls <= 2.0, "{count} processes: {calls} calls a bucket and process");
    }
}

#[test]
fn processes_below_the_limit_get_all_they_ask_for() {
    for count in [2, 8, 32] {
        let mut crowd = Crowd::new(20_000, count, 0.7);
        let random = &mut Random::of(count as u64);
        crowd.run(20, random);
        let missed: u64 = crowd.processes.iter().map(|process| process.permits.missed()).sum();
        let used = crowd.used();
        crowd.run(100, random);
        let now: u64 = crowd.processes.iter().map(|process| process.permits.missed()).sum();
        let (used, missed) = (crowd.used() - used, now - missed);
        println!("{count} processes: {used} used, {missed} missed, {} asks", crowd.asks());
        assert!(missed * 100 <= used, "{missed} missed, {used} used");
    }
}

#[test]
fn a_process_that_falls_silent_holds_nothing_after_two_buckets() {
    let mut crowd = Crowd::new(20_000, 8, 1.5);
    let random = &mut Random::of(3);
    crowd.run(30, random);
    crowd.processes[0].load = 0.0;
    crowd.processes[4].load = 0.0;
    crowd.run(2, random);
    for silent in [0, 4] {
        let process = &crowd.processes[silent];
        assert_eq!(process.permits.left(crowd.now), 0, "process {silent}");
    }
    // The others have its part: two of eight had 40 of 56 parts of the load.
    for busy in [1, 2, 3, 5, 6, 7] {
        crowd.processes[busy].load *= 56.0 / 16.0;
    }
    crowd.run(20, random);
    let used = crowd.used();
    crowd.run(110, random);
    let part = (crowd.used() - used) as f64 / (10.0 * 20_000.0);
    assert!(part >= 0.99, "the others used {part}");
}

#[test]
fn without_load_nothing_counts_but_what_was_used() {
    let mut crowd = Crowd::new(20_000, 8, 0.7);
    let random = &mut Random::of(5);
    crowd.run(30, random);
    let before = crowd.used();
    crowd.run(8, random);
    for process in &mut crowd.processes {
        process.load = 0.0;
    }
    crowd.run(2, random);
    // Of ten buckets, the last two without a use. The sum of counts is what was used in the others,
    // and in parts of one before.
    let used = crowd.used() - before;
    let counted = crowd.engine.used();
    println!("{used} used, {counted} counted");
    assert!(counted <= used + used / 3, "{counted} count, {used} were used");
}

#[test]
fn a_small_limit_is_asked_for_each_request() {
    let mut crowd = Crowd::new(20, 4, 0.5);
    let random = &mut Random::of(7);
    crowd.run(100, random);
    let (used, asks) = (crowd.used(), crowd.asks());
    println!("{used} used, {asks} asks");
    assert!(used > 80, "{used} of about 100 were used");
    assert!(asks >= used, "{asks} asks, {used} used");
}
