//! `histograms [ROUNDS]`: what one more value costs, and what three percentiles cost, in windrow's
//! histogram and in others.
//!
//! Values are log-normal, around a millisecond in nanoseconds. Interleaved rounds, each contender
//! on one thread and on one for each core: the median of a round's CPU time for each operation, its
//! minimum and its maximum; and the factor by which windrow takes less. With the feature `labels`,
//! OpenTelemetry's SDK too. Bytes are those of one histogram out of a thousand, each recorded to by
//! every core.

use std::error::Error;
use std::hint::black_box;
use std::sync::{LazyLock, Mutex};
use std::thread;
use std::time::Duration;

use hdrhistogram::SyncHistogram;
use hdrhistogram::sync::Recorder;
use histogram::AtomicHistogram;
use metrics_util::registry::{AtomicStorage, Registry};
use prometheus_client::metrics::histogram::{Histogram as Client, NativeHistogramConfig};
use windrow::{Counter, Histogram, SlidingWindow, diagnostics::strategy, events};
use windrow_benches::harness::{Rival, cores, keep_to_core, spend_on_adds, time};
use windrow_benches::heap::Counting;
use windrow_benches::lab::stats::{MARK, Sample, Spread};
use windrow_benches::terminal::{print_caption, print_table};

#[global_allocator]
static HEAP: Counting = Counting::new();

/// Operations of a thread in a round.
const TIMES: u64 = 100_000;
/// The number of histograms whose bytes are measured.
const MANY: usize = 1_000;
const HOUR: Duration = Duration::from_hours(1);
/// The number of reads of a histogram that are timed together.
const READS: u32 = 100;

/// A power of two of them.
static VALUES: LazyLock<Vec<u64>> = LazyLock::new(|| {
    let mut random = fastrand::Rng::with_seed(7);
    let normal = |random: &mut fastrand::Rng| -> f64 {
        (0..12).map(|_| random.f64()).sum::<f64>() - 6.0 // nearly
    };
    #[allow(clippy::cast_sign_loss)] // none is negative
    (0..1_024).map(|_| (1e6 * normal(&mut random).exp()) as u64 + 600).collect()
});

/// Gives `record` one value after the other.
#[inline]
fn each(times: u64, mut record: impl FnMut(u64)) {
    let values: &[u64; 1_024] = VALUES.as_slice().try_into().expect("so many");
    for n in 0..times {
        record(black_box(values[n as usize & 1_023]));
    }
}

/// A contender: a rival, and its three percentiles, if it has any.
trait Records: Rival {
    fn quantiles(&self) -> Option<[u64; 3]> {
        None
    }
}

const ASKED: [f64; 3] = [0.5, 0.9, 0.99];

/// Makes a rival of what records one value.
macro_rules! records {
    ($name:ident, |$this:ident, $value:ident| $record:expr, $count:expr) => {
        impl Rival for $name {
            fn add(&self, n: u64) {
                let ($this, $value) = (self, n);
                _ = $record;
            }

            fn sum(&self) -> u64 {
                let count: fn(&$name) -> u64 = |$this| $count;
                count(self)
            }

            fn add_many(&self, times: u64) {
                let $this = self;
                each(times, |$value| _ = $record);
            }
        }
    };
}

struct Windrow(Histogram);
records!(Windrow, |this, value| this.0.record(value), this.0.count());
impl Records for Windrow {
    fn quantiles(&self) -> Option<[u64; 3]> {
        let found = self.0.distribution().quantiles(ASKED);
        Some(found.map(Option::unwrap_or_default))
    }
}

/// The cost floor: two adds.
struct Counters([Counter; 2]);
records!(
    Counters,
    |this, value| {
        this.0[0].add(value);
        this.0[1].increment();
    },
    this.0[1].sum()
);
impl Records for Counters {}

events! { enum Seen { Rt: Value } }
events! { enum Placed { Rt: Histogram } }

struct Window(SlidingWindow<Seen>);
records!(Window, |this, value| this.0.record(Seen::Rt, value), this.0.lifetime(Seen::Rt).count);
impl Records for Window {}

/// Its interval is an hour: it holds all rounds.
struct Percentiles(SlidingWindow<Placed>);
records!(
    Percentiles,
    |this, value| this.0.record(Placed::Rt, value),
    this.0.lifetime(Placed::Rt).count
);
impl Records for Percentiles {
    fn quantiles(&self) -> Option<[u64; 3]> {
        Some(self.0.quantiles(Placed::Rt, ASKED).map(Option::unwrap_or_default))
    }
}

struct Prometheus(prometheus::Histogram);
records!(Prometheus, |this, value| this.0.observe(value as f64), this.0.get_sample_count());
impl Records for Prometheus {}

/// Returns the count of what cannot be asked for it.
fn unknown<T>(_: &T) -> u64 {
    0
}

struct PrometheusClient(Client);
records!(PrometheusClient, |this, value| this.0.observe(value as f64), unknown(this));
impl Records for PrometheusClient {}

/// Keeps each value until it is read.
struct Metrics(metrics::Histogram, Registry<metrics::Key, AtomicStorage>, Mutex<u64>);
records!(Metrics, |this, value| this.0.record(value as f64), {
    let mut all = this.1.get_histogram_handles();
    let mut count = this.2.lock().expect("no thread panics with it");
    all.drain().for_each(|(_, bucket)| bucket.clear_with(|values| *count += values.len() as u64));
    *count
});
impl Records for Metrics {}

struct Rezolus(AtomicHistogram);
records!(
    Rezolus,
    |this, value| this.0.increment(value),
    this.0.load().as_slice().iter().sum::<u64>()
);
impl Records for Rezolus {
    fn quantiles(&self) -> Option<[u64; 3]> {
        let found = self.0.load().quantiles(&ASKED).ok()??;
        let mut ends = found.entries().values().map(histogram::Bucket::end);
        Some(std::array::from_fn(|_| ends.next().unwrap_or(0)))
    }
}

/// A recorder for each thread, and one histogram that collects their records at a read.
struct Hdr(Mutex<SyncHistogram<u64>>);
impl Hdr {
    fn recorder(&self) -> Recorder<u64> {
        self.0.lock().expect("no thread panics with it").recorder()
    }
}
impl Rival for Hdr {
    fn add(&self, n: u64) {
        self.recorder().saturating_record(n);
    }

    fn sum(&self) -> u64 {
        let mut all = self.0.lock().expect("no thread panics with it");
        all.refresh();
        all.len()
    }

    fn add_many(&self, times: u64) {
        let mut recorder = self.recorder();
        each(times, |value| recorder.saturating_record(value));
    }
}
impl Records for Hdr {
    fn quantiles(&self) -> Option<[u64; 3]> {
        let mut all = self.0.lock().expect("no thread panics with it");
        all.refresh();
        Some(ASKED.map(|q| all.value_at_quantile(q)))
    }
}

#[cfg(feature = "labels")]
mod otel {
    use opentelemetry::metrics::{Histogram, MeterProvider};
    use opentelemetry_sdk::metrics::{
        Aggregation, Instrument, ManualReader, SdkMeterProvider, Stream,
    };
    use windrow_benches::harness::Rival;

    use super::{Records, each, unknown};

    pub(crate) struct Otel(Histogram<u64>, #[allow(dead_code)] SdkMeterProvider);

    impl Otel {
        pub(crate) fn new() -> Otel {
            let view = |_: &Instrument| {
                let cells = Aggregation::Base2ExponentialHistogram {
                    max_size: 216,
                    max_scale: 3,
                    record_min_max: true,
                };
                Stream::builder().with_aggregation(cells).build().ok()
            };
            let provider = SdkMeterProvider::builder()
                .with_reader(ManualReader::default())
                .with_view(view)
                .build();
            Otel(provider.meter("lab").u64_histogram("rt").build(), provider)
        }
    }

    records!(Otel, |this, value| this.0.record(value, &[]), unknown(this));
    impl Records for Otel {}
}

/// Returns the borders of a classic histogram: 14, as people have.
fn borders() -> impl Iterator<Item = f64> {
    (0..14).map(|power| 1e4 * 2.5_f64.powi(power))
}

type Maker = (&'static str, fn() -> Box<dyn Records>);

fn makers() -> Vec<Maker> {
    #[cfg_attr(not(feature = "labels"), allow(unused_mut))]
    let mut all: Vec<Maker> = vec![
        ("windrow: Histogram, 216 cells", || Box::new(Windrow(Histogram::new()))),
        ("windrow: two Counters", || Box::new(Counters(Default::default()))),
        ("windrow: a window's Value", || {
            Box::new(Window(SlidingWindow::builder().build().expect("a second")))
        }),
        ("windrow: a window's Histogram, 216 cells", || {
            let made = SlidingWindow::builder().interval(HOUR).buckets(60).build();
            Box::new(Percentiles(made.expect("sixty minutes")))
        }),
        ("prometheus: classic, 14 buckets", || {
            let options = prometheus::HistogramOpts::new("rt", "Rt").buckets(borders().collect());
            let made = prometheus::Histogram::with_opts(options);
            Box::new(Prometheus(made.expect("sound options")))
        }),
        ("prometheus-client: classic, 14 buckets", || {
            Box::new(PrometheusClient(Client::new(borders())))
        }),
        ("prometheus-client: native, schema 3", || {
            let native = NativeHistogramConfig::with_schema(3);
            Box::new(PrometheusClient(Client::new_native(native)))
        }),
        ("metrics-util's registry: keeps all values", || {
            let (registry, key) = (Registry::atomic(), metrics::Key::from_name("rt"));
            let handle =
                registry.get_or_create_histogram(&key, |histogram| histogram.clone().into());
            Box::new(Metrics(handle, registry, Mutex::new(0)))
        }),
        ("histogram: AtomicHistogram, 3.1 %", || {
            Box::new(Rezolus(AtomicHistogram::new(4, 40).expect("sound powers")))
        }),
        ("hdrhistogram: a recorder a thread, 2 digits", || {
            let made = hdrhistogram::Histogram::new_with_bounds(500, 60_000_000_000, 2);
            Box::new(Hdr(Mutex::new(made.expect("sound bounds").into_sync())))
        }),
    ];
    #[cfg(feature = "labels")]
    all.push(("opentelemetry SDK: exponential, scale 3", || Box::new(otel::Otel::new())));
    all
}

/// One contender, and its times so far, by the number of threads.
struct Measured {
    name: &'static str,
    rival: Box<dyn Records>,
    recorded: u64,
    records: [Vec<Sample>; 2],
    reads: Vec<f64>,
}

impl Measured {
    fn new((name, make): Maker) -> Measured {
        let (records, reads) = (Default::default(), Vec::new());
        Measured { name, rival: make(), recorded: 0, records, reads }
    }

    fn measure(&mut self, threads: [usize; 2]) {
        for (samples, threads) in self.records.iter_mut().zip(threads) {
            let spent = spend_on_adds(&*self.rival, threads, TIMES);
            samples.push(Sample::new(spent, 0.0, TIMES));
            self.recorded += threads as u64 * (TIMES + windrow_benches::harness::WARM_UP);
            // Also lets those that put values aside work them off.
            let count = self.rival.sum();
            assert!(count == self.recorded || count == 0, "{} lost values", self.name);
        }
        if self.rival.quantiles().is_some() {
            let took = time(|| (0..READS).for_each(|_| _ = black_box(self.rival.quantiles())));
            self.reads.push(took.as_secs_f64() * 1e6 / f64::from(READS));
        }
    }

    /// Returns its costs, and the ratios of another's to them.
    fn row(&self, of: &Measured) -> Vec<String> {
        let cost = |at: usize| Spread::of_samples(&self.records[at], |sample| sample.cpu_ns).show();
        let ratio = |at: usize| {
            let pairs = of.records[at].iter().zip(&self.records[at]);
            Spread::of(pairs.map(|(one, other)| one.cpu_ns / other.cpu_ns)).show()
        };
        vec![self.name.to_owned(), cost(0), ratio(0), cost(1), ratio(1)]
    }

    fn reads(&self) -> Vec<String> {
        let cost = Spread::of(self.reads.iter().copied()).show();
        let percentiles = self.rival.quantiles().unwrap_or_default();
        vec![self.name.to_owned(), cost, format!("{percentiles:?}")]
    }
}

/// Resident bytes of this process: windrow's cells are not on the heap.
fn resident() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = pages.split_whitespace().nth(1).and_then(|pages| pages.parse::<usize>().ok());
    pages.unwrap_or(0) * 4096
}

/// Returns what each of many takes, once every core has recorded all values to it.
fn bytes((name, make): Maker) -> Vec<String> {
    let (heap, pages) = (HEAP.bytes(), resident());
    let all: Vec<Box<dyn Records>> = (0..MANY).map(|_| make()).collect();
    for core in 0..cores() {
        thread::scope(|scope| {
            scope.spawn(|| {
                keep_to_core(core);
                for one in &all {
                    one.add_many(1_024);
                }
            });
        });
    }
    // The greater of the two: resident memory may have been free before.
    let bytes = (HEAP.bytes() - heap).max(resident().saturating_sub(pages)) / MANY;
    vec![name.to_owned(), bytes.to_string()]
}

fn main() -> Result<(), Box<dyn Error>> {
    let rounds: usize = std::env::args().nth(1).map_or(Ok(15), |rounds| rounds.parse())?;
    let threads = [1, cores()];
    let sizes: Vec<_> = makers().into_iter().map(bytes).collect();
    HEAP.stop(true);
    let mut all: Vec<Measured> = makers().into_iter().map(Measured::new).collect();
    let count = all.len();
    for round in 0..rounds.max(1) {
        // In an order that is turned by one from round to round.
        (0..count).for_each(|turn| all[(round + turn) % count].measure(threads));
    }
    print_caption("histograms");
    println!("windrow is {:?}\n", strategy());
    let many = format!("{} threads", threads[1]);
    let rows: Vec<_> = all.iter().map(|one| one.row(&all[0])).collect();
    let ours = "Histogram / this";
    print_table(&["ns a record", "1 thread", ours, &many, ours], &rows);
    println!("\n{MARK}\n");
    let rows: Vec<_> =
        all.iter().filter(|one| !one.reads.is_empty()).map(Measured::reads).collect();
    print_table(&["us a read of three percentiles", "median (least to greatest)", "said"], &rows);
    println!();
    print_table(&["bytes each", "every core has recorded to it"], &sizes);
    Ok(())
}
