//! Histograms: windrow's and others, all recorded to alike. Values are log-normal, around a
//! millisecond in nanoseconds.

use std::hint::black_box;
use std::sync::{LazyLock, Mutex};
use std::time::Duration;

use hdrhistogram::SyncHistogram;
use hdrhistogram::sync::Recorder;
use metrics_util::registry::Registry;
use prometheus_client::metrics::histogram::Histogram as Client;
use windrow::clock::{Clock, Coarse, Ticker};
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

/// A histogram, and the calls of it that are measured.
struct Of<T, R> {
    histogram: T,
    record: R,
    count: fn(&T) -> u64,
    quantiles: Option<fn(&T) -> [u64; 3]>,
}

impl<T: Send + Sync, R: Fn(&T, u64) + Send + Sync> Rival for Of<T, R> {
    fn add(&self, n: u64) {
        (self.record)(&self.histogram, n);
    }

    fn sum(&self) -> u64 {
        (self.count)(&self.histogram)
    }

    fn add_many(&self, times: u64) {
        each(times, |value| (self.record)(&self.histogram, value));
    }
}

impl<T: Send + Sync, R: Fn(&T, u64) + Send + Sync> Records for Of<T, R> {
    fn quantiles(&self) -> Option<[u64; 3]> {
        self.quantiles.map(|quantiles| quantiles(&self.histogram))
    }
}

fn of<T: Send + Sync + 'static>(
    histogram: T,
    record: impl Fn(&T, u64) + Send + Sync + 'static,
    count: fn(&T) -> u64,
    quantiles: Option<fn(&T) -> [u64; 3]>,
) -> Box<dyn Records> {
    Box::new(Of { histogram, record, count, quantiles })
}

events! { enum Seen { Rt: Value } }
events! { enum Placed { Rt: Histogram } }

/// Returns a window whose interval is an hour: it holds all rounds. One record keeps count, sum,
/// minimum, maximum and percentiles.
fn percentiles<C: Clock + Send + Sync + 'static>(clock: C) -> Box<dyn Records> {
    let made = SlidingWindow::<Placed>::builder().interval(HOUR).buckets(60).clock(clock).build();
    of(
        made.expect("sixty minutes"),
        |window, value| window.record(Placed::Rt, value),
        |window| window.lifetime(Placed::Rt).count,
        Some(|window| {
            let found = window.distribution(Placed::Rt);
            ASKED.map(|q| found.quantile(q).unwrap_or_default())
        }),
    )
}

/// Returns the count of what cannot be asked for it.
fn unknown<T>(_: &T) -> u64 {
    0
}

fn prometheus_client(histogram: Client) -> Box<dyn Records> {
    of(histogram, |histogram, value| histogram.observe(value as f64), unknown, None)
}

/// Keeps each value until it is read: a handle, its registry, and the number of values read.
fn metrics_util() -> Box<dyn Records> {
    let (registry, key) = (Registry::atomic(), metrics::Key::from_name("rt"));
    let handle: metrics::Histogram =
        registry.get_or_create_histogram(&key, |histogram| histogram.clone().into());
    of(
        (handle, registry, Mutex::new(0)),
        |(handle, ..), value| handle.record(value as f64),
        |(_, registry, count)| {
            let mut count = count.lock().expect("no thread panics with it");
            let mut all = registry.get_histogram_handles();
            all.drain().for_each(|(_, bucket)| {
                bucket.clear_with(|values| *count += values.len() as u64);
            });
            *count
        },
        None,
    )
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
fn opentelemetry() -> Box<dyn Records> {
    use opentelemetry::metrics::MeterProvider;
    use opentelemetry_sdk::metrics::{
        Aggregation, Instrument, ManualReader, SdkMeterProvider, Stream,
    };

    let view = |_: &Instrument| {
        let cells = Aggregation::Base2ExponentialHistogram {
            max_size: 216,
            max_scale: 3,
            record_min_max: true,
        };
        Stream::builder().with_aggregation(cells).build().ok()
    };
    let builder = SdkMeterProvider::builder().with_reader(ManualReader::default());
    let provider = builder.with_view(view).build();
    let histogram = provider.meter("lab").u64_histogram("rt").build();
    // The provider is kept as long as its instrument.
    of((histogram, provider), |(histogram, _), value| histogram.record(value, &[]), unknown, None)
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
        ("windrow: Histogram, 216 cells", || {
            of(
                Histogram::new(),
                Histogram::record,
                Histogram::count,
                Some(|histogram| {
                    let found = histogram.distribution();
                    ASKED.map(|q| found.quantile(q).unwrap_or_default())
                }),
            )
        }),
        // The cost floor: two adds.
        ("windrow: two Counters", || {
            of(
                <[Counter; 2]>::default(),
                |[sum, count], value| {
                    sum.add(value);
                    count.increment();
                },
                |[_, count]| count.sum(),
                None,
            )
        }),
        ("windrow: a window's Value", || {
            of(
                SlidingWindow::<Seen>::builder().build().expect("a second"),
                |window, value| window.record(Seen::Rt, value),
                |window| window.lifetime(Seen::Rt).count,
                None,
            )
        }),
        ("windrow: a window's Histogram, 216 cells", || percentiles(Coarse::default())),
        (TICKED, || percentiles(TICKER.clone())),
        ("a plain floor, 8 cells an octave, by &mut", || Box::new(Floor(Mutex::new(Plain::new())))),
        (OWN[0], || Box::new(Own::of(2))),
        (OWN[1], || Box::new(Own::of(3))),
        ("prometheus: classic, 14 buckets", || {
            let options = prometheus::HistogramOpts::new("rt", "Rt").buckets(borders().collect());
            of(
                prometheus::Histogram::with_opts(options).expect("sound options"),
                |histogram, value| histogram.observe(value as f64),
                prometheus::Histogram::get_sample_count,
                None,
            )
        }),
        ("prometheus-client: classic, 14 buckets", || prometheus_client(Client::new(borders()))),
        ("metrics-util's registry: keeps all values", metrics_util),
        ("hdrhistogram: a recorder a thread, 2 digits", || {
            let made = hdrhistogram::Histogram::new_with_bounds(500, 60_000_000_000, 2);
            Box::new(Hdr(Mutex::new(made.expect("sound bounds").into_sync())))
        }),
    ];
    #[cfg(feature = "labels")]
    all.push(("opentelemetry SDK: exponential, scale 3", opentelemetry));
    all
}
