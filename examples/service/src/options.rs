//! The command line, with the settings of the environment.

use std::error::Error;
use std::io::{self, IsTerminal};
use std::path::PathBuf;

use lexopt::Arg::{Long, Short};
use lexopt::{Parser, ValueExt};
use tracing::Level;

use crate::arguments::number;
use crate::settings::{Settings, is_setting};

pub(crate) const USAGE: &str = include_str!("usage.txt");

/// The options of the service.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) settings: Settings,
    /// The number of clients; `None` if other programs send the requests.
    pub(crate) clients: Option<usize>,
    /// The time to run, in seconds; `None` if only a signal ends it.
    pub(crate) seconds: Option<u64>,
    /// True if the counts are drawn once a second.
    pub(crate) is_drawn: bool,
    pub(crate) export: Option<PathBuf>,
}

impl Options {
    /// Returns the least severe level that is logged. Where counts are drawn, that is less.
    pub(crate) fn log_level(&self) -> Level {
        self.settings.log.unwrap_or(if self.is_drawn { Level::WARN } else { Level::INFO })
    }
}

const CLIENTS: usize = 16;

/// The time in seconds that it runs if there is no terminal from which to end it.
const SECONDS: u64 = 10;

/// Reads the arguments and the environment; `None` if it is for help.
pub(crate) fn parse(
    mut arguments: Parser,
    environment: impl IntoIterator<Item = (String, String)>,
) -> Result<Option<Options>, Box<dyn Error>> {
    let is_terminal = io::stdout().is_terminal();
    let mut given = Vec::new();
    let (mut clients, mut seconds, mut export) = (None, None, None);
    let (mut no_load, mut lines) = (false, false);
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("no-load") => no_load = true,
            Long("clients") => clients = Some(number(&mut arguments, 1..=256)? as usize),
            Long("seconds") => seconds = Some(number(&mut arguments, 1..=86_400)?),
            Long("lines") => lines = true,
            Long("export") => export = Some(PathBuf::from(arguments.value()?)),
            Long("help") | Short('h') => return Ok(None),
            Long(name) if is_setting(name) => {
                let name = name.to_owned();
                given.push((name, arguments.value()?.string()?));
            }
            other => return Err(other.unexpected().into()),
        }
    }
    if no_load && clients.is_some() {
        return Err("--no-load has no --clients".into());
    }
    let mut settings = Settings::default();
    settings.read_environment(environment)?;
    settings.read_arguments(&given)?;
    let clients = (!no_load).then(|| clients.unwrap_or(CLIENTS));
    let seconds = seconds.or_else(|| (clients.is_some() && !is_terminal).then_some(SECONDS));
    let is_drawn = lines || is_terminal || clients.is_some();
    Ok(Some(Options { settings, clients, seconds, is_drawn, export }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Option<Options>, String> {
        let parser = Parser::from_args(line.split_whitespace());
        parse(parser, []).map_err(|error| error.to_string())
    }

    #[test]
    fn good_options_are_taken() {
        let expected = Options {
            settings: Settings { listen: ([0, 0, 0, 0], 80).into(), ..Settings::default() },
            clients: Some(4),
            seconds: Some(3),
            is_drawn: true,
            export: Some(PathBuf::from("last.txt")),
        };
        let line = "--seconds 3 --clients 4 --listen 0.0.0.0:80 --lines --export last.txt";
        assert_eq!(read(line), Ok(Some(expected)));
        assert_eq!(read("--seconds 3 --help"), Ok(None));
        let Ok(Some(options)) = read("--no-load") else { panic!() };
        assert_eq!((options.clients, options.seconds), (None, None));
    }

    #[test]
    fn bad_options_are_named_with_their_rule() {
        for (line, value, rule) in [
            ("--seconds x", "\"x\"", "from 1 to 86400"),
            ("--seconds 0", "\"0\"", "from 1 to 86400"),
            ("--seconds -1", "\"-1\"", "from 1 to 86400"),
            ("--clients 257", "\"257\"", "from 1 to 256"),
            ("--listen 127.0.0.1:65536", "\"127.0.0.1:65536\"", "an address and a port"),
            ("--listen", "--listen", "missing argument"),
            ("--sceonds 3", "--sceonds", "invalid option"),
            ("--header_timeout_seconds 3", "--header_timeout_seconds", "invalid option"),
            ("--no-load --clients 2", "--clients", "--no-load has no"),
        ] {
            let message = read(line).unwrap_err();
            assert!(message.contains(value) && message.contains(rule), "{line}: {message}");
        }
    }
}
