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

/// Prints what a reader needs to repeat the run of a program of this package, or of a package of
/// its own: processor, cores, compiler, strategy, command.
pub fn print_caption(name: &str) {
    let features = [
        ("sentinel", cfg!(feature = "sentinel")),
        ("http", cfg!(feature = "http")),
        ("limits", cfg!(feature = "limits")),
        ("push", cfg!(feature = "push")),
        ("heavy", cfg!(feature = "heavy")),
        ("protobuf", cfg!(feature = "protobuf")),
    ];
    let program = if name.starts_with("windrow-") {
        name.to_owned()
    } else {
        let features = features.iter().filter(|(_, is_on)| *is_on);
        let features: Vec<_> = features.map(|(name, _)| format!("--features {name} ")).collect();
        format!("windrow-benches {}--bin {name}", features.concat())
    };
    let forced = env::var("WINDROW_STRATEGY");
    let forced = forced.map_or(String::new(), |name| format!("WINDROW_STRATEGY={name} "));
    let options = env::args().skip(1).collect::<Vec<_>>().join(" ");
    println!(
        "{}, {} cores, {}, counters striped {:?}\n{forced}cargo run --release -p {program} -- {options}\n",
        processor(),
        cores(),
        env!("BENCHES_RUSTC"),
        strategy(),
    );
}

/// The options of a program.
pub struct Options<const N: usize> {
    /// Its numbers.
    pub numbers: [usize; N],
    only: Option<String>,
}

impl<const N: usize> Options<N> {
    /// Returns whether a part is asked for: by its name, or since none is named.
    pub fn wants(&self, part: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only == part)
    }
}

/// Returns the options of program `name`, and prints its caption. The options are numbers, which
/// are `usual` if they are not given, and `--only` with one of its `parts`. Ends the program if an
/// option is unknown, or a number is 0.
pub fn options<const N: usize>(
    name: &str,
    usual: [(&str, usize); N],
    parts: &[&str],
) -> Options<N> {
    let options = parsed(Parser::from_env(), usual, parts).unwrap_or_else(|wrong| {
        eprintln!("{name}: {wrong}");
        process::exit(2)
    });
    print_caption(name);
    options
}

fn parsed<const N: usize>(
    mut arguments: Parser,
    usual: [(&str, usize); N],
    parts: &[&str],
) -> Result<Options<N>, lexopt::Error> {
    let mut options = Options { numbers: usual.map(|(_, number)| number), only: None };
    while let Some(argument) = arguments.next()? {
        let Long(option) = argument else { return Err(argument.unexpected()) };
        if let Some(at) = usual.iter().position(|(known, _)| *known == option) {
            options.numbers[at] = arguments.value()?.parse()?;
        } else if option == "only" {
            options.only = Some(arguments.value()?.string()?);
        } else {
            return Err(argument.unexpected());
        }
    }
    if options.numbers.contains(&0) {
        return Err("a number must be above 0".into());
    }
    if options.only.as_ref().is_some_and(|only| !parts.contains(&only.as_str())) {
        return Err(format!("the parts are {parts:?}").into());
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
        let of = |words: &[&str]| parsed(Parser::from_args(words), [("rounds", 15)], &["gzip"]);
        let given = of(&["--rounds", "3", "--only", "gzip"]).expect("both are known");
        assert_eq!((given.numbers, given.wants("gzip"), given.wants("text")), ([3], true, false));
        let usual = of(&[]).expect("none is needed");
        assert_eq!((usual.numbers, usual.wants("gzip")), ([15], true));
        for wrong in [
            &["--rounds", "0"][..],
            &["--series", "3"],
            &["--rounds", "x"],
            &["3"],
            &["--only", "x"],
        ] {
            assert!(of(wrong).is_err(), "{wrong:?}");
        }
    }
}
