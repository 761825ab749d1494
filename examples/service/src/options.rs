//! The command line, with the settings of the environment.

use std::env;
use std::io::{self, IsTerminal};
use std::path::PathBuf;

use clap::builder::RangedU64ValueParser;
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use tracing::Level;

use crate::settings::Settings;

/// The time in seconds that it runs if there is no terminal from which to end it.
const SECONDS: u64 = 10;

/// An HTTP service, what it counts, and the page that shows it. It sends itself requests
#[derive(Parser, Debug, PartialEq, Eq)]
#[command(after_help = "\
SIGINT (Ctrl-C) or SIGTERM begins a graceful shutdown: requests in flight are answered. A second one
stops it at once. It exits with 1 if its own counts differ from those of windrow, and with 2 if an
argument or a setting is refused.")]
pub(crate) struct Options {
    /// Sends no requests of its own
    #[arg(long, conflicts_with = "clients")]
    no_load: bool,

    /// Clients that send requests
    #[arg(long, value_name = "N", default_value = "16")]
    #[arg(value_parser = RangedU64ValueParser::<usize>::new().range(1..=256))]
    clients: usize,

    /// The time to run [default: until Ctrl-C; with load and without a terminal, 10]
    #[arg(long, value_name = "N")]
    #[arg(value_parser = RangedU64ValueParser::<u64>::new().range(1..=86_400))]
    seconds: Option<u64>,

    /// Draws a line a second, also with neither load nor a terminal
    #[arg(long)]
    lines: bool,

    /// Writes the last scrape there, when all requests are answered
    #[arg(long, value_name = "FILE")]
    pub(crate) export: Option<PathBuf>,

    #[command(flatten, next_help_heading = "Settings, of which an argument wins")]
    pub(crate) settings: Settings,
}

impl Options {
    /// Reads the arguments and the environment. Ends the process with what is wrong, or with help.
    pub(crate) fn read() -> Options {
        let options = Options::parse();
        let mut command = Options::command();
        let known = command.get_arguments().filter_map(clap::Arg::get_env);
        let known: Vec<_> = known.map(|name| name.to_string_lossy().into_owned()).collect();
        let names = env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned());
        if let Some(why) = options.settings.wrong(names, &known) {
            command.error(ErrorKind::ValueValidation, why).exit();
        }
        options
    }

    /// Returns the number of clients; `None` if other programs send the requests.
    pub(crate) fn clients(&self) -> Option<usize> {
        (!self.no_load).then_some(self.clients)
    }

    /// Returns the time to run, in seconds; `None` if only a signal ends it.
    pub(crate) fn seconds(&self) -> Option<u64> {
        let has_end = !self.no_load && !io::stdout().is_terminal();
        self.seconds.or(has_end.then_some(SECONDS))
    }

    /// Returns whether the counts are drawn once a second.
    pub(crate) fn is_drawn(&self) -> bool {
        self.lines || !self.no_load || io::stdout().is_terminal()
    }

    /// Returns the least severe level that is logged. Where counts are drawn, that is less.
    pub(crate) fn log_level(&self) -> Level {
        self.settings.log.unwrap_or(if self.is_drawn() { Level::WARN } else { Level::INFO })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Options, String> {
        let words = ["windrow-service"].into_iter().chain(line.split_whitespace());
        Options::try_parse_from(words).map_err(|error| error.to_string())
    }

    #[test]
    fn good_options_are_taken() {
        let line = "--seconds 3 --clients 4 --listen 0.0.0.0:80 --lines --export last.txt";
        let options = read(line).unwrap();
        assert_eq!((options.clients(), options.seconds()), (Some(4), Some(3)));
        assert_eq!(options.settings.listen, ([0, 0, 0, 0], 80).into());
        assert!(options.is_drawn() && options.export == Some(PathBuf::from("last.txt")));
        assert!(read("--seconds 3 --help").unwrap_err().contains("Usage: "));
        let options = read("--no-load").unwrap();
        assert_eq!((options.clients(), options.seconds()), (None, None));
    }

    #[test]
    fn bad_options_are_named_with_their_rule() {
        let numbers = "0 is not in 1..=";
        for (line, name, rule) in [
            ("--seconds x", "--seconds", "invalid digit"),
            ("--seconds 0", "--seconds", numbers),
            ("--seconds -1", "-1", "unexpected argument"),
            ("--clients 257", "--clients", "257 is not in 1..=256"),
            ("--listen 127.0.0.1:65536", "--listen", "an address and a port"),
            ("--listen", "--listen", "a value is required"),
            ("--sceonds 3", "--sceonds", "unexpected argument"),
            ("--header_timeout_seconds 3", "--header_timeout_seconds", "unexpected argument"),
            ("--no-load --clients 2", "--clients", "cannot be used with"),
            ("--log info --log info", "--log", "cannot be used multiple times"),
            ("--max-connections 0", "--max-connections", numbers),
            ("--header-timeout-seconds 0", "--header-timeout-seconds", numbers),
            ("--body-timeout-seconds 601", "--body-timeout-seconds", "601 is not in 1..=600"),
            ("--write-timeout-seconds 0", "--write-timeout-seconds", numbers),
            ("--drain-delay-seconds 1.5", "--drain-delay-seconds", "invalid digit"),
            ("--limit-requests 0", "--limit-requests", numbers),
            ("--limit-absence hope", "--limit-absence", "refuse, admit"),
            ("--log 3", "--log", "error, warn, info, debug, trace"),
        ] {
            let message = read(line).unwrap_err();
            assert!(message.contains(name) && message.contains(rule), "{line}: {message}");
        }
    }

    #[test]
    fn names_of_the_environment_and_the_engine_are_judged() {
        let known = ["SHOP_LOG".to_owned()];
        let wrong = |line: &str, names: &[&str]| {
            let names = names.iter().map(ToString::to_string);
            read(line).unwrap().settings.wrong(names, &known)
        };
        assert_eq!(wrong("--limit-redis redis://a", &["PATH", "SHOP_LOG"]), None);
        for name in ["SHOP_DRAIN", "SHOP_log"] {
            let why = format!("the environment's {name} is no setting; there are SHOP_LOG");
            assert_eq!(wrong("", &[name]), Some(why));
        }
        let why = wrong("--limit-redis http://:secret@host", &[]).unwrap();
        assert!(why.contains("--limit-redis (not shown): it must be a URL"), "{why}");
    }
}
