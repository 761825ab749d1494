//! Prints what a log has of a span of time:
//!
//! ```text
//! cargo run -p windrow-log --example between -- DIRECTORY [FROM [TO]]
//! ```
//!
//! The times are as in the lines of JSON: `2026-11-22T08:00:00Z`. Without them, it prints all there
//! is.

use std::error::Error;
use std::time::SystemTime;

use jiff::Timestamp;
use windrow_log::Entry;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().ok_or("usage: between DIRECTORY [FROM [TO]]")?;
    let mut times = arguments.map(|text| text.parse::<Timestamp>().map(SystemTime::from));
    let files = windrow_log::read(directory)?;
    let mut entries = match times.next().transpose()? {
        Some(from) => {
            let to = times.next().unwrap_or_else(|| Ok(SystemTime::now()))?;
            files.between(from, to)
        }
        None => files.all(),
    };
    for entry in &mut entries {
        let (time, says) = match entry? {
            Entry::Run(run) => (run.started, format!("run {}", run.id)),
            Entry::Bucket(of) => {
                (of.start, format!("{:?} {} {:?}", of.length, of.resource, of.events))
            }
            Entry::Heavy(of) => {
                (of.start, format!("{:?} {} {} {:?}", of.length, of.resource, of.total, of.keys))
            }
            Entry::Second(second) => (second.start, format!("{second:?}")),
            Entry::Dropped(dropped) => {
                (dropped.from, format!("{} lines are missing", dropped.lines))
            }
            _ => continue,
        };
        println!("{} {says}", Timestamp::try_from(time)?);
    }
    eprintln!("skipped: {:?}", entries.skipped());
    Ok(())
}
