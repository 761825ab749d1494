//! The cost of a decision.

use std::time::Duration;

use windrow::clock::{Coarse, Precise, Ticker};
use windrow_benches::harness::{Rival, cores, in_rounds, spend_on_adds};
use windrow_benches::lab::stats::{Sample, Spread};
#[cfg(feature = "sentinel")]
use windrow_benches::limits::Flow;
use windrow_benches::limits::{
    Asked, Counted, Each, Exchanged, Gates, Governor, KEYS, KeyedGovernor, Limiter, MutexRing,
    Read, Settled, Soft, Terms, Timed, gate, paced, rationed, several,
};
use windrow_benches::terminal::print_table;

/// Decisions of a thread in a round.
const TIMES: u64 = 50_000;

/// A limit that the decisions of up to 128 threads in a round do not reach. Two such limits fit one
/// word.
const A_ROUND: Terms =
    Terms { limit: 7_000_000, interval: Duration::from_secs(100_000), buckets: 10 };

/// No key is asked twice in a bucket of it.
const SHORT: Terms = Terms { limit: 1 << 40, interval: Duration::from_micros(10), buckets: 10 };

const FETCH_ADD: &str = "AtomicU64::fetch_add";
const COARSE: &str = "Coarse";
const COARSE_ADD: &str = "Coarse, and a fetch_add";
const GATE: &str = "Gate, Coarse";
const GATE_TICKER: &str = "Gate, Ticker";
const PACE: &str = "Pace, Coarse";
const PACES_ONE: &str = "Paces, one limit, Coarse";
const PACES_TWO: &str = "Paces, two limits, Coarse";
const GOVERNOR: &str = "governor, Coarse";
const RATIONED: &str = "RationedGate, by 1000, Coarse";
const RATIONED_TICKER: &str = "RationedGate, by 1000, Ticker";

/// A limiter that always grants, and one that always refuses.
struct Contender {
    name: &'static str,
    asked: Vec<Box<dyn Rival>>,
    /// Makes the granting one anew for each measurement, if its limit lasts for one only.
    renew: Option<Box<dyn Fn() -> Box<dyn Rival>>>,
    /// The samples of each of these, on one thread and on one for each core.
    samples: Vec<[Vec<Sample>; 2]>,
}

impl Contender {
    fn of<L: Limiter + 'static>(
        name: &'static str,
        keys: u64,
        make: impl Fn(Terms) -> L,
    ) -> Contender {
        let granting = Asked::new(make(Terms::ENDLESS), keys, true);
        let refusing = Asked::new(make(Terms::SPENT), keys, false);
        let asked: Vec<Box<dyn Rival>> = vec![Box::new(granting), Box::new(refusing)];
        let samples = asked.iter().map(|_| Default::default()).collect();
        Contender { name, asked, renew: None, samples }
    }

    /// One that is not asked to refuse.
    fn granting<L: Limiter + 'static>(name: &'static str, keys: u64, limiter: L) -> Contender {
        let asked: Vec<Box<dyn Rival>> = vec![Box::new(Asked::new(limiter, keys, true))];
        Contender { name, asked, renew: None, samples: vec![Default::default()] }
    }

    /// Several limits in one word, which hold few bits for each: they grant a round's decisions.
    fn several(name: &'static str, two: bool) -> Contender {
        let make = move |terms, answer| -> Box<dyn Rival> {
            Box::new(Asked::new(several(terms, two, Coarse::default()), 1, answer))
        };
        let granting = move || make(A_ROUND, true);
        let asked = vec![granting(), make(Terms::SPENT, false)];
        let samples = asked.iter().map(|_| Default::default()).collect();
        Contender { name, asked, renew: Some(Box::new(granting)), samples }
    }

    fn measure(&mut self) {
        let is_renewed = [self.renew.is_some(), false];
        let all = self.asked.iter_mut().zip(&mut self.samples).zip(is_renewed);
        for ((asked, samples), is_renewed) in all {
            for (samples, threads) in samples.iter_mut().zip([1, cores()]) {
                if let Some(renew) = self.renew.as_ref().filter(|_| is_renewed) {
                    *asked = renew();
                }
                let spent = spend_on_adds(&**asked, threads, TIMES);
                samples.push(Sample::new(spent, 0.0, TIMES));
            }
            assert_eq!(asked.sum(), 0, "{} has decided otherwise", self.name);
        }
    }
}

fn one_key() -> Vec<Contender> {
    let ticker = Ticker::start(Duration::from_millis(1));
    let all = vec![
        Contender::granting(FETCH_ADD, 1, Counted::default()),
        Contender::granting("AtomicU64, by compare-exchange", 1, Exchanged::default()),
        Contender::granting(COARSE, 1, Read(Coarse::default(), ())),
        Contender::granting(COARSE_ADD, 1, Read(Coarse::default(), Counted::default())),
        Contender::granting(
            "Coarse, and a compare-exchange",
            1,
            Read(Coarse::default(), Exchanged::default()),
        ),
        Contender::granting("Precise", 1, Read(Precise::default(), ())),
        Contender::of(GATE, 1, |terms| gate(terms, Coarse::default())),
        Contender::of("Gate, Precise", 1, |terms| gate(terms, Precise::default())),
        Contender::of(GATE_TICKER, 1, |terms| gate(terms, ticker.clone())),
        Contender::of(PACE, 1, |terms| paced(terms, Coarse::default())),
        Contender::of("Pace, Precise", 1, |terms| paced(terms, Precise::default())),
        Contender::of("Gate, reserve and settle, Coarse", 1, |terms| {
            Settled(gate(terms, Coarse::default()))
        }),
        Contender::of("Pace, reserve and settle, Coarse", 1, |terms| {
            Settled(paced(terms, Coarse::default()))
        }),
        Contender::several(PACES_ONE, false),
        Contender::several(PACES_TWO, true),
        Contender::of(RATIONED, 1, |terms| rationed(terms, 1_000, Coarse::default())),
        Contender::of(RATIONED_TICKER, 1, |terms| rationed(terms, 1_000, ticker.clone())),
        Contender::of("a window, sum then add, Coarse", 1, |terms| {
            Soft::new(terms, Coarse::default())
        }),
        Contender::of("a lock around a ring, Coarse", 1, |terms| {
            MutexRing::new(terms, Coarse::default())
        }),
        Contender::of("governor", 1, Governor::own),
        Contender::of(GOVERNOR, 1, |terms| Governor::new(terms, Timed(Coarse::default()))),
    ];
    #[cfg(feature = "sentinel")]
    let all =
        all.into_iter().chain([Contender::of("sentinel-core, an entry", 1, Flow::new)]).collect();
    all
}

fn many_keys() -> Vec<Contender> {
    let coarse = Coarse::default;
    vec![
        Contender::granting("AtomicU64::fetch_add, in a map", KEYS, Each::of(Counted::default)),
        Contender::of("Gate, Coarse, in a map", KEYS, |terms| Each::of(|| gate(terms, coarse()))),
        Contender::of("Gate, Coarse, in a Family", KEYS, |terms| {
            Gates::of(move || gate(terms, coarse()))
        }),
        Contender::granting(
            "Gate, Precise, in a map, each in a new bucket",
            KEYS,
            Each::of(|| gate(SHORT, Precise::default())),
        ),
        Contender::of("a lock around a ring, Coarse, in a map", KEYS, |terms| {
            Each::of(|| MutexRing::new(terms, coarse()))
        }),
        Contender::of("governor, its DashMap", KEYS, KeyedGovernor::own),
        Contender::of("governor, its DashMap, Coarse", KEYS, |terms| {
            KeyedGovernor::new(terms, Timed(coarse()))
        }),
    ]
}

fn show(all: &[Contender], what: &str) {
    let row = |contender: &Contender| {
        let mut cells = vec![contender.name.to_owned()];
        for kind in 0..2 {
            for threads in 0..2 {
                let of = |contender: &'_ Contender| {
                    contender.samples.get(kind).map(|samples| samples[threads].clone())
                };
                let cost =
                    |samples: Vec<Sample>| Spread::of_samples(&samples, |sample| sample.cpu_ns);
                cells.push(of(contender).map_or("-".to_owned(), |samples| cost(samples).show()));
            }
            if kind == 0 {
                let [own, unit] = [contender, &all[0]].map(|of| &of.samples[0][1]);
                cells.push(Spread::of_both(own, unit, |own, unit| own / unit).show());
            }
        }
        cells
    };
    let rows: Vec<_> = all.iter().map(row).collect();
    let granted = format!("granted, {} threads", cores());
    let refused = format!("refused, {} threads", cores());
    let heads =
        [what, "granted, 1 thread", &granted, "to fetch_add", "refused, 1 thread", &refused];
    print_table(&heads, &rows);
    println!();
}

/// Prints the cost of paces in parts of that of governor, which reads the same clock.
fn beside_governor(all: &[Contender]) {
    let find = |name: &str| all.iter().find(|contender| contender.name == name);
    let governor = find(GOVERNOR).expect("it is there");
    let row = |name: &str| {
        let own = find(name).expect("it is there");
        let ratio = |(kind, threads): (usize, usize)| {
            let [own, theirs] = [own, governor].map(|of| &of.samples[kind][threads]);
            Spread::of_both(own, theirs, |own, theirs| own / theirs).show()
        };
        let ratios = [(0, 0), (0, 1), (1, 0), (1, 1)].map(ratio);
        [name.to_owned()].into_iter().chain(ratios).collect()
    };
    let rows: Vec<_> = [PACE, PACES_ONE, PACES_TWO].map(row).into();
    let granted = format!("granted, {} threads", cores());
    let refused = format!("refused, {} threads", cores());
    let what = "in parts of governor, Coarse";
    print_table(&[what, "granted, 1 thread", &granted, "refused, 1 thread", &refused], &rows);
    println!();
}

pub(crate) fn run(rounds: usize) {
    let (mut one, mut many) = (one_key(), many_keys());
    let mut all: Vec<_> = one.iter_mut().chain(&mut many).collect();
    in_rounds(rounds, &mut all, |contender| contender.measure());
    show(&one, "one key, ns a decision");
    beside_governor(&one);
    show(&many, "10 000 keys, ns a decision");
}
