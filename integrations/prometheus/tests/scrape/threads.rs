//! Scrapes while threads count, and while series come and go.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use windrow::{Counter, Family, labels};
use windrow_prometheus::{Exposition, Format};

labels! { struct Shift { shift: u64 } }

/// Returns the series of a text, each with its value.
fn series(metrics: &Exposition) -> Vec<(String, u64)> {
    let text = String::from_utf8(metrics.encode(Format::OPENMETRICS)).unwrap();
    assert!(text.ends_with("# EOF\n"));
    let samples = text.lines().filter(|line| line.starts_with("shifts_total{"));
    let sample = |line: &str| {
        let (series, value) = line.rsplit_once(' ').unwrap();
        (series.to_owned(), value.parse().unwrap())
    };
    samples.map(sample).collect()
}

#[test]
fn a_scrape_shows_no_series_twice_and_none_that_stays_goes_back() {
    let shifts = Arc::new(Family::<Shift, Counter>::new().with_max_series(64));
    let mut metrics = Exposition::new();
    metrics.register("shifts", "Shifts", Arc::clone(&shifts)).unwrap();
    let stays = shifts.handle(Shift { shift: 0 });
    let stop = AtomicBool::new(false);
    let (added, scrapes) = thread::scope(|scope| {
        let comes_and_goes = |first: u64| {
            let (shifts, stop) = (&shifts, &stop);
            move || {
                let mut shift = first;
                while !stop.load(Ordering::Relaxed) {
                    shifts.with(Shift { shift }).increment();
                    shifts.with(Shift { shift: 0 }).increment();
                    if shift > 40 {
                        shifts.remove(Shift { shift: shift - 40 });
                    }
                    shift += 2;
                }
                shift / 2 - first / 2
            }
        };
        let threads = [scope.spawn(comes_and_goes(2)), scope.spawn(comes_and_goes(3))];
        let (end, mut scrapes, mut last) = (Instant::now() + Duration::from_millis(500), 0, 0);
        while Instant::now() < end || scrapes < 20 {
            let all = series(&metrics);
            let names: HashSet<&String> = all.iter().map(|(name, _)| name).collect();
            assert_eq!(names.len(), all.len(), "a series twice: {all:?}");
            assert!(all.len() <= 65);
            let stays = all.iter().find(|(name, _)| name == "shifts_total{shift=\"0\"}");
            let now = stays.expect("a series that stays").1;
            assert!(now >= last, "{now} after {last}");
            (last, scrapes) = (now, scrapes + 1);
        }
        stop.store(true, Ordering::Relaxed);
        (threads.map(|thread| thread.join().unwrap()).iter().sum::<u64>(), scrapes)
    });
    assert!(scrapes >= 20 && added > 0);
    assert_eq!(series(&metrics).iter().find(|(name, _)| name.contains("\"0\"")).unwrap().1, added);
    assert_eq!((stays.lifetime(), shifts.lifetime()), (added, 2 * added));
}

#[test]
fn a_scrape_goes_on_while_the_program_lets_go_of_what_it_counts() {
    let shifts = Arc::new(Family::<Shift, Counter>::new());
    let mut metrics = Exposition::new();
    metrics.register("shifts", "Shifts", Arc::clone(&shifts)).unwrap();
    let threads: Vec<_> = (0..4)
        .map(|shift| {
            let shifts = Arc::clone(&shifts);
            thread::spawn(move || shifts.handle(Shift { shift }).add(shift))
        })
        .collect();
    drop(shifts);
    for thread in threads {
        thread.join().unwrap();
    }
    let mut all = series(&metrics);
    all.sort_unstable();
    let shown = |shift: u64| (format!("shifts_total{{shift=\"{shift}\"}}"), shift);
    assert_eq!(all, (0..4).map(shown).collect::<Vec<_>>());
}
