//! The cost of being many: `many DIRECTORY [--most N] [--only PART]` writes a page with a table for
//! each part, and a picture of each column, into the directory.
//!
//! `cargo run --release -p windrow-benches --features limits --bin many -- DIRECTORY`. Each decade
//! from 1 to a million, or to `--most N`, is measured once. Where things are few, a thousand are
//! made in several sets. Bytes are counted apart from times, since a count makes an allocation
//! longer.

mod keys;
mod page;
mod series;
mod windows;

use std::error::Error;
use std::path::PathBuf;

use cpu_time::ThreadTime;

use lexopt::Arg::{Long, Value};
use lexopt::{Parser, ValueExt};
use windrow_benches::heap::Counting;

#[global_allocator]
static HEAP: Counting = Counting::new();

/// A kind of thing of which there are many.
struct Part {
    name: &'static str,
    title: &'static str,
    /// The text above the table.
    about: &'static str,
    /// The crates that take part.
    rivals: &'static [&'static str],
    columns: &'static [Column],
    /// Returns a row for each contender of which this number can be made.
    measure: fn(usize) -> Vec<Row>,
}

/// A figure of each row.
struct Column {
    head: &'static str,
    /// The end of the picture's name.
    picture: &'static str,
}

const fn column(head: &'static str, picture: &'static str) -> Column {
    Column { head, picture }
}

/// The figures of a contender for some number of things: one for each column.
struct Row {
    contender: &'static str,
    count: usize,
    figures: Vec<f64>,
}

const PARTS: [&Part; 3] = [&series::PART, &windows::PART, &keys::PART];

/// The most things of a kind.
const MOST: usize = 1_000_000;

/// The number of times that something is done at random.
const AT_RANDOM: usize = 1_000_000;

/// The options.
#[derive(Debug, PartialEq)]
struct Asked {
    directory: PathBuf,
    most: usize,
    only: Option<String>,
}

fn asked(mut arguments: Parser) -> Result<Asked, lexopt::Error> {
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
    fn command(&self) -> String {
        let mut words = vec![
            "cargo run --release -p windrow-benches --features limits --bin many -- DIRECTORY"
                .to_owned(),
        ];
        words.extend((self.most < MOST).then(|| format!("--most {}", self.most)));
        words.extend(self.only.as_ref().map(|part| format!("--only {part}")));
        words.join(" ")
    }

    fn decades(&self) -> Vec<usize> {
        let decades = std::iter::successors(Some(1_usize), |count| Some(10 * count));
        decades.take_while(|count| *count <= self.most).collect()
    }

    fn parts(&self) -> Vec<&'static Part> {
        let chosen = |part: &&Part| self.only.as_ref().is_none_or(|only| only == part.name);
        PARTS.into_iter().filter(chosen).collect()
    }
}

/// Returns the processor time of `work`, divided by the number of `times` that it does something,
/// in nanoseconds.
fn nanos(times: usize, work: impl FnOnce()) -> f64 {
    let begun = ThreadTime::now();
    work();
    begun.elapsed().as_nanos() as f64 / times as f64
}

/// Returns the number of sets that are measured together, so that times are long enough.
fn sets(count: usize) -> usize {
    (1_000 / count).max(1)
}

/// Returns numbers of things at random.
fn at_random(count: usize) -> Vec<u32> {
    let mut random = fastrand::Rng::with_seed(7);
    let count = u32::try_from(count).expect("a million at most");
    (0..AT_RANDOM).map(|_| random.u32(..count)).collect()
}

/// Returns the bytes on the heap that `make` has asked for and not given back.
fn bytes<T>(make: impl FnOnce() -> T) -> (T, usize) {
    HEAP.stop(false);
    let before = HEAP.bytes();
    let all = make();
    let bytes = HEAP.bytes() - before;
    HEAP.stop(true);
    (all, bytes)
}

fn main() -> Result<(), Box<dyn Error>> {
    let asked = asked(Parser::from_env())?;
    HEAP.stop(true);
    page::write(&asked)
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
