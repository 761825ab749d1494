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

/// Returns the option `--rounds N` of binary `name`; ends the program if the arguments are others.
pub fn rounds(name: &str, usual: usize) -> usize {
    let asked = || -> Result<usize, lexopt::Error> {
        let mut rounds = usual;
        let mut arguments = Parser::from_env();
        while let Some(argument) = arguments.next()? {
            match argument {
                Long("rounds") => rounds = arguments.value()?.parse()?,
                other => return Err(other.unexpected()),
            }
        }
        if rounds == 0 { Err("--rounds must be above 0".into()) } else { Ok(rounds) }
    };
    asked().unwrap_or_else(|wrong| {
        eprintln!("{name}: {wrong}");
        process::exit(2)
    })
}

/// Returns the options `--series N` and `--rounds N` of binary `name`: 10 000 and 15 unless they
/// are given. Ends the program if they are wrong.
pub fn series_and_rounds(name: &str) -> (usize, usize) {
    let asked = asked().and_then(|asked| match asked.only {
        Some(_) => Err("there is no option --only here".into()),
        None => Ok((asked.series, asked.rounds)),
    });
    or_end(name, asked)
}

/// Returns the options of [`series_and_rounds`], and the `--only NAME` of a part, if it is given.
pub fn series_rounds_and_part(name: &str) -> (usize, usize, Option<String>) {
    or_end(name, asked().map(|asked| (asked.series, asked.rounds, asked.only)))
}

struct Asked {
    series: usize,
    rounds: usize,
    only: Option<String>,
}

fn asked() -> Result<Asked, lexopt::Error> {
    let mut asked = Asked { series: 10_000, rounds: 15, only: None };
    let mut arguments = Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("series") => asked.series = arguments.value()?.parse()?,
            Long("rounds") => asked.rounds = arguments.value()?.parse()?,
            Long("only") => asked.only = Some(arguments.value()?.string()?),
            other => return Err(other.unexpected()),
        }
    }
    if asked.series == 0 || asked.rounds == 0 {
        return Err("--series and --rounds must be above 0".into());
    }
    Ok(asked)
}

fn or_end<T>(name: &str, asked: Result<T, lexopt::Error>) -> T {
    asked.unwrap_or_else(|wrong| {
        eprintln!("{name}: {wrong}");
        process::exit(2)
    })
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
