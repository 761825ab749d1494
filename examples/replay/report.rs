//! The result of the replay, as text.

use std::io::{self, Write};

use windrow::Stats;

use crate::date;
use crate::numbers::{grouped, milliseconds};
use crate::ranking::{Log, Ranking};
use crate::replay::Replay;

/// Prints the whole report.
pub(crate) fn print(replay: &Replay, out: &mut impl Write) -> io::Result<()> {
    let malformed = replay.lines - replay.good;
    let (lines, good) = (grouped(replay.lines), grouped(replay.good));
    writeln!(out, "{lines} lines: {good} good, {} malformed", grouped(malformed))?;
    for bad in &replay.malformed {
        writeln!(out, "  line {}: {}: {:?}", bad.line, bad.reason, bad.text)?;
    }
    let unseen = malformed - replay.malformed.len() as u64;
    if unseen > 0 {
        writeln!(out, "  and {} more", grouped(unseen))?;
    }
    if let Some((oldest, newest)) = replay.span {
        let length = (newest.as_nanos() - oldest.as_nanos()) / 1_000_000_000 + 1;
        let (from, to) = (date::format(oldest), date::format(newest));
        writeln!(out, "{from} to {to} UTC, {} s", grouped(length))?;
        totals(&replay.seconds, length, out)?;
        busiest("seconds", &replay.seconds, out)?;
        busiest("minutes", &replay.minutes, out)?;
    }
    let counted = replay.seconds.lifetime(Log::Request).count;
    writeln!(
        out,
        "\n{} lines out of order; too late for a window of a minute: {}, of an hour: {}",
        grouped(replay.out_of_order),
        grouped(replay.seconds.late()),
        grouped(replay.minutes.late()),
    )?;
    let lost = replay.good.saturating_sub(counted);
    writeln!(out, "counted {counted} of {}, lost {lost}", replay.good)
}

/// The whole log in numbers.
fn totals(ranking: &Ranking, seconds: u64, out: &mut impl Write) -> io::Result<()> {
    let requests = ranking.lifetime(Log::Request).count;
    let rate = requests as f64 / seconds as f64;
    writeln!(out, "\n{:<16}{:>12}{rate:>10.1} /s", "requests", grouped(requests))?;
    for (name, event) in [("4xx", Log::ClientError), ("5xx", Log::ServerError)] {
        let errors = ranking.lifetime(event).count;
        let share = 100.0 * errors as f64 / requests as f64;
        writeln!(out, "{name:<16}{:>12}{share:>10.2} %", grouped(errors))?;
    }
    let bytes = ranking.lifetime(Log::Bytes).sum;
    let rate = bytes as f64 / seconds as f64 / 1_024.0;
    writeln!(out, "{:<16}{:>12}{rate:>10.1} KiB/s", "bytes", grouped(bytes))?;
    let [min, mean, max] = times(ranking.lifetime(Log::Time));
    writeln!(out, "response time, ms: min {min}, mean {mean}, max {max}")
}

/// The busiest buckets of a window.
fn busiest(what: &str, ranking: &Ranking, out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "\n{:<20}{:>11}{:>9}{:>9}{:>9}{:>9}{:>9}",
        format!("busiest {what}"),
        "requests",
        "4xx",
        "5xx",
        "min, ms",
        "mean",
        "max"
    )?;
    for bucket in &ranking.busiest {
        let [min, mean, max] = times(bucket.stats(Log::Time));
        writeln!(
            out,
            "{:<20}{:>11}{:>9}{:>9}{min:>9}{mean:>9}{max:>9}",
            date::format(bucket.start()),
            grouped(bucket.sum(Log::Request)),
            grouped(bucket.sum(Log::ClientError)),
            grouped(bucket.sum(Log::ServerError)),
        )?;
    }
    Ok(())
}

/// Minimum, mean and maximum in milliseconds.
fn times(stats: Stats) -> [String; 3] {
    [stats.min.map(|us| us as f64), stats.mean(), stats.max.map(|us| us as f64)].map(milliseconds)
}
