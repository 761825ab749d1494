//! A schedule: clients, an engine, a network, and what befalls them, from one seed.

use super::client::Client;
use super::faults::Fault;
use super::judge::Judge;
use super::ledger::Ledger;
use super::network::{Event, Events};
use super::random::Random;
use super::twin::Twin;
use crate::machine::{Answer, Attempt, DRIFT, Terms};

/// The length of a bucket, in microseconds.
pub(super) const LENGTH: u64 = 100_000;
/// The moment at which schedules start.
const START: u64 = 50 * LENGTH;

/// The parts of a schedule.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) buckets: u64,
    pub(super) limit: u64,
    /// The mean time of a way.
    pub(super) way: f64,
    /// The probability that a message is lost.
    pub(super) loss: f64,
    /// The largest weight of a request.
    pub(super) weight: u64,
    /// The drifts of clients, and the times between their requests.
    pub(super) clients: Vec<(i64, f64)>,
    /// The attempts at an ask.
    pub(super) attempts: usize,
    /// The probability that a request puts a permit back.
    pub(super) puts_back: f64,
    /// The time between two copies of the replica.
    pub(super) lag: f64,
    pub(super) faults: Vec<(u64, Fault)>,
    /// The steps of the engine's clock that a failover may bring.
    pub(super) steps: Vec<i64>,
    pub(super) end: u64,
}

/// The outcome of a schedule.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Outcome {
    /// By what the worst run was over the limit.
    pub(super) over: u64,
    pub(super) used: u64,
    pub(super) cold: u64,
    pub(super) asks: u64,
}

pub(super) struct World {
    random: Random,
    plan: Plan,
    terms: Terms,
    twin: Twin,
    engine: Ledger,
    copy: Ledger,
    /// By what the engine's clock is behind the time of the schedule.
    behind: i64,
    events: Events,
    clients: Vec<Client>,
    judge: Judge,
    cold: u64,
}

impl Plan {
    /// The time of the schedule that lies `buckets` after its start.
    pub(super) fn at(buckets: f64) -> u64 {
        #[allow(clippy::cast_sign_loss)]
        let after = (buckets * LENGTH as f64) as u64;
        START + after
    }
}

impl World {
    pub(super) fn run(plan: Plan, seed: u64, twin: Twin) -> Outcome {
        let (limit, buckets) = (plan.limit, plan.buckets);
        let terms = Terms { limit, version: 1, length: LENGTH, buckets, drift: DRIFT };
        let begin = (START - 2 * LENGTH).cast_signed();
        let mut world = World {
            random: Random::of(seed ^ 0x5DEE_CE66),
            terms,
            twin,
            engine: Ledger::warm(),
            copy: Ledger::warm(),
            behind: 0,
            events: Events::default(),
            clients: Vec::new(),
            judge: Judge::new(begin, LENGTH, buckets, limit),
            cold: 0,
            plan,
        };
        world.begin();
        world.go_on();
        Outcome {
            over: world.judge.over(world.plan.end),
            used: world.judge.total(),
            cold: world.cold,
            asks: world.clients.iter().map(|client| client.asks).sum(),
        }
    }

    fn begin(&mut self) {
        for (drift, load) in self.plan.clients.clone() {
            let first = self.random.time(50_000.0_f64.min(4.0 * load));
            self.start(START + first, drift, load);
        }
        for (at, fault) in self.plan.faults.clone() {
            self.events.add(at, Event::Fault(fault));
        }
        self.events.add(START, Event::Fault(Fault::Copy));
    }

    fn start(&mut self, at: u64, drift: i64, load: f64) {
        let client = self.clients.len();
        self.clients.push(Client::new(self.terms, self.twin, drift, load, self.plan.attempts));
        self.events.add(at, Event::Requests { client });
        self.events.add(at, Event::Look { client });
    }

    fn go_on(&mut self) {
        while let Some((at, event)) = self.events.next() {
            if at > self.plan.end {
                return;
            }
            match event {
                Event::Requests { client } => self.requests(at, client),
                Event::Look { client } => self.look(at, client),
                Event::PutBack { client, end, count } => {
                    self.clients[client].permits.put_back(end, count);
                }
                Event::Ask { client, ask, attempt, sent, terms } => {
                    let now = (at.cast_signed() - self.behind).cast_unsigned();
                    let answer = self.engine.ask(now, client as u64, &ask, &terms, self.twin);
                    self.cold += u64::from(answer.state == crate::machine::State::Cold);
                    if let Some((_, limit)) = self.engine.agreed {
                        self.judge.limited(at, limit);
                    }
                    let number = ask.number;
                    self.carry(at, Event::Answer { client, number, attempt, sent, answer });
                }
                Event::Answer { client, number, attempt, sent, answer } => {
                    self.answer(at, client, number, attempt, sent, answer);
                }
                Event::Fault(fault) => self.befall(at, fault),
            }
        }
    }

    fn requests(&mut self, at: u64, client: usize) {
        let machine = &mut self.clients[client];
        if !machine.is_alive {
            return;
        }
        if at >= machine.suspended {
            for _ in 0..=self.random.below(5) {
                let weight = 1 + self.random.below(self.plan.weight);
                let Some(end) = machine.take(at, weight) else { continue };
                let is_less = self.random.is(self.plan.puts_back);
                self.judge.used(at, weight - u64::from(is_less));
                if is_less {
                    let later = at + self.random.time(100_000.0);
                    self.events.add(later, Event::PutBack { client, end, count: 1 });
                }
            }
        }
        self.events.add(at + 1 + self.random.time(machine.load), Event::Requests { client });
    }

    fn look(&mut self, at: u64, client: usize) {
        let machine = &mut self.clients[client];
        if !machine.is_alive {
            return;
        }
        self.events.add(at + 1 + self.random.time(5_000.0), Event::Look { client });
        if at < machine.suspended {
            return;
        }
        let Some(Attempt { ask, attempt, sent, terms }) = machine.look(at) else { return };
        let message = || Event::Ask { client, ask, attempt, sent, terms };
        self.carry(at, message());
        while self.random.is(0.1) {
            let late = at + self.random.time(300_000.0); // the network's own copy
            self.events.add(late, message());
        }
    }

    /// Brings a message to the other side, or loses it.
    fn carry(&mut self, at: u64, event: Event) {
        if !self.random.is(self.plan.loss) {
            let arrives = at + self.random.time(self.plan.way);
            self.events.add(arrives, event);
        }
    }

    fn answer(
        &mut self,
        at: u64,
        client: usize,
        number: u64,
        attempt: usize,
        sent: u64,
        answer: Answer,
    ) {
        let machine = &mut self.clients[client];
        if at < machine.suspended {
            machine.inbox.push(Event::Answer { client, number, attempt, sent, answer });
        } else if machine.is_alive {
            machine.answer(at, number, attempt, sent, answer);
        }
    }

    fn befall(&mut self, at: u64, fault: Fault) {
        match fault {
            Fault::Die { client } => {
                self.clients[client].is_alive = false;
                let drift = self.random.around(1_000);
                let (soon, load) = (self.random.time(20_000.0), self.clients[client].load);
                self.start(at + soon, drift, load);
            }
            Fault::Suspend { client } => {
                let until = at + self.random.time(200_000.0);
                self.clients[client].suspended = until;
                self.events.add(until, Event::Fault(Fault::Resume { client }));
            }
            Fault::Resume { client } => {
                for event in std::mem::take(&mut self.clients[client].inbox) {
                    self.events.add(at, event);
                }
            }
            Fault::Change { client, limit } => self.clients[client].set_limit(limit),
            Fault::Restart => self.engine = self.engine.restarted(),
            Fault::Copy => {
                self.copy = self.engine.clone();
                let next = at + 1 + self.random.time(self.plan.lag);
                self.events.add(next, Event::Fault(Fault::Copy));
            }
            Fault::Failover => {
                let run = self.engine.run + 1;
                self.engine = Ledger { run, ..self.copy.clone() };
                let step = self.random.pick(&self.plan.steps);
                self.step(at, step, u64::MAX); // an epoch begins
            }
            Fault::FallBack => {
                let step = self.random.pick(&[5_000, 60_000, 3 * LENGTH.cast_signed()]);
                let seen = self.engine.sheet.as_ref().map_or(0, |sheet| sheet.newest);
                self.step(at, step, seen);
            }
        }
    }

    /// Sets the engine's clock back; `seen` is the newest bucket that an ask has seen.
    fn step(&mut self, at: u64, by: i64, seen: u64) {
        self.behind += by;
        self.judge.stepped(at, self.behind, seen);
    }
}
