//! The command line, and the parts that it asks for.

use std::path::PathBuf;

use lexopt::Arg::{Long, Value};
use lexopt::{Parser, ValueExt};

use crate::part::Part;
use crate::{keys, series, windows};

const PARTS: [&Part; 3] = [&series::PART, &windows::PART, &keys::PART];

/// The most things of a kind.
const MOST: usize = 1_000_000;

/// The options.
#[derive(Debug, PartialEq)]
pub(crate) struct Asked {
    pub(crate) directory: PathBuf,
    pub(crate) most: usize,
    pub(crate) only: Option<String>,
}

pub(crate) fn asked(mut arguments: Parser) -> Result<Asked, lexopt::Error> {
    let (mut directory, mut most, mut only) = (None, MOST, None);
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("most") => most = arguments.value()?.parse_with(a_number)?,
            Long("only") => only = Some(arguments.value()?.string()?),
            Value(word) if directory.is_none() => directory = Some(word.into()),
            other => return Err(other.unexpected()),
        }
    }
    let names = PARTS.map(|part| part.name);
    if only.as_ref().is_some_and(|only| !names.contains(&only.as_str())) {
        return Err(format!("the parts are {names:?}").into());
    }
    let directory = directory.ok_or("there is `many DIRECTORY`")?;
    Ok(Asked { directory, most, only })
}

fn a_number(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (1..=MOST).contains(number));
    number.ok_or_else(|| format!("`--most` is a number from 1 to {MOST}"))
}

impl Asked {
    /// Returns the command that measures the same, without the name of the directory.
    pub(crate) fn command(&self) -> String {
        let mut words = vec![
            "cargo run --release -p windrow-benches --features limits --bin many -- DIRECTORY"
                .to_owned(),
        ];
        words.extend((self.most < MOST).then(|| format!("--most {}", self.most)));
        words.extend(self.only.as_ref().map(|part| format!("--only {part}")));
        words.join(" ")
    }

    pub(crate) fn decades(&self) -> Vec<usize> {
        let decades = std::iter::successors(Some(1_usize), |count| Some(10 * count));
        decades.take_while(|count| *count <= self.most).collect()
    }

    pub(crate) fn parts(&self) -> Vec<&'static Part> {
        let chosen = |part: &&Part| self.only.as_ref().is_none_or(|only| only == part.name);
        PARTS.into_iter().filter(chosen).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &[&str]) -> Result<Asked, String> {
        asked(Parser::from_args(words)).map_err(|error| error.to_string())
    }

    #[test]
    fn a_number_of_none_is_refused_and_so_is_one_beyond_a_million() {
        for wrong in ["0", "1000001", "-1", "many", ""] {
            let error = of(&["there", "--most", wrong]).expect_err(wrong);
            assert!(error.contains("`--most` is a number from 1 to 1000000"), "{error}");
        }
        let decades = |most| of(&["there", "--most", most]).expect("a number").decades();
        assert_eq!(decades("1"), [1]);
        assert_eq!(decades("999"), [1, 10, 100]);
        assert_eq!(decades("1000"), [1, 10, 100, 1000]);
        assert_eq!(of(&["there"]).expect("a directory").decades().last(), Some(&MOST));
    }

    #[test]
    fn a_part_is_one_that_there_is() {
        assert!(of(&["there", "--only", "gates"]).expect_err("none").contains("the parts are"));
        assert!(of(&[]).is_err());
        let names = |asked: Asked| asked.parts().iter().map(|part| part.name).collect::<Vec<_>>();
        assert_eq!(names(of(&["there", "--only", "keys"]).expect("a part")), ["keys"]);
        assert_eq!(names(of(&["there"]).expect("a directory")), ["series", "windows", "keys"]);
    }

    #[test]
    fn the_command_has_the_options_of_the_run() {
        let command = |words: &[&str]| of(words).expect("sound options").command();
        let whole = command(&["there"]);
        assert!(whole.ends_with("--bin many -- DIRECTORY"), "{whole}");
        let some = command(&["--only", "windows", "there", "--most", "100"]);
        assert_eq!(some, format!("{whole} --most 100 --only windows"));
    }
}
