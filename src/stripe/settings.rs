//! Environment variables that change the choice of a strategy, and one line on standard error about
//! those that are misspelt.

use std::env;
use std::ffi::OsStr;

mod stderr;

/// The maximum number of rows in a bank, because a read may have to visit each of them.
pub(super) const MOST_ROWS: usize = 256;

/// The variable that names a strategy.
pub(super) const STRATEGY: &str = "WINDROW_STRATEGY";
/// The variable that limits the number of rows.
const ROWS: &str = "WINDROW_ROWS";
/// The variable that says whether threads lease rows.
const LEASES: &str = "WINDROW_LEASES";

/// The beginning of each variable's name.
const PREFIX: &str = "WINDROW_";

/// The maximum number of variables of which the line speaks.
const MOST_FLAWS: usize = 4;
/// The maximum number of characters that it shows of a name or a value.
const MOST_SHOWN: usize = 40;

/// The strategy that the environment demands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    /// The best that works here.
    Any,
    Portable,
    Fenced,
    Epochs,
    /// Per core, with rows by processor.
    ByProcessor,
}

/// The values of the variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Settings {
    pub(super) wish: Wish,
    /// From 1 to [`MOST_ROWS`].
    pub(super) most_rows: Option<usize>,
    pub(super) leases: Option<bool>,
}

impl Settings {
    /// Reads the variables. A value that a variable cannot have counts as none, but a number of
    /// rows that is too small or too great counts as the nearest one.
    pub(super) fn read() -> Settings {
        let of = |name| env::var(name).unwrap_or_default();
        Settings {
            wish: wish(&of(STRATEGY)).unwrap_or(Wish::Any),
            most_rows: of(ROWS).parse().ok().map(|rows: usize| rows.clamp(1, MOST_ROWS)),
            leases: leases(&of(LEASES)),
        }
    }
}

fn wish(value: &str) -> Option<Wish> {
    Some(match value {
        "" => Wish::Any,
        "portable" => Wish::Portable,
        "fenced" => Wish::Fenced,
        "epochs" => Wish::Epochs,
        "cpu-id" => Wish::ByProcessor,
        _ => return None,
    })
}

fn leases(value: &str) -> Option<bool> {
    match value {
        "on" => Some(true),
        "off" => Some(false),
        _ => None,
    }
}

/// Writes one line on standard error if a variable's name begins as those of the library do and is
/// none of them, or if the value of one is none of its values.
///
/// The first use of the library may be in an allocator, or while the thread writes to standard
/// error. So the line goes there by one call of the system, past the lock of `std`.
pub(super) fn complain() {
    if let Some(line) = complaint(env::vars_os()) {
        stderr::write(&line);
    }
}

/// Returns the line about these variables, if there is anything to say. It has at most 600 bytes,
/// all of which can be printed.
fn complaint<S: AsRef<OsStr>>(variables: impl Iterator<Item = (S, S)>) -> Option<String> {
    let mut flaws = variables.filter_map(|(name, value)| flaw(name.as_ref(), value.as_ref()));
    let mut line = format!("windrow: {}", flaws.next()?);
    for flaw in flaws.by_ref().take(MOST_FLAWS - 1) {
        line = line + "; " + &flaw;
    }
    Some(line + if flaws.next().is_some() { "; and others\n" } else { "\n" })
}

/// Returns what is wrong with a variable, if it is one of the library's, or is called like those.
fn flaw(name: &OsStr, value: &OsStr) -> Option<String> {
    let (name, text) = (name.to_string_lossy(), value.to_string_lossy());
    let (is_right, values) = match &*name {
        STRATEGY => (wish(&text).is_some(), "portable, fenced, epochs or cpu-id"),
        ROWS => {
            let is_right = text.parse().is_ok_and(|rows| (1..=MOST_ROWS).contains(&rows));
            (is_right, "a number from 1 to 256")
        }
        LEASES => (leases(&text).is_some(), "on or off"),
        _ if name.starts_with(PREFIX) => {
            let known = "WINDROW_STRATEGY, WINDROW_ROWS and WINDROW_LEASES";
            return Some(format!("`{}` is unknown, there are {known}", shown(&name)));
        }
        _ => return None,
    };
    let is_right = is_right || text.is_empty();
    (!is_right).then(|| format!("{name} must be {values}, and is `{}`", shown(&text)))
}

/// Returns the beginning of a text, without what a terminal might obey.
fn shown(text: &str) -> String {
    let is_plain = |sign: char| sign.is_ascii_graphic() || sign == ' ';
    text.chars().take(MOST_SHOWN).map(|sign| if is_plain(sign) { sign } else { '?' }).collect()
}

const _: () = assert!(MOST_ROWS == 256); // as the line says

#[cfg(test)]
mod tests {
    use super::*;

    fn line(variables: &[(&str, &str)]) -> Option<String> {
        complaint(variables.iter().copied())
    }

    #[test]
    fn right_and_foreign_variables_are_passed_over() {
        let right = [
            ("PATH", "/bin"),
            ("windrow_strategy", "fencd"),
            ("MY_WINDROW_ROWS", "x"),
            (STRATEGY, "cpu-id"),
            (STRATEGY, ""),
            (ROWS, "256"),
            (ROWS, ""),
            (LEASES, "off"),
        ];
        assert_eq!(line(&right), None);
        assert_eq!(line(&[]), None);
    }

    #[test]
    fn a_value_that_is_none_is_said_with_those_there_are() {
        for (name, value, must) in [
            (STRATEGY, "Portable", "portable, fenced, epochs or cpu-id"),
            (ROWS, "0", "a number from 1 to 256"),
            (ROWS, "257", "a number from 1 to 256"),
            (ROWS, "two", "a number from 1 to 256"),
            (LEASES, "yes", "on or off"),
        ] {
            let said = format!("windrow: {name} must be {must}, and is `{value}`\n");
            assert_eq!(line(&[(name, value)]), Some(said));
        }
    }

    #[test]
    fn a_name_that_is_none_is_said_with_those_there_are() {
        let said = line(&[("WINDROW_STRATGY", "portable")]).unwrap();
        assert!(said.starts_with("windrow: `WINDROW_STRATGY` is unknown"), "{said}");
        assert!([STRATEGY, ROWS, LEASES].iter().all(|name| said.contains(name)), "{said}");
    }

    #[test]
    fn whatever_the_variables_are_there_is_one_short_line_of_plain_signs() {
        let long = "\u{1b}[2J\n\u{202e}".repeat(10_000);
        let name = format!("{PREFIX}{long}");
        let all = [(name.as_str(), long.as_str()), (STRATEGY, &long), (ROWS, &long)];
        for count in 1..10 {
            let said = line(&all.repeat(count)).unwrap();
            assert!(said.ends_with('\n') && said.len() <= 600, "{} bytes", said.len());
            let plain = said.trim_end_matches('\n').bytes();
            assert!(
                plain.into_iter().all(|byte| byte.is_ascii_graphic() || byte == b' '),
                "{said}"
            );
        }
    }
}
