//! The time that a move over a gigabyte takes.

use std::io::BufWriter;
use std::time::Instant;

use super::*;

const WEEK: u64 = 7 * 86_400;

/// Writes a week of a gigabyte in 16 files, reads it, and moves over it at random: by a day, by a
/// week and by other spans. Prints the 90th percentile of each.
#[test]
#[ignore = "takes a minute, and a gigabyte of disk"]
fn a_move_over_a_gigabyte() {
    let directory = tempfile::tempdir().unwrap();
    let mut rng = Rng::with_seed(38);
    let begin = 20_000 * 86_400 * SECOND;
    let routes: Vec<String> =
        (0..7).map(|route| format!("http{{method=\"GET\",route=\"/route/{route}\"}}")).collect();
    let mut sums = vec![0_i128; routes.len()];
    let mut bytes = 0;
    for number in 0..16 {
        let path = file(directory.path(), number + 1);
        let mut open = BufWriter::new(fs::File::create(path).unwrap());
        let seconds = number * WEEK / 16..(number + 1) * WEEK / 16;
        let first = head(&format!("run {number}"), begin + seconds.start * SECOND, 60);
        open.write_all(first.as_bytes()).unwrap();
        bytes += first.len();
        for second in seconds {
            for (route, sum) in routes.iter().zip(&mut sums) {
                let count = i128::from(rng.u64(1..1_000));
                *sum += count;
                let events = vec![
                    ("Request", count, count),
                    ("Success", count, count),
                    ("Failure", count / 9, count / 9),
                    ("Rt", count, count * i128::from(rng.u64(1_000_000..9_000_000))),
                ];
                let end = begin + (second + 1) * SECOND;
                let line = Line { resource: route.clone(), end, length: SECOND, events };
                let text = line.text();
                open.write_all(text.as_bytes()).unwrap();
                bytes += text.len();
            }
        }
        open.flush().unwrap();
        eprintln!("written: {} of 16 files, {} MB", number + 1, bytes / 1_000_000);
    }
    let mut past = Past::new(directory.path());
    let watch = Instant::now();
    let mut steps = Vec::new();
    loop {
        let step = Instant::now();
        let left = past.catch_up(4 << 20).unwrap();
        steps.push(step.elapsed());
        if left == 0 {
            break;
        }
        if steps.len() % 32 == 0 {
            eprintln!("{} MB are left to read after {:?}", left / 1_000_000, watch.elapsed());
        }
    }
    steps.sort();
    eprintln!(
        "read once in {:?}, 90 % of the steps of 4 MiB in {:?}; the sums take {:.1} MB",
        watch.elapsed(),
        steps[steps.len() * 9 / 10],
        past.memory_used() as f64 / 1e6
    );
    let week = begin + WEEK * SECOND;
    for (route, sum) in routes.iter().zip(&sums) {
        let span = past.span(route, at(begin), at(week), 400);
        let found = span.events.iter().find(|event| event.name == "Request").unwrap();
        assert_eq!(found.bins.iter().map(|bin| bin.count).sum::<i128>(), *sum, "{route}");
    }
    for (name, length) in [
        ("10 minutes", 600),
        ("an hour", 3_600),
        ("6 hours", 21_600),
        ("a day", 86_400),
        ("a week", WEEK),
    ] {
        let mut bin = Duration::ZERO;
        let mut took: Vec<Duration> = (0..400)
            .map(|_| {
                let from = begin + rng.u64(..WEEK) * SECOND - length / 2 * SECOND;
                let route = &routes[rng.usize(..routes.len())];
                // A move looks for new lines, and makes the bins.
                let watch = Instant::now();
                past.catch_up(4 << 20).unwrap();
                let span = past.span(route, at(from), at(from + length * SECOND), 400);
                let took = watch.elapsed();
                assert_eq!((span.unread, span.events.len()), (0, 4));
                bin = span.bin;
                took
            })
            .collect();
        took.sort();
        let [half, ninety, most] = [200, 360, 399].map(|place| took[place]);
        eprintln!(
            "{name}, in bins of {bin:?}: 90 % of the moves take up to {ninety:?} (median {half:?}, the longest {most:?})"
        );
    }
}
