//! The command line.

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::thread;

use lexopt::Arg::{Long, Short};
use lexopt::Parser;

use crate::arguments::number;

pub(crate) const USAGE: &str = "\
An HTTP service on loopback, what it counts, and the page that shows it. It sends itself requests.

usage: windrow-service [OPTIONS]

  --port N       the service's port, 1 to 65535 (a free one)
  --no-load      bring your own requests: it says how
  --clients N    how many clients send requests, 1 to 256 (16)
  --seconds N    how long to run, 1 to 86400 (until Ctrl-C; with load and without a terminal, 10)
  --plain        one line a second instead of a table; the default where there is no terminal
  --export FILE  writes the last numbers there, as a scrape shows them, when all requests are answered
  --hammer       no HTTP: threads that do nothing but add, beside one shared AtomicU64; --clients is how
                 many (one per core), --seconds how long each contender runs (10)
  --help         this text

SIGINT (Ctrl-C) or SIGTERM stops it in good order: requests in flight are answered. A second one stops it
at once. It exits with 1 if what it counted by its own hand differs from what windrow counted.
";

/// The parsed command line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Parsed {
    Run(Options),
    Hammer(Hammer),
    Help,
}

/// The options of the service.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) port: Option<u16>,
    /// The number of clients; `None` if other programs send the requests.
    pub(crate) clients: Option<usize>,
    /// The time to run, in seconds; `None` if only a signal ends it.
    pub(crate) seconds: Option<u64>,
    pub(crate) plain: bool,
    pub(crate) export: Option<PathBuf>,
}

/// The options of the hammer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Hammer {
    pub(crate) threads: usize,
    pub(crate) seconds: u64,
}

const CLIENTS: usize = 16;

/// The time in seconds that it runs if there is no terminal from which to end it.
const SECONDS: u64 = 10;

/// Reads the arguments.
pub(crate) fn parse(mut arguments: Parser) -> Result<Parsed, lexopt::Error> {
    let is_terminal = io::stdout().is_terminal();
    let (mut port, mut clients, mut seconds, mut export) = (None, None, None, None);
    let (mut no_load, mut plain, mut hammer) = (false, !is_terminal, false);
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("port") => port = Some(number(&mut arguments, 1..=65_535)? as u16),
            Long("no-load") => no_load = true,
            Long("clients") => clients = Some(number(&mut arguments, 1..=256)? as usize),
            Long("seconds") => seconds = Some(number(&mut arguments, 1..=86_400)?),
            Long("plain") => plain = true,
            Long("export") => export = Some(PathBuf::from(arguments.value()?)),
            Long("hammer") => hammer = true,
            Long("help") | Short('h') => return Ok(Parsed::Help),
            other => return Err(other.unexpected()),
        }
    }
    if hammer {
        if port.is_some() || export.is_some() || no_load {
            return Err("--hammer serves nothing: no --port, --export or --no-load".into());
        }
        let cores = || thread::available_parallelism().map_or(2, usize::from);
        let threads = clients.unwrap_or_else(cores);
        return Ok(Parsed::Hammer(Hammer { threads, seconds: seconds.unwrap_or(SECONDS) }));
    }
    if no_load && clients.is_some() {
        return Err("--no-load has no --clients".into());
    }
    let clients = (!no_load).then(|| clients.unwrap_or(CLIENTS));
    let seconds = seconds.or_else(|| (clients.is_some() && !is_terminal).then_some(SECONDS));
    Ok(Parsed::Run(Options { port, clients, seconds, plain, export }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Parsed, String> {
        parse(Parser::from_args(line.split_whitespace())).map_err(|error| error.to_string())
    }

    #[test]
    fn good_options_are_taken() {
        let expected = Options {
            port: Some(80),
            clients: Some(4),
            seconds: Some(3),
            plain: true,
            export: Some(PathBuf::from("last.txt")),
        };
        let line = "--seconds 3 --clients 4 --port 80 --plain --export last.txt";
        assert_eq!(read(line), Ok(Parsed::Run(expected)));
        assert_eq!(read("--seconds 3 --help"), Ok(Parsed::Help));
        let expected = Hammer { threads: 3, seconds: 2 };
        assert_eq!(read("--hammer --seconds 2 --clients 3"), Ok(Parsed::Hammer(expected)));
        let Ok(Parsed::Run(options)) = read("--no-load") else { panic!() };
        assert_eq!((options.clients, options.seconds), (None, None));
    }

    #[test]
    fn bad_options_are_named_with_their_rule() {
        for (line, value, rule) in [
            ("--seconds x", "\"x\"", "from 1 to 86400"),
            ("--seconds 0", "\"0\"", "from 1 to 86400"),
            ("--seconds -1", "\"-1\"", "from 1 to 86400"),
            ("--clients 257", "\"257\"", "from 1 to 256"),
            ("--port 65536", "\"65536\"", "from 1 to 65535"),
            ("--port", "--port", "missing argument"),
            ("--sceonds 3", "--sceonds", "invalid option"),
            ("--hammer --port 80", "--port", "serves nothing"),
            ("--hammer --no-load", "--no-load", "serves nothing"),
            ("--no-load --clients 2", "--clients", "--no-load has no"),
        ] {
            let message = read(line).unwrap_err();
            assert!(message.contains(value) && message.contains(rule), "{line}: {message}");
        }
    }
}
