//! Other processes that measure: contenders that need a choice for a whole process (windrow's
//! strategy, sentinel-core's ticker, the language) still take part in the same rounds.
//!
//! A line asks, a line answers; words are separated by tabs.
//!
//! ```text
//! add     GROUP  NAME  THREADS  TIMES   ->  done  CPU_NS  RUNNING
//! read    GROUP  NAME  1        TIMES   ->  done  CPU_NS  RUNNING
//! ```
//!
//! A worker makes a contender when it is first named, one for each kind of work, and keeps it.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write, stdin, stdout};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::harness::{Contender, cores, time_adds, time_sums};
use crate::lab::stats::Sample;
use crate::lab::subject::{self, Group, Subject};
use crate::lab::work::Work;

/// Does `work` on `contender`, `times` times.
pub fn perform(contender: &Contender, work: Work, times: u64) -> Sample {
    match work {
        Work::Add(threads) => time_adds(&*contender.rival, threads, times),
        Work::Read => time_sums(&*contender.rival, times),
    }
}

/// Makes the contender that is to do `work`.
pub fn prepare(group: Group, name: &str, work: Work) -> Option<Contender> {
    let contender = subject::make(group, name)?;
    if work == Work::Read {
        // So that a read has the work that it would have in a program.
        time_adds(&*contender.rival, cores(), 1);
    }
    Some(contender)
}

/// Answers questions until there are no more.
pub fn serve() {
    let mut contenders = HashMap::new();
    for line in stdin().lock().lines().map_while(Result::ok) {
        let answer = answer(&mut contenders, &line);
        println!("{}", answer.unwrap_or_else(|why| format!("error\t{why}: {line}")));
        let _ = stdout().flush(); // the parent may be gone, and then there is no next line
    }
}

type Contenders = HashMap<(String, String, &'static str), Contender>;

fn answer(contenders: &mut Contenders, line: &str) -> Result<String, &'static str> {
    let words: Vec<&str> = line.split('\t').collect();
    let &[work, group, name, threads, times] = &words[..] else {
        return Err("not five words");
    };
    let threads = threads.parse().map_err(|_| "no number of threads")?;
    let times = times.parse().map_err(|_| "no number of times")?;
    let work = Work::named(work, threads).ok_or("no such work")?;
    let group = Group::named(group).ok_or("no such group")?;
    let key = (group.name().to_owned(), name.to_owned(), work.name());
    if !contenders.contains_key(&key) {
        let made = prepare(group, name, work).ok_or("no contender has this name")?;
        contenders.insert(key.clone(), made);
    }
    let Sample { ns, running } = perform(&contenders[&key], work, times);
    Ok(format!("done\t{ns}\t{running}"))
}

/// A process that measures, as its parent sees it.
pub struct Worker {
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Worker {
    /// Starts `command`.
    ///
    /// # Errors
    /// Why it cannot be started.
    pub fn start(mut command: Command) -> Result<Worker, String> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("{command:?}: {error}"))?;
        let questions = child.stdin.take().ok_or("no standard input")?;
        let answers = BufReader::new(child.stdout.take().ok_or("no standard output")?);
        Ok(Worker { child, questions, answers })
    }

    /// Has `subject` do `work`, `times` times.
    ///
    /// # Errors
    /// If it does not answer, or with an error.
    pub fn perform(&mut self, subject: Subject, work: Work, times: u64) -> Result<Sample, String> {
        let (group, threads) = (subject.group.name(), work.threads());
        let question = format!("{}\t{group}\t{}\t{threads}\t{times}", work.name(), subject.name);
        let mut line = String::new();
        writeln!(self.questions, "{question}").map_err(|error| error.to_string())?;
        self.answers.read_line(&mut line).map_err(|error| error.to_string())?;
        let parsed = match line.trim_end().split('\t').collect::<Vec<_>>()[..] {
            ["done", ns, running] => ns.parse().ok().zip(running.parse().ok()),
            _ => None,
        };
        let (ns, running) =
            parsed.ok_or_else(|| format!("`{question}` was answered by `{line}`"))?;
        Ok(Sample { ns, running })
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // A process that is no longer needed is not waited for.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ours::WINDROW;

    #[test]
    fn questions_are_answered() {
        let mut contenders = HashMap::new();
        for work in ["add", "read"] {
            let line = format!("{work}\tcounter\t{WINDROW}\t1\t1000");
            let answer = answer(&mut contenders, &line).expect("a sound question");
            assert_eq!(answer.split('\t').count(), 3, "{answer}");
        }
        assert_eq!(contenders.len(), 2);
    }

    #[test]
    fn nonsense_is_refused() {
        for line in ["", "add\tcounter\tnobody\t1\t1", "add\tno\tx\t1\t1", "add\tcounter\tx\tx\t1"]
        {
            assert!(answer(&mut HashMap::new(), line).is_err(), "{line}");
        }
    }
}
