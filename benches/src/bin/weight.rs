//! The memory of a window: resident bytes, and bytes on the heap, of each of many windows that have
//! been built, added to once, used now and then, filled, or used all the time; and of each in a
//! family, by label. `cargo run --release -p windrow-benches --bin weight`; `--windows N`.
//!
//! Each row is measured in a process of its own, which finds no memory that another row has left.

use std::process::Command;
use std::sync::Barrier;
use std::time::Duration;
use std::{env, thread};

use lexopt::Arg::Long;
use lexopt::{Parser, ValueExt};
use windrow::clock::Manual;
use windrow::{Family, SlidingWindow, events, labels};
use windrow_benches::harness::{cores, keep_to_core};
use windrow_benches::heap::Counting;
use windrow_benches::terminal::{print_caption, print_table};

events! {
    /// The events of an endpoint of a service.
    enum Http { Pass: Count, Block: Count, Exception: Count, Success: Count, Rt: Value }
}

labels! {
    /// An endpoint of one customer's.
    struct Endpoint { customer: u64 }
}

#[global_allocator]
static HEAP: Counting = Counting::new();

type Window = SlidingWindow<Http, Manual>;

const SECOND: Duration = Duration::from_secs(1);

/// Resident bytes of this process.
fn resident() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = pages.split_whitespace().nth(1).and_then(|pages| pages.parse::<usize>().ok());
    pages.unwrap_or(0) * 4096
}

/// Returns a window whose buckets are seconds.
fn window(buckets: usize, clock: &Manual) -> Window {
    let interval = SECOND * u32::try_from(buckets).expect("not so many");
    let builder = SlidingWindow::builder().interval(interval).buckets(buckets);
    builder.clock(clock.clone()).build().expect("a sound window")
}

fn touch(window: &Window) {
    window.add(Http::Pass, 1);
    window.record(Http::Rt, 7);
}

/// The use of the windows.
#[derive(Clone, Copy, Debug)]
enum Use {
    Built,
    /// In the bucket in which it was built.
    Once,
    /// A hundred times, at random, once in an interval on average.
    NowAndThen,
    /// In each bucket of the ring.
    Full,
    /// For three rings, from every core in each bucket.
    Hot,
    /// Each in a family, and used as in `Once`.
    InFamily,
}

const USES: [(Use, &str); 6] = [
    (Use::Built, "built"),
    (Use::Once, "one add"),
    (Use::NowAndThen, "now and then"),
    (Use::Full, "full ring"),
    (Use::Hot, "hot"),
    (Use::InFamily, "one add, in a family"),
];

impl Use {
    fn run(self, all: &[Window], buckets: usize, clock: &Manual) {
        let all_of_them = || all.iter().for_each(touch);
        match self {
            Use::Built | Use::InFamily => (),
            Use::Once => all_of_them(),
            Use::NowAndThen => {
                let mut random = fastrand::Rng::with_seed(1);
                for _ in 0..100 * buckets {
                    clock.advance(SECOND);
                    all.iter().filter(|_| random.usize(..buckets) == 0).for_each(touch);
                }
            }
            Use::Full => (0..=buckets).for_each(|_| {
                clock.advance(SECOND);
                all_of_them();
            }),
            Use::Hot => {
                let barrier = Barrier::new(cores());
                thread::scope(|scope| {
                    for core in 0..cores() {
                        let barrier = &barrier;
                        scope.spawn(move || {
                            keep_to_core(core);
                            for _ in 0..3 * buckets {
                                if barrier.wait().is_leader() {
                                    clock.advance(SECOND);
                                }
                                barrier.wait();
                                all_of_them();
                            }
                        });
                    }
                });
            }
        }
    }
}

/// Returns the resident bytes and the bytes on the heap of each of `many` windows.
fn weigh(used: Use, buckets: usize, many: usize) -> (usize, usize) {
    let clock = Manual::default();
    clock.set(windrow::Timestamp::from_secs(1_000_000));
    touch(&window(buckets, &clock)); // the one-time memory of the process
    let mut all = Vec::with_capacity(many);
    let (heap, before) = (HEAP.bytes(), resident());
    if matches!(used, Use::InFamily) {
        let make = move || window(buckets, &clock);
        let family: &Family<Endpoint, Window, _> =
            Box::leak(Box::new(Family::with_constructor(make).with_max_series(many)));
        (0..many as u64).for_each(|customer| touch(&family.with(Endpoint { customer })));
        assert_eq!(family.refused(), 0);
    } else {
        all.extend((0..many).map(|_| window(buckets, &clock)));
        used.run(&all, buckets, &clock);
    }
    let weight = ((resident() - before) / many, (HEAP.bytes() - heap) / many);
    std::mem::forget(all);
    weight
}

/// The parsed arguments: the number of windows; or, from the program itself, one row.
struct Options {
    windows: usize,
    row: Option<(usize, usize)>,
}

fn options() -> Result<Options, lexopt::Error> {
    let mut options = Options { windows: 10_000, row: None };
    let mut arguments = Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("windows") => options.windows = arguments.value()?.parse()?,
            Long("row") => {
                let used = arguments.value()?.parse()?;
                options.row = Some((used, arguments.value()?.parse()?));
            }
            other => return Err(other.unexpected()),
        }
    }
    if options.windows == 0 {
        return Err("--windows must be above 0".into());
    }
    Ok(options)
}

/// Returns a row of the table, by a process of its own.
fn row(used: usize, buckets: usize, windows: usize) -> Vec<String> {
    let program = env::current_exe().expect("this program");
    let arguments = [windows, used, buckets].map(|number| number.to_string());
    let [windows, used_as, of] = &arguments;
    let mut command = Command::new(program);
    let output = command.args(["--windows", windows, "--row", used_as, of]).output();
    let output = output.expect("this program runs again");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let weight = String::from_utf8_lossy(&output.stdout);
    let weight = weight.split_whitespace().map(str::to_owned);
    [windows.clone(), buckets.to_string(), USES[used].1.to_owned()]
        .into_iter()
        .chain(weight)
        .collect()
}

fn main() {
    let Options { windows, row: one } = match options() {
        Ok(options) => options,
        Err(wrong) => {
            eprintln!("weight: {wrong}");
            std::process::exit(2);
        }
    };
    if let Some((used, buckets)) = one {
        let (resident, heap) = weigh(USES[used].0, buckets, windows);
        return println!("{resident} {heap}");
    }
    print_caption("weight");
    let uses = 0..USES.len();
    let rows = [2, 10, 60]
        .into_iter()
        .flat_map(|buckets| uses.clone().map(move |used| row(used, buckets, windows)));
    let rows: Vec<_> = rows.collect();
    print_table(
        &["windows", "buckets", "used", "resident bytes each", "of these on the heap"],
        &rows,
    );
    println!("\nA window is {} bytes in place.", size_of::<Window>());
}
