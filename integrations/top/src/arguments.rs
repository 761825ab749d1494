//! The arguments of the program.

use crate::address::Address;
use crate::error::Error;

/// The text of `--help`.
pub(crate) const HELP: &str = "\
windrow-top [--once] HOST:PORT[/PATH]

Shows the first screen of the windrow console at that address. PATH is the place where the
console is mounted, if it has no port of its own.

  --once         print one frame as text, and end; COLUMNS is its width, or otherwise 100
  -h, --help     print this
  -V, --version  print the version

With NO_COLOR set, there is no colour. F1 shows the keys. Exit status: 1 if the console cannot be
reached, 2 for invalid arguments, 3 if the server refuses or is no console, 4 if the terminal
cannot be used.
";

/// The task that the arguments ask for.
#[derive(Debug, PartialEq)]
pub(crate) enum Task {
    Help,
    Version,
    Once(Address),
    Live(Address),
}

/// Returns the task.
pub(crate) fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Task, Error> {
    let usage = |says: String| Err(Error::Usage { says });
    let (mut is_once, mut address) = (false, None);
    for argument in arguments {
        match argument.as_str() {
            "-h" | "--help" => return Ok(Task::Help),
            "-V" | "--version" => return Ok(Task::Version),
            "--once" => is_once = true,
            option if option.starts_with('-') => {
                return usage(format!("`{option}` is no option: --help lists them"));
            }
            _ if address.is_some() => {
                return usage(format!("`{argument}` is a second address: one is allowed"));
            }
            given => address = Some(Address::parse(given)?),
        }
    }
    match address {
        None => usage("an address is missing: windrow-top HOST:PORT".to_owned()),
        Some(address) if is_once => Ok(Task::Once(address)),
        Some(address) => Ok(Task::Live(address)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(arguments: &[&str]) -> Result<Task, String> {
        parse(arguments.iter().map(|word| (*word).to_owned())).map_err(|error| error.to_string())
    }

    #[test]
    fn one_address_and_known_options_are_a_task() {
        let address = Address::parse("localhost:9090").unwrap();
        assert_eq!(parsed(&["localhost:9090"]), Ok(Task::Live(address.clone())));
        assert_eq!(parsed(&["localhost:9090", "--once"]), Ok(Task::Once(address)));
        assert_eq!(parsed(&["--once", "-h"]), Ok(Task::Help));
        assert_eq!(parsed(&["--version"]), Ok(Task::Version));
    }

    #[test]
    fn any_other_argument_is_named_with_the_rule() {
        for (arguments, says) in [
            (&[][..], "an address is missing"),
            (&["--twice", "a:1"], "`--twice` is no option"),
            (&["a:1", "b:2"], "`b:2` is a second address"),
        ] {
            assert!(parsed(arguments).unwrap_err().starts_with(says), "{arguments:?}");
        }
    }
}
