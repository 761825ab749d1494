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

use windrow_log::Entry;

fn main() -> Result<(), Box<dyn Error>> {
    let values: Vec<String> = std::env::args().skip(1).collect();
    if values.is_empty() || values.len() > 3 {
        return Err("usage: between DIRECTORY [FROM [TO]]".into());
    }
    let time = |index: usize| -> Result<Option<SystemTime>, Box<dyn Error>> {
        let time: Option<jiff::Timestamp> =
            values.get(index).map(|text| text.parse()).transpose()?;
        Ok(time.map(SystemTime::from))
    };
    let files = windrow_log::read(&values[0])?;
    let mut entries = match (time(1)?, time(2)?) {
        (Some(from), to) => files.between(from, to.unwrap_or_else(SystemTime::now)),
        _ => files.all(),
    };
    for entry in &mut entries {
        print(&entry?)?;
    }
    eprintln!("skipped: {:?}", entries.skipped());
    Ok(())
}

fn print(entry: &Entry) -> Result<(), Box<dyn Error>> {
    let shown = |time: SystemTime| jiff::Timestamp::try_from(time);
    match entry {
        Entry::Run(run) => println!("{} run {}", shown(run.started)?, run.id),
        Entry::Bucket(bucket) => {
            print!("{} {:?} {}", shown(bucket.start)?, bucket.length, bucket.resource);
            for (name, stats) in &bucket.events {
                print!(" {name} {stats:?}");
            }
            println!();
        }
        Entry::Second(second) => println!("{} {second:?}", shown(second.start)?),
        Entry::Dropped(dropped) => {
            println!("{} {} lines are missing", shown(dropped.from)?, dropped.lines);
        }
        Entry::Heavy(heavy) => {
            print!("{} {:?} {} {}", shown(heavy.start)?, heavy.length, heavy.resource, heavy.total);
            for key in &heavy.keys {
                print!(" {:?} {}..={}", key.key, key.at_least, key.at_most);
            }
            println!();
        }
        _ => println!("{entry:?}"),
    }
    Ok(())
}
