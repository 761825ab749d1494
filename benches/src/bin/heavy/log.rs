//! The keys of access logs.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use crate::finds::CAPACITY;
use crate::streams::Stream;

/// Returns the paths of the log that is shipped.
pub(crate) fn paths() -> Result<Stream, String> {
    let log = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/data/access.log");
    let keys = of_file(&log, |line| line.split(' ').nth(6))?;
    Ok(Stream { name: "shipped log, paths", keys })
}

/// Returns the clients of a log in the common format, or in the combined one. Returns an error if
/// it cannot be read, or has fewer requests than the capacity: then every key would be heavy.
pub(crate) fn clients(log: &Path) -> Result<Stream, String> {
    let keys = of_file(log, client)?;
    enough(&keys).map_err(|few| format!("{}: {few}", log.display()))?;
    Ok(Stream { name: "log, clients", keys })
}

fn client(line: &str) -> Option<&str> {
    line.split(' ').next().filter(|client| !client.is_empty())
}

fn enough(keys: &[u64]) -> Result<(), String> {
    match keys.len() {
        0 => Err("it has no requests".to_owned()),
        few @ 1..CAPACITY => Err(format!("its requests are {few}; {CAPACITY} are the least")),
        _ => Ok(()),
    }
}

fn of_file(log: &Path, text: fn(&str) -> Option<&str>) -> Result<Vec<u64>, String> {
    let keys = File::open(log).and_then(|file| keys(BufReader::new(file), text));
    keys.map_err(|error| format!("{}: {error}", log.display()))
}

/// Returns a log's texts as numbers. The number of a text is that of its first line.
fn keys(log: impl BufRead, text: fn(&str) -> Option<&str>) -> io::Result<Vec<u64>> {
    let mut numbers: HashMap<String, u64> = HashMap::new();
    let mut keys = Vec::new();
    for line in log.split(b'\n') {
        let line = line?;
        let line = String::from_utf8_lossy(&line); // a log may hold any bytes
        let Some(text) = text(&line) else { continue };
        let next = numbers.len() as u64;
        keys.push(*numbers.entry(text.to_owned()).or_insert(next));
    }
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_that_is_not_there_is_named() {
        let error = clients(Path::new("no such log")).err().expect("it is not there");
        assert!(error.starts_with("no such log: "), "{error}");
    }

    #[test]
    fn a_log_with_fewer_requests_than_the_capacity_is_refused() {
        let clients = |text: &str| keys(text.as_bytes(), client).expect("it is in memory");
        assert_eq!(enough(&clients("")).unwrap_err(), "it has no requests");
        assert_eq!(enough(&clients("\n\n")).unwrap_err(), "it has no requests");
        let few = clients("one - -\ntwo - -\n\none - -");
        assert_eq!(few, [0, 1, 0]);
        assert_eq!(enough(&few).unwrap_err(), "its requests are 3; 1000 are the least");
        assert!(enough(&[0; CAPACITY - 1]).is_err());
        assert!(enough(&[0; CAPACITY]).is_ok());
    }
}
