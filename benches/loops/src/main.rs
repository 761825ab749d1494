//! Loops of adds, in one strategy: a process that the comparison of the strategies asks, in turns
//! with others (`benches/src/lab/strategies.rs`). It chooses nothing itself: its environment does,
//! since windrow chooses once for a whole process.
//!
//! It first prints its strategy; then each line read is a question, and each line printed an
//! answer. Words are separated by tabs.
//!
//! ```text
//!                          ->  is    STRATEGY of counters  STRATEGY of windows  LEASES, a bool
//! loop   NAME  TIMES       ->  done  CPU_NS  WALL_NS
//! beside ROTATIONS         ->  done  six figures, as `beside::Found` has them
//! choice TARGET THREADS BETWEEN_READS warm|cold TIMES  ->  nanos  NS
//! anything else            ->  none
//! ```
//!
//! Each loop makes its counters and windows anew: no figure depends on one address, and no clock's
//! thread runs while other processes are measured.

mod beside;
mod choice;
mod counters;
mod took;
mod windows;

use std::io::{BufRead, Write, stdin, stdout};

use took::keep_to_core;

/// Returns what this process is.
fn is() -> String {
    let (counters, windows) = (windrow::diagnostics::strategy(), windows::strategy());
    format!("is\t{counters:?}\t{windows:?}\t{}", leases())
}

#[cfg(not(feature = "before"))]
fn leases() -> bool {
    windrow::diagnostics::leases()
}

#[cfg(feature = "before")]
fn leases() -> bool {
    false
}

fn answer(line: &str) -> Option<String> {
    let words: Vec<&str> = line.split('\t').collect();
    match words[..] {
        ["loop", name, times] => {
            let mut all = counters::LOOPS.iter().chain(windows::LOOPS);
            let (_, run) = all.find(|(known, _)| *known == name)?;
            let (cpu, wall) = run(times.parse().ok()?);
            Some(format!("done\t{}\t{}", cpu.as_nanos(), wall.as_nanos()))
        }
        ["beside", rotations] => {
            let found = beside::run(rotations.parse().ok()?);
            Some(format!("done\t{}", found.map(|figure| figure.to_string()).join("\t")))
        }
        ["choice", ref asked @ ..] => choice::answer(asked).map(|nanos| format!("nanos\t{nanos}")),
        _ => None,
    }
}

fn main() {
    // Before this thread is kept to one core, which would pass for the whole machine.
    windrow::diagnostics::strategy();
    keep_to_core(0);
    let mut said = is();
    let mut lines = stdin().lock().lines().map_while(Result::ok);
    loop {
        println!("{said}");
        if stdout().flush().is_err() {
            return; // the reader has left
        }
        let Some(line) = lines.next() else { return };
        said = answer(&line).unwrap_or_else(|| "none".to_owned());
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn every_loop_adds() {
        for (name, run) in counters::LOOPS.iter().chain(windows::LOOPS) {
            let (_, wall) = run(1000);
            assert!(wall > Duration::ZERO, "{name}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_not_answered() {
        for line in ["", "loop", "loop\tno\t5", "loop\tcounter, one\tx", "beside\t-1"] {
            assert_eq!(answer(line), None, "{line}");
        }
        assert!(answer("loop\tcounter, one\t5").is_some_and(|said| said.starts_with("done\t")));
    }
}
