//! Runs litmus programs, once for each strategy, and prints the count of each outcome.
//!
//! The exit status is 1 if a forbidden outcome was seen. A process chooses its strategy once, so
//! the program runs itself again for each strategy, unless `WINDROW_STRATEGY` names one.

use std::env;
use std::fmt::Display;
use std::process::{Command, ExitCode};
use std::str::FromStr;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use lexopt::Arg::{Long, Short, Value};
use lexopt::{Parser, ValueExt};
use testkit::alone::{BY_PROCESSOR, WAYS};
use windrow_litmus::race::{Grade, Tally};
use windrow_litmus::races::ALL;
use windrow_litmus::stage::{Plan, Program};
use windrow_litmus::terminal::{Live, grouped};

const HELP: &str = "\
usage: litmus [NAME...] [--seconds N] [--trials N]

  NAME         only programs whose name contains it
  --seconds N  for how long each is run, in each strategy; 2 unless said
  --trials N   but for no more trials than this

  WINDROW_STRATEGY=portable (or fenced, epochs, cpu-id, or empty for this machine's own) runs that strategy alone.
";

/// The variable that decides how a process counts.
const VARIABLE: &str = "WINDROW_STRATEGY";

/// The time between two plain lines where there is no live table.
const PLAIN_LINE_EVERY: Duration = Duration::from_secs(10);

struct Options {
    names: Vec<String>,
    plan: Plan,
}

impl Options {
    fn parse(mut arguments: Parser) -> Result<Option<Options>, lexopt::Error> {
        let plan = Plan { time: Duration::from_secs(2), trials: u64::MAX };
        let mut options = Options { names: Vec::new(), plan };
        while let Some(argument) = arguments.next()? {
            match argument {
                Long("help") | Short('h') => return Ok(None),
                Long("seconds") => {
                    let seconds = number(&mut arguments, &0.01_f64)?;
                    options.plan.time = Duration::from_secs_f64(seconds.min(1e9));
                }
                Long("trials") => options.plan.trials = number(&mut arguments, &1)?,
                Value(name) => options.names.push(name.string()?),
                other => return Err(other.unexpected()),
            }
        }
        if let Some(unknown) =
            options.names.iter().find(|name| !ALL.iter().any(|p| p.name.contains(*name)))
        {
            let names: Vec<&str> = ALL.iter().map(|program| program.name).collect();
            return Err(
                format!("no program is called {unknown}; there are {}", names.join(", ")).into()
            );
        }
        Ok(Some(options))
    }

    fn programs(&self) -> impl Iterator<Item = &'static Program> {
        let wanted = |program: &&Program| {
            self.names.is_empty() || self.names.iter().any(|name| program.name.contains(name))
        };
        ALL.iter().filter(wanted)
    }
}

/// Returns the number that follows an option.
fn number<N>(arguments: &mut Parser, least: &N) -> Result<N, lexopt::Error>
where
    N: FromStr + PartialOrd + Display,
{
    arguments.value()?.parse_with(|digits| {
        let number = digits.parse().ok().filter(|number| number >= least);
        number.ok_or_else(|| format!("not a number of at least {least}"))
    })
}

fn main() -> ExitCode {
    let options = match Options::parse(Parser::from_env()) {
        Ok(Some(options)) => options,
        Ok(None) => {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Err(wrong) => {
            eprintln!("litmus: {wrong}; --help lists the options");
            return ExitCode::from(2);
        }
    };
    let right = if env::var_os(VARIABLE).is_some() { run(&options) } else { run_each() };
    if right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs this program again, once for each strategy. True if nothing forbidden was seen.
fn run_each() -> bool {
    let mut right = true;
    for way in WAYS.into_iter().chain([BY_PROCESSOR]) {
        let again = env::current_exe().and_then(|program| {
            Command::new(program).args(env::args_os().skip(1)).envs(way).status()
        });
        if !again.as_ref().is_ok_and(std::process::ExitStatus::success) {
            eprintln!("litmus: {way:?}: {again:?}");
            right = false;
        }
    }
    right
}

/// Runs the programs. True if nothing forbidden was seen.
fn run(options: &Options) -> bool {
    windrow_litmus::end_on_panic();
    let strategy = env::var(VARIABLE).unwrap_or_default();
    let rows = if windrow::diagnostics::leases() { "leased" } else { "dealt" };
    println!(
        "{:?} {strategy}, rows {rows} where there are no sequences",
        windrow::diagnostics::strategy()
    );
    // Runs all of them, even if one has seen a forbidden outcome.
    options.programs().filter(|program| !run_one(program, options.plan)).count() == 0
}

/// Runs one program, showing its table. True if nothing forbidden was seen.
fn run_one(program: &'static Program, plan: Plan) -> bool {
    let tally = Arc::new(Tally::new(program.outcomes.len()));
    let live = Live::new();
    let (begin, mut said) = (Instant::now(), Instant::now());
    let run = thread::spawn({
        let tally = Arc::clone(&tally);
        move || program.run(plan, &tally)
    });
    while !run.is_finished() {
        thread::sleep(Duration::from_millis(if live.is_terminal() { 200 } else { 10 }));
        let table = table(program, &tally, begin.elapsed());
        live.draw(&table);
        if !live.is_terminal() && said.elapsed() >= PLAIN_LINE_EVERY {
            println!("{}", table[0]);
            said = Instant::now();
        }
    }
    live.settle(&table(program, &tally, begin.elapsed()));
    run.join().is_ok() && tally.first_forbidden().is_none()
}

/// Returns the table of outcomes so far.
fn table(program: &Program, tally: &Tally, time: Duration) -> Vec<String> {
    let heading = format!(
        "{}: {} trials by {} threads in {:.1} s",
        program.name,
        grouped(tally.trials()),
        program.actors,
        time.as_secs_f64()
    );
    let mut lines = vec![heading];
    for (index, outcome) in program.outcomes.iter().enumerate() {
        let (grade, count) = (outcome.grade, tally.of(index));
        if grade == Grade::Forbidden && count == 0 {
            continue;
        }
        let grade = match grade {
            Grade::Expected => "expected",
            Grade::Interesting => "interesting",
            Grade::Forbidden => "FORBIDDEN",
        };
        lines.push(format!("  {:>13}  {grade:11}  {}", grouped(count), outcome.meaning));
    }
    lines.push(match tally.first_forbidden() {
        Some(first) => format!("  {:>13}  {first}", "first"),
        None => format!("  {:>13}  forbidden", 0),
    });
    lines
}
