//! Running a race: many trials in a turn, one on each of many states.
//!
//! The actors go through the states in the same order, and *meet* at each of them: a spinning
//! barrier. Then each waits for a random time, so that the calls overlap now in this way, now in
//! that. Between turns each actor sleeps until all are there, judges a share of the states, and
//! makes them ready again.
//!
//! The time has four parts. In two of them the actors stay on processors of their own, and wait
//! longer at a meeting: where nothing else runs, every trial is a race. In the others they run
//! where the kernel puts them, and soon give up waiting: on a busy machine there are many more
//! trials, and the races are with threads that the kernel has stopped in the middle.
//!
//! In one part of each kind children are forked without end, so that the next write to each page
//! faults: a write then takes a microsecond or more where it took a nanosecond, without the thread
//! having been interrupted. Much that otherwise needs luck happens there.

use std::hint::{black_box, spin_loop};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Barrier, PoisonError, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_utils::CachePadded;

use crate::race::{Answer, Outcome, Race, Tally};
use testkit::{Finish, Rng};

/// The number of trials in a turn: their windows are more than the nearest caches hold.
const STATES: usize = 128;
/// The number of turns for which states are used before they are replaced.
pub(crate) const TURNS: u64 = 32;
/// The number of looks for the others before an actor yields, or gives up: about 10 microseconds.
const LOOKS: u32 = 200;
/// The time for which actors that are together wait for one another in a turn.
const PATIENCE: Duration = Duration::from_millis(20);
/// A wait is below a power of two, at most this one: some microseconds.
const LONGEST_WAIT: u64 = 12;

/// The time for which a race is run.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The time of the run.
    pub time: Duration,
    /// The greatest number of trials, rounded up to whole turns.
    pub trials: u64,
}

/// A race, ready to be run.
#[derive(Clone, Copy)]
pub struct Program {
    /// The program's name on the command line.
    pub name: &'static str,
    /// The number of threads.
    pub actors: usize,
    /// The possible outcomes.
    pub outcomes: &'static [Outcome],
    run: fn(Plan, &Tally),
}

impl Program {
    pub(crate) const fn of<R: Race>() -> Program {
        Program { name: R::NAME, actors: R::ACTORS, outcomes: R::OUTCOMES, run: run::<R> }
    }

    /// Runs trials until one of the two limits is reached, and counts them in `tally`.
    pub fn run(&self, plan: Plan, tally: &Tally) {
        (self.run)(plan, tally);
    }
}

/// A part of the time.
#[derive(Clone, Copy)]
struct Part {
    /// The actors have processors of their own, and wait for one another.
    together: bool,
    /// Writes fault.
    faults: bool,
}

const PARTS: [Part; 4] = [
    Part { together: true, faults: false },
    Part { together: false, faults: false },
    Part { together: true, faults: true },
    Part { together: false, faults: true },
];

/// Runs a race.
fn run<R: Race>(plan: Plan, tally: &Tally) {
    let begin = Instant::now();
    let all = PARTS.len() as u32;
    for (nth, part) in (1..).zip(PARTS) {
        let trials = plan.trials / u64::from(all) * u64::from(nth);
        let enough = || begin.elapsed() >= plan.time * nth / all || tally.trials() >= trials;
        let finished = AtomicBool::new(false);
        thread::scope(|scope| {
            let _finish = Finish(&finished);
            #[cfg(target_os = "linux")]
            if part.faults {
                scope.spawn(|| testkit::interrupts::fault(&finished));
            }
            let mut seed = u64::from(nth);
            while !enough() {
                seed += u64::from(all);
                Scene::<R>::new(part, seed).play(&enough, tally);
            }
        });
    }
}

/// Some states, and the actors on them.
struct Scene<R: Race> {
    part: Part,
    states: Vec<R::State>,
    /// The results of each actor on each state.
    answers: Vec<RwLock<Vec<Answer>>>,
    /// The trial that each actor has reached.
    places: Vec<CachePadded<AtomicU64>>,
    /// Between turns.
    pause: Barrier,
    /// There will be no further turn.
    over: AtomicBool,
    seed: u64,
}

impl<R: Race> Scene<R> {
    fn new(part: Part, seed: u64) -> Scene<R> {
        Scene {
            part,
            states: (0..STATES).map(|_| R::state()).collect(),
            answers: (0..R::ACTORS).map(|_| RwLock::new(vec![[0; 4]; STATES])).collect(),
            places: (0..R::ACTORS).map(|_| CachePadded::default()).collect(),
            pause: Barrier::new(R::ACTORS),
            over: AtomicBool::new(false),
            seed,
        }
    }

    fn play(&self, enough: &(impl Fn() -> bool + Sync), tally: &Tally) {
        thread::scope(|scope| {
            for actor in 0..R::ACTORS {
                scope.spawn(move || self.turns(actor, enough, tally));
            }
        });
    }

    /// All turns, as one actor sees them.
    fn turns(&self, actor: usize, enough: &(impl Fn() -> bool + Sync), tally: &Tally) {
        // Otherwise two that wait for one another are soon on one processor, one after the other.
        #[cfg(target_os = "linux")]
        if self.part.together {
            testkit::interrupts::migrate(actor as u64);
        }
        let mut random = Rng::with_seed(self.seed << 8 | actor as u64);
        let share = || (actor..STATES).step_by(R::ACTORS);
        for turn in 0..TURNS {
            share().for_each(|index| R::prepare(&self.states[index], turn));
            self.pause.wait();
            self.turn(actor, turn, &mut random);
            self.pause.wait();
            for index in share() {
                let answers: Vec<Answer> = self.answers.iter().map(|of| read(of)[index]).collect();
                let verdict = R::judge(&self.states[index], turn, &answers);
                tally.count(verdict, tally.trials());
            }
            if actor == 0 {
                self.over.store(enough(), Ordering::Relaxed); // the barrier hands it on
            }
            self.pause.wait();
            if self.over.load(Ordering::Relaxed) {
                return;
            }
        }
    }

    /// One trial on each state.
    fn turn(&self, actor: usize, turn: u64, random: &mut Rng) {
        let mut answers = self.answers[actor].write().unwrap_or_else(PoisonError::into_inner);
        let patience = self.part.together.then(|| Instant::now() + PATIENCE);
        for (index, state) in self.states.iter().enumerate() {
            let wait = random.u64(..) & ((1 << random.u64(..=LONGEST_WAIT)) - 1);
            self.meet(actor, turn * STATES as u64 + index as u64 + 1, patience);
            (0..wait).for_each(|step| {
                black_box(step);
            });
            answers[index] = R::act(state, turn, actor);
        }
    }

    /// Waits until all have come to a trial: for some looks, and yielding while there is patience.
    fn meet(&self, actor: usize, trial: u64, patience: Option<Instant>) {
        // Release and Acquire: actors that meet see what the others did before.
        self.places[actor].store(trial, Ordering::Release);
        for place in &self.places {
            let mut looks = 0;
            while place.load(Ordering::Acquire) < trial {
                looks += 1;
                if looks < LOOKS {
                    spin_loop();
                } else if patience.is_some_and(|until| Instant::now() < until) {
                    thread::yield_now();
                } else {
                    break;
                }
            }
        }
    }
}

fn read(answers: &RwLock<Vec<Answer>>) -> std::sync::RwLockReadGuard<'_, Vec<Answer>> {
    answers.read().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::race::{Verdict, expected, forbidden};

    /// An add in two steps, between which another's may be lost.
    struct LostUpdate;

    impl Race for LostUpdate {
        const NAME: &'static str = "lost_update";
        const ACTORS: usize = 3;
        const OUTCOMES: &'static [Outcome] = &[expected("all there"), forbidden("one is lost")];
        type State = AtomicU64;

        fn state() -> AtomicU64 {
            AtomicU64::new(0)
        }

        fn prepare(state: &AtomicU64, _: u64) {
            state.store(0, Ordering::Relaxed);
        }

        fn act(state: &AtomicU64, _: u64, actor: usize) -> Answer {
            let found = state.load(Ordering::Relaxed);
            (0..200_u32).for_each(|step| _ = black_box(step));
            state.store(found + 1, Ordering::Relaxed);
            [actor as u64; 4]
        }

        fn judge(state: &AtomicU64, _: u64, answers: &[Answer]) -> Verdict {
            assert_eq!(answers, [[0; 4], [1; 4], [2; 4]], "each actor's own answer");
            match state.load(Ordering::Relaxed) {
                3 => Ok(0),
                found => Err((1, format!("{found} of 3"))),
            }
        }
    }

    #[test]
    fn actors_overlap() {
        let plan = Plan { time: Duration::from_mins(1), trials: 4 * STATES as u64 };
        let tally = Tally::new(LostUpdate::OUTCOMES.len());
        while tally.of(1) == 0 && tally.trials() < 1_000_000 {
            run::<LostUpdate>(Plan { trials: tally.trials() + plan.trials, ..plan }, &tally);
        }
        let first = tally.first_forbidden().expect("an add that takes so long meets another");
        assert!(first.contains("of 3"), "{first}");
    }

    #[test]
    fn trials_are_limited() {
        let tally = Tally::new(LostUpdate::OUTCOMES.len());
        run::<LostUpdate>(Plan { time: Duration::from_mins(10), trials: 1_000 }, &tally);
        let scene = TURNS * STATES as u64;
        assert!((1_000..1_000 + scene).contains(&tally.trials()), "{}", tally.trials());
    }
}
