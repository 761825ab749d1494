//! The cost of being many: `many [--most N] [--only PART]` prints a table for each part. Times are
//! nanoseconds of processor time of one thread, for one of the things; bytes are those asked of the
//! allocator. Columns of windrow's counters are mapped besides: 8 bytes for each core.
//!
//! `cargo run --release -p windrow-benches --features limits --bin many`. Each decade
//! from 1 to a million, or to `--most N`, is measured once. Where things are few, a thousand are
//! made in several sets. Bytes are counted apart from times, since a count makes an allocation
//! longer.

mod keys;
mod part;
mod series;
mod windows;

use std::error::Error;

use lexopt::Arg::Long;
use lexopt::{Parser, ValueExt};
use part::{Part, Row};
use windrow_benches::lab::progress::Progress;
use windrow_benches::lab::stats::digits;
use windrow_benches::terminal::{print_caption, print_table};

const PARTS: [&Part; 3] = [&series::PART, &windows::PART, &keys::PART];

/// The most things of a kind.
const MOST: usize = 1_000_000;

/// The options.
#[derive(Debug, PartialEq)]
struct Asked {
    most: usize,
    only: Option<String>,
}

fn asked(mut arguments: Parser) -> Result<Asked, lexopt::Error> {
    let (mut most, mut only) = (MOST, None);
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("most") => most = arguments.value()?.parse_with(a_number)?,
            Long("only") => only = Some(arguments.value()?.string()?),
            other => return Err(other.unexpected()),
        }
    }
    let names = PARTS.map(|part| part.name);
    if only.as_ref().is_some_and(|only| !names.contains(&only.as_str())) {
        return Err(format!("the parts are {names:?}").into());
    }
    Ok(Asked { most, only })
}

fn a_number(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (1..=MOST).contains(number));
    number.ok_or_else(|| format!("`--most` is a number from 1 to {MOST}"))
}

impl Asked {
    fn decades(&self) -> Vec<usize> {
        let decades = std::iter::successors(Some(1_usize), |count| Some(10 * count));
        decades.take_while(|count| *count <= self.most).collect()
    }

    fn parts(&self) -> Vec<&'static Part> {
        let chosen = |part: &&Part| self.only.as_ref().is_none_or(|only| only == part.name);
        PARTS.into_iter().filter(chosen).collect()
    }
}

/// Measures a part, and prints its table.
fn print(part: &Part, decades: &[usize]) {
    let mut progress = Progress::begin(part.title);
    let mut rows = Vec::new();
    for (at, count) in decades.iter().enumerate() {
        progress.step("decade", at, decades.len());
        rows.extend((part.measure)(*count));
    }
    progress.end();
    let heads: Vec<&str> = [part.name].into_iter().chain(part.columns.iter().copied()).collect();
    let cells = |row: &Row| {
        let name = format!("{}, {}", row.contender, row.count);
        [name].into_iter().chain(row.figures.iter().copied().map(digits)).collect()
    };
    let rows: Vec<Vec<String>> = rows.iter().map(cells).collect();
    println!("{}. {}\n", part.title, part.about);
    print_table(&heads, &rows);
    println!();
}

fn main() -> Result<(), Box<dyn Error>> {
    let asked = asked(Parser::from_env())?;
    part::HEAP.stop(true);
    print_caption("many");
    for part in asked.parts() {
        print(part, &asked.decades());
    }
    Ok(())
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
            let error = of(&["--most", wrong]).expect_err(wrong);
            assert!(error.contains("`--most` is a number from 1 to 1000000"), "{error}");
        }
        let decades = |most| of(&["--most", most]).expect("a number").decades();
        assert_eq!(decades("1"), [1]);
        assert_eq!(decades("999"), [1, 10, 100]);
        assert_eq!(decades("1000"), [1, 10, 100, 1000]);
        assert_eq!(of(&[]).expect("no option").decades().last(), Some(&MOST));
    }

    #[test]
    fn a_part_is_one_that_there_is() {
        assert!(of(&["--only", "gates"]).expect_err("none").contains("the parts are"));
        assert!(of(&["there"]).is_err());
        let names = |asked: Asked| asked.parts().iter().map(|part| part.name).collect::<Vec<_>>();
        assert_eq!(names(of(&["--only", "keys"]).expect("a part")), ["keys"]);
        assert_eq!(names(of(&[]).expect("no option")), ["series", "windows", "keys"]);
    }
}
