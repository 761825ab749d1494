//! Unusual changes in answers: as a list, and in words.

use std::fmt::{Debug, Write};

use serde_json::{Value, json};

use super::words::{legible, part, percent, short, span, time, times, utc};
use crate::shown::layout::QUANTILES;
use crate::unusual::change::{Change, Course, What};
use crate::unusual::list::{Found, Unusual};

/// The greatest number of changes that are listed.
const LISTED: usize = 100;

/// Returns changes for the page: each with the number of its row, and its kind, weight, beginning,
/// words and course.
pub(crate) fn brief(unusual: &Unusual, now: u64, row: impl Fn(&Found) -> Option<u64>) -> Value {
    let list = unusual.found.iter().take(LISTED).map(|found| {
        let Change { what, course, .. } = found.change;
        let since = beginning(now, found.ago);
        json!([row(found), name(what), found.change.weight(), since, says(found), name(course)])
    });
    json!({
        "list": list.collect::<Value>(),
        "changes": unusual.found.len(),
        "calm": calm(unusual, now),
        "windows": unusual.windows,
        "compared": unusual.compared,
    })
}

/// Returns the time since which nothing else was unusual.
fn calm(unusual: &Unusual, now: u64) -> Option<u64> {
    unusual.calm().map(|ago| beginning(now, ago))
}

/// Returns changes for `/snapshot.json`.
pub(crate) fn json(unusual: &Unusual, now: u64) -> Value {
    let found = unusual.found.iter().take(LISTED).map(|found| {
        json!({
            "key": found.key,
            "what": name(found.change.what),
            "since_ms": beginning(now, found.ago),
            "from": found.change.from,
            "to": found.change.to,
            "says": says(found),
            "course": name(found.change.course),
        })
    });
    json!({
        "changes": found.collect::<Value>(),
        "count": unusual.found.len(),
        "calm_since_ms": calm(unusual, now),
        "windows": unusual.windows,
        "compared": unusual.compared,
    })
}

/// Returns changes for a terminal: a line for each change.
pub(crate) fn text(unusual: &Unusual, now: u64) -> String {
    let mut text = String::new();
    for found in unusual.found.iter().take(LISTED) {
        let (key, says, since) = (legible(&found.key), says(found), found.ago);
        let course = match found.change.course {
            Course::New | Course::Steady => "",
            Course::Worse => ", getting worse",
            Course::Better => ", getting better",
        };
        let time = utc(beginning(now, since));
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "unusual: {key}  {says} since {time} ({}){course}", span(since));
    }
    if unusual.found.len() > LISTED {
        let _ = writeln!(text, "unusual: {} more", unusual.found.len() - LISTED);
    }
    let _ = match calm(unusual, now).filter(|_| unusual.compared > 0) {
        _ if unusual.windows == 0 => Ok(()),
        None => writeln!(text, "nothing to compare with yet: that takes a quarter of an hour"),
        Some(calm) if unusual.found.is_empty() => {
            writeln!(text, "nothing unusual since {}", utc(calm))
        }
        Some(_) => Ok(()),
    };
    if unusual.compared > 0 && unusual.compared < unusual.windows {
        let (compared, windows) = (unusual.compared, unusual.windows);
        let _ = writeln!(text, "{compared} of {windows} windows have a past to compare with");
    }
    text
}

/// Returns the time that was so long before `now`, in whole seconds: it is the same in each frame.
fn beginning(now: u64, ago: u64) -> u64 {
    now.saturating_sub(ago).saturating_add(500) / 1_000 * 1_000
}

/// Returns the name of a kind, or of a course.
fn name(of: impl Debug) -> String {
    format!("{of:?}").to_lowercase()
}

/// Returns a change in words, without its time.
fn says(Found { change, is_duration, .. }: &Found) -> String {
    let (from, to, factor) = (change.from, change.to, change.factor());
    let than = if change.yesterday { " of this hour yesterday" } else { "" };
    match change.what {
        What::Failing => format!("failures {} to {}", percent(from), percent(to)),
        What::Refused => format!("refused {} to {}", percent(from), percent(to)),
        What::Slow => {
            let value = |value: f64| if *is_duration { time(value) } else { short(value) };
            let name = QUANTILES[change.percentile()].0;
            format!("{name} {}, {} to {}", times(factor), value(from), value(to))
        }
        What::Quiet if to == 0.0 => format!("no traffic, {}/s before", short(from)),
        What::Quiet => {
            format!("traffic {}{than}, {}/s to {}/s", part(factor), short(from), short(to))
        }
        What::Busy => {
            format!("traffic {}{than}, {}/s to {}/s", times(factor), short(from), short(to))
        }
    }
}
