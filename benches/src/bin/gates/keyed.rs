//! A limiter for each key: what a key takes, and what a decision costs, beside governor's.

use std::sync::atomic::{AtomicU64, Ordering};

use windrow::clock::Coarse;
use windrow_benches::harness::{Rival, cores, in_rounds, spend_on_adds};
use windrow_benches::heap::{Counting, resident};
use windrow_benches::lab::stats::{Sample, Spread};
use windrow_benches::limits::{
    KeyedGovernor, PacesByNumber, Terms, Timed, paces_by_number, paces_by_text,
};
use windrow_benches::terminal::print_table;

/// Decisions of a thread in a round.
const TIMES: u64 = 100_000;

/// Keys that are asked at random.
struct Keyed<A> {
    keys: u64,
    ask: A,
    refused: AtomicU64,
}

impl<A: Fn(u64) -> bool + Send + Sync> Rival for Keyed<A> {
    fn add(&self, _n: u64) {
        self.add_many(1);
    }

    /// Returns the number of refusals.
    fn sum(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    fn add_many(&self, times: u64) {
        let (mut random, mut refused) = (fastrand::Rng::new(), 0);
        for _ in 0..times {
            refused += u64::from(!(self.ask)(random.u64(..self.keys)));
        }
        self.refused.fetch_add(refused, Ordering::Relaxed);
    }
}

struct Contender {
    name: &'static str,
    keyed: Box<dyn Rival>,
    /// Bytes a key: asked of the allocator, and resident.
    bytes: [f64; 2],
    /// On one thread, and on one for each core.
    samples: [Vec<Sample>; 2],
}

impl Contender {
    fn of<L: Send + Sync + 'static>(
        heap: &Counting,
        name: &'static str,
        keys: u64,
        make: impl FnOnce() -> L,
        ask: impl Fn(&L, u64) -> bool + Send + Sync + 'static,
    ) -> Contender {
        let before = (heap.bytes(), resident());
        let limiter = make();
        (0..keys).for_each(|key| assert!(ask(&limiter, key), "{name} refuses"));
        let taken = [heap.bytes() - before.0, resident().saturating_sub(before.1)];
        let bytes = taken.map(|bytes| bytes as f64 / keys as f64);
        let ask = move |key| ask(&limiter, key);
        let keyed = Box::new(Keyed { keys, ask, refused: AtomicU64::new(0) });
        Contender { name, keyed, bytes, samples: Default::default() }
    }

    fn measure(&mut self) {
        for (samples, threads) in self.samples.iter_mut().zip([1, cores()]) {
            samples.push(Sample::new(spend_on_adds(&*self.keyed, threads, TIMES), 0.0, TIMES));
        }
        assert_eq!(self.keyed.sum(), 0, "{} has refused", self.name);
    }
}

/// The key of a number, as a text of 24 characters.
fn text(key: u64) -> String {
    format!("client-{:017}", key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 8)
}

fn contenders(heap: &Counting, keys: u64) -> [Vec<Contender>; 2] {
    let (terms, room) = (Terms::ENDLESS, keys as usize);
    let numbers = vec![
        Contender::of(
            heap,
            "governor, its DashMap",
            keys,
            || KeyedGovernor::own(terms),
            |it, key| it.ask_of(&key),
        ),
        Contender::of(
            heap,
            "governor, Coarse",
            keys,
            || KeyedGovernor::<_, u64>::new(terms, Timed(Coarse::default())),
            |it, key| it.ask_of(&key),
        ),
        Contender::of(
            heap,
            "Family of Pace",
            keys,
            || paces_by_number(terms, room),
            PacesByNumber::ask_of,
        ),
    ];
    let all: &'static [String] = (0..keys).map(text).collect::<Vec<_>>().leak();
    let key = |key: u64| &all[key as usize];
    let texts = vec![
        Contender::of(
            heap,
            "governor, Coarse",
            keys,
            || KeyedGovernor::<_, String>::new(terms, Timed(Coarse::default())),
            move |it, number| it.ask_of(key(number)),
        ),
        Contender::of(
            heap,
            "Family of Pace",
            keys,
            || paces_by_text(terms, room),
            move |it, number| it.ask_of(key(number)),
        ),
    ];
    [numbers, texts]
}

fn show(all: &[Contender], what: &str) {
    let row = |contender: &Contender| {
        let mut cells = vec![contender.name.to_owned()];
        cells.extend(contender.bytes.map(|bytes| format!("{bytes:.0}")));
        let cost = |samples| Spread::of_samples(samples, |sample| sample.cpu_ns).show();
        cells.extend(contender.samples.iter().map(|samples| cost(samples)));
        cells
    };
    let rows: Vec<_> = all.iter().map(row).collect();
    let threads = format!("ns, {} threads", cores());
    print_table(&[what, "bytes a key", "resident", "ns, 1 thread", &threads], &rows);
    println!();
}

pub(crate) fn run(heap: &Counting, rounds: usize) {
    for keys in [10_000, 1_000_000] {
        let [mut numbers, mut texts] = contenders(heap, keys);
        heap.stop(true);
        let mut all: Vec<_> = numbers.iter_mut().chain(&mut texts).collect();
        in_rounds(rounds, &mut all, |contender| contender.measure());
        show(&numbers, &format!("{keys} numbers"));
        show(&texts, &format!("{keys} texts of 24 characters"));
        drop((numbers, texts));
        heap.stop(false);
    }
}
