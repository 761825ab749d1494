//! The command line of `live`.

use std::io::{self, IsTerminal};
use std::thread;

use lexopt::Arg::{Long, Short};
use lexopt::Parser;

use crate::arguments::number;

pub(crate) const USAGE: &str = "\
A live HTTP service on loopback, its clients, and a window that counts them.

usage: live [OPTIONS]

  --seconds N   how long to run, 1 to 3600 (10); with --hammer, how long each contender runs
  --clients N   how many clients, 1 to 256 (32); with --hammer, how many threads (one per core)
  --port N      the service's port, 1 to 65535 (a free one)
  --plain       one line a second instead of a table; the default where there is no terminal
  --hammer      no HTTP: threads that do nothing but add, beside one shared AtomicU64
  --help        this text
";

/// What was asked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Parsed {
    Run(Options),
    Help,
}

/// How to run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) seconds: u64,
    pub(crate) clients: usize,
    pub(crate) port: Option<u16>,
    pub(crate) plain: bool,
    pub(crate) hammer: bool,
}

/// Reads the arguments.
pub(crate) fn parse(mut arguments: Parser) -> Result<Parsed, lexopt::Error> {
    let mut seconds = 10;
    let mut clients = None;
    let mut port = None;
    let mut plain = !io::stdout().is_terminal();
    let mut hammer = false;
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("seconds") => seconds = number(&mut arguments, 1..=3_600)?,
            Long("clients") => clients = Some(number(&mut arguments, 1..=256)? as usize),
            Long("port") => port = Some(number(&mut arguments, 1..=65_535)? as u16),
            Long("plain") => plain = true,
            Long("hammer") => hammer = true,
            Long("help") | Short('h') => return Ok(Parsed::Help),
            other => return Err(other.unexpected()),
        }
    }
    if hammer && let Some(port) = port {
        return Err(format!("--port {port}: --hammer opens no port").into());
    }
    let default = if hammer { thread::available_parallelism().map_or(2, usize::from) } else { 32 };
    let clients = clients.unwrap_or(default);
    Ok(Parsed::Run(Options { seconds, clients, port, plain, hammer }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Parsed, String> {
        parse(Parser::from_args(line.split_whitespace())).map_err(|error| error.to_string())
    }

    #[test]
    fn good_options_are_taken() {
        let expected =
            Options { seconds: 3, clients: 4, port: Some(80), plain: true, hammer: false };
        let line = "--seconds 3 --clients 4 --port 80 --plain";
        assert_eq!(read(line), Ok(Parsed::Run(expected)));
        assert_eq!(read("--seconds 3 --help"), Ok(Parsed::Help));
    }

    #[test]
    fn bad_options_are_named_with_their_rule() {
        for (line, value, rule) in [
            ("--seconds x", "\"x\"", "from 1 to 3600"),
            ("--seconds 0", "\"0\"", "from 1 to 3600"),
            ("--seconds -1", "\"-1\"", "from 1 to 3600"),
            ("--clients 257", "\"257\"", "from 1 to 256"),
            ("--port 65536", "\"65536\"", "from 1 to 65535"),
            ("--port", "--port", "missing argument"),
            ("--sceonds 3", "--sceonds", "invalid option"),
            ("--hammer --port 80", "80", "opens no port"),
        ] {
            let message = read(line).unwrap_err();
            assert!(message.contains(value) && message.contains(rule), "{line}: {message}");
        }
    }
}
