//! The terminal of the binaries: options, a caption that says where the figures come from, tables
//! in Markdown.

use std::{env, fs, process};

use lexopt::Arg::Long;
use lexopt::{Parser, ValueExt};
use windrow::diagnostics::strategy;

use crate::harness::cores;

/// `rows` below `heads` as a table in Markdown, columns aligned.
pub fn markdown(heads: &[&str], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.max().unwrap_or(0).max(heads[column].chars().count())
    };
    let widths: Vec<usize> = (0..heads.len()).map(width).collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let padded = cells.zip(&widths).map(|(cell, &width)| format!("{cell:width$}"));
        format!("| {} |\n", padded.collect::<Vec<_>>().join(" | "))
    };
    let rules: Vec<String> = widths.iter().map(|&width| "-".repeat(width)).collect();
    let mut text = line(&mut heads.iter().copied());
    text += &line(&mut rules.iter().map(String::as_str));
    for row in rows {
        text += &line(&mut row.iter().map(String::as_str));
    }
    text
}

/// Prints `rows` below `heads`, columns aligned.
pub fn print_table(heads: &[&str], rows: &[Vec<String>]) {
    print!("{}", markdown(heads, rows));
}

/// Prints what a reader needs to repeat the run of binary `name`: processor, cores, compiler,
/// strategy, command.
pub fn print_caption(name: &str) {
    let options: Vec<String> = env::args().skip(1).collect();
    let separator = if options.is_empty() { "" } else { " -- " };
    let features = [
        ("sentinel", cfg!(feature = "sentinel")),
        ("http", cfg!(feature = "http")),
        ("limits", cfg!(feature = "limits")),
        ("labels", cfg!(feature = "labels")),
        ("push", cfg!(feature = "push")),
        ("heavy", cfg!(feature = "heavy")),
        ("protobuf", cfg!(feature = "protobuf")),
    ];
    let features: Vec<_> =
        features.iter().filter(|(_, is_on)| *is_on).map(|(name, _)| *name).collect();
    let features = match &*features {
        [] => String::new(),
        names => format!(" --features {}", names.join(",")),
    };
    let forced = env::var("WINDROW_STRATEGY");
    let forced = forced.map_or(String::new(), |name| format!("WINDROW_STRATEGY={name} "));
    let options = options.join(" ");
    let of_name = format!("-p windrow-benches{features} --bin {name}{separator}{options}");
    print_caption_of(&format!("{forced}cargo run --release {of_name}"));
}

/// Prints the same of a program that another command runs.
pub fn print_caption_of(command: &str) {
    println!(
        "{}, {} cores, {}, counters striped {:?}\n{command}\n",
        processor(),
        cores(),
        env!("BENCHES_RUSTC"),
        strategy(),
    );
}

/// The options that programs share: `--rounds N`, `--series N`, `--requests N`, `--only PART`.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The number of rounds.
    pub rounds: usize,
    /// The number of series.
    pub series: usize,
    /// The number of requests of a round.
    pub requests: usize,
    /// The one part or contender that is measured, if it is named.
    pub only: Option<String>,
}

/// Returns the options of program `name`, which takes those in `known` alone; `usual` are those
/// that are not given. Ends the program if an option is unknown, or a number is 0.
pub fn options(name: &str, known: &[&str], usual: Options) -> Options {
    parsed(Parser::from_env(), known, usual).unwrap_or_else(|wrong| {
        eprintln!("{name}: {wrong}");
        process::exit(2)
    })
}

fn parsed(
    mut arguments: Parser,
    known: &[&str],
    mut options: Options,
) -> Result<Options, lexopt::Error> {
    while let Some(argument) = arguments.next()? {
        let number = match argument {
            Long(option) if !known.contains(&option) => return Err(argument.unexpected()),
            Long("rounds") => &mut options.rounds,
            Long("series") => &mut options.series,
            Long("requests") => &mut options.requests,
            Long("only") => {
                options.only = Some(arguments.value()?.string()?);
                continue;
            }
            other => return Err(other.unexpected()),
        };
        *number = arguments.value()?.parse()?;
        if *number == 0 {
            return Err("a number must be above 0".into());
        }
    }
    Ok(options)
}

/// Returns the processor's name, where the system tells it.
pub fn processor() -> String {
    let about = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = about.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    model.map_or_else(
        || format!("unknown {} processor", env::consts::ARCH),
        |(_, name)| name.to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_those_that_a_program_takes() {
        let of = |words: &[&str]| {
            let usual = Options { rounds: 15, ..Options::default() };
            parsed(Parser::from_args(words), &["rounds", "only"], usual)
        };
        let given = of(&["--rounds", "3", "--only", "gzip"]).expect("both are known");
        assert_eq!((given.rounds, given.only.as_deref()), (3, Some("gzip")));
        assert_eq!(of(&[]).expect("none is needed").rounds, 15);
        for wrong in [&["--rounds", "0"][..], &["--series", "3"], &["--rounds", "x"], &["3"]] {
            assert!(of(wrong).is_err(), "{wrong:?}");
        }
    }
}
