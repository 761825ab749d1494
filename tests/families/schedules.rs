//! A family with names of run time beside a map: threads take turns, in an order that is drawn, and
//! after each turn the family is as the map says.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use testkit::Rng;
use windrow::{Counter, family::Handle, labels::RuntimeLabels};

use crate::run_time::{Counters, HOSTILE, counters};

/// The bytes of texts that a family keeps of a series at most.
const LONGEST: usize = 1_024;

type Key = Vec<String>;

/// The operation of one turn.
#[derive(Clone, Debug)]
enum Turn {
    Add(Key, u64),
    /// Keeps a handle, in the place of the one that the thread has.
    Keep(Key),
    AddToKept(u64),
    Drop,
    Remove(Key),
    Get(Key),
    /// Removes all that no handle keeps.
    RetainNone,
}

/// The answer of a turn, if it has one.
type Answer = Option<u64>;

/// Runs the turns of one thread, on request.
fn serve(family: &Counters, turns: &Receiver<Turn>, answers: &Sender<Answer>) {
    let mut kept: Option<Handle<RuntimeLabels, Counter>> = None;
    for turn in turns {
        let answer = match turn {
            Turn::Add(key, n) => {
                family.with(&lent(&key)).add(n);
                None
            }
            Turn::Keep(key) => {
                kept = Some(family.handle(&lent(&key)));
                None
            }
            Turn::AddToKept(n) => {
                let add = |kept: &Handle<_, Counter>| {
                    kept.add(n);
                    kept.sum()
                };
                kept.as_ref().map(add)
            }
            Turn::Drop => {
                kept = None;
                None
            }
            Turn::Remove(key) => Some(family.remove(&lent(&key)).into()),
            Turn::Get(key) => family.get(&lent(&key)).map(|counter| counter.sum()),
            Turn::RetainNone => Some(family.retain(|_, _| false) as u64),
        };
        answers.send(answer).unwrap();
    }
}

fn lent(key: &[String]) -> Vec<&str> {
    key.iter().map(String::as_str).collect()
}

/// A series, by its number in [`Oracle::sums`].
type Number = usize;

/// The oracle of a family.
struct Oracle {
    names: usize,
    limit: usize,
    /// The sum of each series that ever existed; the first is the overflow series.
    sums: Vec<u64>,
    live: HashMap<Key, Number>,
    /// The handles that each thread keeps.
    kept: Vec<Option<Number>>,
    refused: u64,
}

impl Oracle {
    fn find(&mut self, key: &Key) -> Number {
        if let Some(number) = self.live.get(key) {
            return *number;
        }
        let bytes: usize = key.iter().map(String::len).sum();
        if key.len() != self.names || bytes > LONGEST || self.live.len() == self.limit {
            self.refused += 1;
            return 0;
        }
        self.sums.push(0);
        self.live.insert(key.clone(), self.sums.len() - 1);
        self.sums.len() - 1
    }

    fn take(&mut self, thread: usize, turn: &Turn) -> Answer {
        match turn {
            Turn::Add(key, n) => {
                let number = self.find(key);
                self.sums[number] += n;
                None
            }
            Turn::Keep(key) => {
                self.kept[thread] = Some(self.find(key));
                None
            }
            Turn::AddToKept(n) => self.kept[thread].map(|number| {
                self.sums[number] += n;
                self.sums[number]
            }),
            Turn::Drop => {
                self.kept[thread] = None;
                None
            }
            Turn::Remove(key) => Some(self.live.remove(key).is_some().into()),
            Turn::Get(key) => self.live.get(key).map(|number| self.sums[*number]),
            Turn::RetainNone => {
                let before = self.live.len();
                let kept = &self.kept;
                self.live.retain(|_, number| kept.contains(&Some(*number)));
                Some((before - self.live.len()) as u64)
            }
        }
    }

    /// Returns what a walk shows: sums by key, the overflow series without one.
    fn shown(&self) -> HashMap<Option<Key>, u64> {
        let own = self.live.iter().map(|(key, number)| (Some(key.clone()), self.sums[*number]));
        own.chain((self.refused > 0).then_some((None, self.sums[0]))).collect()
    }
}

fn check(family: &Counters, oracle: &Oracle, turn: &Turn) {
    let mut shown = HashMap::new();
    for series in family {
        let key = series.labels().map(|key| key.iter().map(|text| (*text).to_owned()).collect());
        assert!(shown.insert(key, series.sum()).is_none(), "a key twice after {turn:?}");
    }
    assert_eq!(shown, oracle.shown(), "after {turn:?}");
    let (len, refused, lifetime) = (family.len(), family.refused(), family.lifetime());
    let expected = (oracle.live.len(), oracle.refused, oracle.sums.iter().sum());
    assert_eq!((len, refused, lifetime), expected, "after {turn:?}");
}

/// Mostly keys of the right number of texts, few enough to come again.
fn key(random: &mut Rng, names: usize) -> Key {
    let values = match random.u8(..12) {
        0 => random.usize(..names + 3),
        _ => names,
    };
    let mut text = || match random.u8(..60) {
        0 => "x".repeat(random.usize(LONGEST - 2..LONGEST + 3)),
        1 => "y".repeat(LONGEST / 2),
        _ => HOSTILE[random.usize(..HOSTILE.len()) / 5].to_owned(),
    };
    (0..values).map(|_| text()).collect()
}

fn turn(random: &mut Rng, names: usize) -> Turn {
    let (key, n) = (key(random, names), random.u64(1..1_000));
    match random.u8(..32) {
        0..4 => Turn::Keep(key),
        4..8 => Turn::AddToKept(n),
        8..10 => Turn::Drop,
        10..14 => Turn::Remove(key),
        14..17 => Turn::Get(key),
        17 => Turn::RetainNone,
        _ => Turn::Add(key, n),
    }
}

fn schedule(seed: u64, turns: usize) {
    const THREADS: usize = 4;
    let mut random = Rng::with_seed(seed);
    let (names, limit) = (random.usize(..4), random.usize(..12));
    let all = ["one", "two", "three"];
    let family = counters(&all[..names]).with_max_series(limit);
    let kept = vec![None; THREADS];
    let mut oracle = Oracle { names, limit, sums: vec![0], live: HashMap::new(), kept, refused: 0 };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|_| {
                let ((tell, told), (answer, answers)) = (channel(), channel());
                let family = &family;
                scope.spawn(move || serve(family, &told, &answer));
                (tell, answers)
            })
            .collect();
        for _ in 0..turns {
            let (thread, turn) = (random.usize(..THREADS), turn(&mut random, names));
            threads[thread].0.send(turn.clone()).unwrap();
            let answer = threads[thread].1.recv().unwrap();
            assert_eq!(answer, oracle.take(thread, &turn), "seed {seed}: {turn:?}");
            check(&family, &oracle, &turn);
        }
    });
}

#[test]
fn a_family_is_as_a_map_whichever_thread_does_what() {
    (0..60).for_each(|seed| schedule(seed, 400));
}
