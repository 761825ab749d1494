//! The arguments of the program.

use crate::address::Address;
use crate::error::Error;
use crate::source::Source;

/// The text of `--help`.
pub(crate) const HELP: &str = include_str!("help.txt");

/// The task that the arguments ask for.
#[derive(Debug, PartialEq)]
pub(crate) enum Task {
    Help,
    Version,
    Once(Source),
    Live(Source),
}

/// Returns the task.
pub(crate) fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Task, Error> {
    let usage = |says: String| Err(Error::Usage { says });
    let (mut is_once, mut address, mut files) = (false, None, Vec::new());
    for argument in arguments {
        match argument.as_str() {
            "-h" | "--help" => return Ok(Task::Help),
            "-V" | "--version" => return Ok(Task::Version),
            "--once" => is_once = true,
            option if option.starts_with('-') => {
                return usage(format!("`{option}` is no option: --help lists them"));
            }
            path if ["/", "./", "../"].iter().any(|begin| path.starts_with(begin)) => {
                files.push(argument);
            }
            _ if address.is_some() => {
                return usage(format!("`{argument}` is a second address: one is allowed"));
            }
            given => address = Some(Address::parse(given)?),
        }
    }
    let source = match (address, files) {
        (None, files) if files.is_empty() => {
            return usage("an address is missing: windrow-top HOST:PORT, or FILE".to_owned());
        }
        (None, files) => Source::Files(files),
        (Some(address), files) if files.is_empty() => Source::Console(address),
        (Some(_), files) => {
            return usage(format!("`{}` is beside an address: show one or the other", files[0]));
        }
    };
    Ok(if is_once { Task::Once(source) } else { Task::Live(source) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(arguments: &[&str]) -> Result<Task, String> {
        parse(arguments.iter().map(|word| (*word).to_owned())).map_err(|error| error.to_string())
    }

    #[test]
    fn one_address_and_known_options_are_a_task() {
        let console = Source::Console(Address::parse("localhost:9090").unwrap());
        assert_eq!(parsed(&["localhost:9090"]), Ok(Task::Live(console.clone())));
        assert_eq!(parsed(&["localhost:9090", "--once"]), Ok(Task::Once(console)));
        let files = |all: &[&str]| Source::Files(all.iter().map(|&path| path.into()).collect());
        assert_eq!(parsed(&["/dev/shm/app"]), Ok(Task::Live(files(&["/dev/shm/app"]))));
        let both = parsed(&["--once", "./a:1", "../b"]);
        assert_eq!(both, Ok(Task::Once(files(&["./a:1", "../b"]))));
        assert_eq!(parsed(&["--once", "-h"]), Ok(Task::Help));
        assert_eq!(parsed(&["--version"]), Ok(Task::Version));
    }

    #[test]
    fn any_other_argument_is_named_with_the_rule() {
        for (arguments, says) in [
            (&[][..], "an address is missing"),
            (&["--twice", "a:1"], "`--twice` is no option"),
            (&["a:1", "b:2"], "`b:2` is a second address"),
            (&["a:1", "/f"], "`/f` is beside an address"),
        ] {
            assert!(parsed(arguments).unwrap_err().starts_with(says), "{arguments:?}");
        }
    }
}
