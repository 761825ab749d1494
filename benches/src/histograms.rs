//! Histograms: windrow's and others, all recorded to alike. Values are log-normal, around a
//! millisecond in nanoseconds.

use std::hint::black_box;
use std::sync::{LazyLock, Mutex};
use std::time::Duration;

use hdrhistogram::SyncHistogram;
use hdrhistogram::sync::Recorder;
use histogram::AtomicHistogram;
use metrics_util::registry::{AtomicStorage, Registry};
use prometheus_client::metrics::histogram::{Histogram as Client, NativeHistogramConfig};
use windrow::clock::{Clock, Ticker};
use windrow::{Counter, Histogram, SlidingWindow, events};

use crate::harness::Rival;

const HOUR: Duration = Duration::from_hours(1);

/// The name of a window's histogram whose clock is a ticker.
pub const TICKED: &str = "windrow: a window's Histogram, Ticker";
/// The names of hdrhistogram's own records, by digits.
pub const OWN: [&str; 2] =
    ["hdrhistogram: record by &mut, 2 digits", "hdrhistogram: record by &mut, 3 digits"];

/// The clock of windows that are told the time.
static TICKER: LazyLock<Ticker> = LazyLock::new(|| Ticker::start(Duration::from_millis(1)));

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
pub trait Records: Rival {
    /// Returns them, if it has any.
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

/// Its interval is an hour: it holds all rounds. One record keeps count, sum, minimum, maximum and
/// percentiles.
struct Percentiles<C: Clock>(SlidingWindow<Placed, C>);
impl<C: Clock> Percentiles<C> {
    fn of(clock: C) -> Percentiles<C> {
        let made = SlidingWindow::builder().interval(HOUR).buckets(60).clock(clock).build();
        Percentiles(made.expect("sixty minutes"))
    }
}
impl<C: Clock + Send + Sync> Rival for Percentiles<C> {
    fn add(&self, n: u64) {
        self.0.record(Placed::Rt, n);
    }

    fn sum(&self) -> u64 {
        let all = self.0.lifetime(Placed::Rt);
        all.count
    }

    fn add_many(&self, times: u64) {
        each(times, |value| self.0.record(Placed::Rt, value));
    }
}
impl<C: Clock + Send + Sync> Records for Percentiles<C> {
    fn quantiles(&self) -> Option<[u64; 3]> {
        Some(self.0.distribution(Placed::Rt).quantiles(ASKED).map(Option::unwrap_or_default))
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

/// hdrhistogram's own record, by `&mut`: the lock is held over all records of a turn. It is meant
/// for one thread; others wait.
struct Own(Mutex<hdrhistogram::Histogram<u64>>);
impl Own {
    fn of(digits: u8) -> Own {
        let made = hdrhistogram::Histogram::new_with_bounds(500, 60_000_000_000, digits);
        Own(Mutex::new(made.expect("sound bounds"))) // which does not resize
    }
}
impl Rival for Own {
    fn add(&self, n: u64) {
        self.0.lock().expect("no thread panics with it").record(n).expect("in its bounds");
    }

    fn sum(&self) -> u64 {
        self.0.lock().expect("no thread panics with it").len()
    }

    fn add_many(&self, times: u64) {
        let mut own = self.0.lock().expect("no thread panics with it");
        each(times, |value| own.record(value).expect("in its bounds"));
    }
}
impl Records for Own {
    fn quantiles(&self) -> Option<[u64; 3]> {
        let own = self.0.lock().expect("no thread panics with it");
        Some(ASKED.map(|q| own.value_at_quantile(q)))
    }
}

/// The floor of a record that keeps the same as a window's: plain loads and stores of one thread,
/// without a window, a clock or a row. An octave has eight cells of equal width, so the cell is a
/// count of zeros and a shift.
struct Plain {
    /// Counts and sums.
    cells: Box<[(u64, u64); 512]>,
    max: u64,
    min: u64,
}

impl Plain {
    fn new() -> Plain {
        Plain { cells: Box::new([(0, 0); 512]), max: 0, min: u64::MAX }
    }

    #[inline]
    fn record(&mut self, value: u64) {
        let octave = (value | 8).ilog2();
        let cell = (value >> (octave - 3)) as usize & 7;
        let (count, sum) = &mut self.cells[(octave as usize * 8 + cell) & 511];
        *count += 1;
        *sum += value;
        if value > self.max {
            self.max = value;
        }
        if value < self.min {
            self.min = value;
        }
    }
}

struct Floor(Mutex<Plain>);
impl Rival for Floor {
    fn add(&self, n: u64) {
        self.0.lock().expect("no thread panics with it").record(n);
    }

    fn sum(&self) -> u64 {
        let plain = self.0.lock().expect("no thread panics with it");
        assert!(plain.min <= plain.max || plain.cells.iter().all(|cell| cell.0 == 0));
        plain.cells.iter().map(|cell| cell.0).sum()
    }

    fn add_many(&self, times: u64) {
        let mut plain = self.0.lock().expect("no thread panics with it");
        each(times, |value| plain.record(value));
    }
}
impl Records for Floor {}

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
    use super::{Records, Rival, each, unknown};
    use opentelemetry::metrics::{Histogram, MeterProvider};
    use opentelemetry_sdk::metrics::{
        Aggregation, Instrument, ManualReader, SdkMeterProvider, Stream,
    };

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

/// A contender's name, and how it is made.
pub type Maker = (&'static str, fn() -> Box<dyn Records>);

/// Returns all contenders.
///
/// # Panics
/// Never: the settings are sound.
pub fn makers() -> Vec<Maker> {
    #[cfg_attr(not(feature = "labels"), allow(unused_mut))]
    let mut all: Vec<Maker> = vec![
        ("windrow: Histogram, 216 cells", || Box::new(Windrow(Histogram::new()))),
        ("windrow: two Counters", || Box::new(Counters(Default::default()))),
        ("windrow: a window's Value", || {
            Box::new(Window(SlidingWindow::builder().build().expect("a second")))
        }),
        ("windrow: a window's Histogram, 216 cells", || {
            Box::new(Percentiles::of(windrow::clock::Coarse::default()))
        }),
        (TICKED, || Box::new(Percentiles::of(TICKER.clone()))),
        ("a plain floor, 8 cells an octave, by &mut", || Box::new(Floor(Mutex::new(Plain::new())))),
        (OWN[0], || Box::new(Own::of(2))),
        (OWN[1], || Box::new(Own::of(3))),
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
