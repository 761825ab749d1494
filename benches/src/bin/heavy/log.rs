//! The keys of access logs.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

use crate::streams::Stream;

#[path = "../../../../examples/replay/lines.rs"]
mod lines;

/// Returns the paths of the log that is shipped.
pub(crate) fn paths() -> io::Result<Stream> {
    let log = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/data/access.log");
    keys("shipped log, paths", &log, |line| line.split(' ').nth(6))
}

/// Returns the clients of a log in the common format, or in the combined one.
pub(crate) fn clients(log: &Path) -> io::Result<Stream> {
    keys("log, clients", log, |line| line.split(' ').next())
}

/// Returns a log's texts as numbers. The number of a text is that of its first line.
fn keys(name: &'static str, log: &Path, text: fn(&str) -> Option<&str>) -> io::Result<Stream> {
    let mut numbers: HashMap<String, u64> = HashMap::new();
    let mut keys = Vec::new();
    let mut lines = lines::Lines::of(BufReader::new(File::open(log)?));
    while let Some(line) = lines.next()? {
        let Some(text) = text(&line) else { continue };
        let next = numbers.len() as u64;
        keys.push(*numbers.entry(text.to_owned()).or_insert(next));
    }
    Ok(Stream { name, keys })
}
