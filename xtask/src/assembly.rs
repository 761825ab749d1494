//! Reads the machine code of callers of the hottest functions, and demands that their main paths
//! are what the docs say: the sequence, a few predictable branches, no lock prefix, and no call but
//! of a clock.
//!
//! The compiler's own assembly text is read, so that no disassembler is needed. The path is found
//! by following jumps from the first instruction, through the one that arms the sequence and the
//! one that commits it, to the return; the shortest such path is the one that runs. Of a portable
//! add it is the path through the plain add to the row that the thread has leased.
//!
//! Those of arm64 are compiled by another compiler, and read in [`arm64`].

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::steps::{Failed, Steps, target_directory};
use crate::tools::succeeds;

#[cfg(unix)]
pub(crate) mod arm64;

/// A function of `xtask/hot_path.rs`, and the instructions allowed on its main path. Their number
/// is in `xtask/instructions.txt`.
struct Caller {
    symbol: &'static str,
    /// The function that it calls, for readers.
    path: &'static str,
    passes: Passes,
    branches: usize,
    /// Calls of the system's clock.
    calls: usize,
}

const fn caller(
    symbol: &'static str,
    path: &'static str,
    passes: Passes,
    [branches, calls]: [usize; 2],
) -> Caller {
    Caller { symbol, path, passes, branches, calls }
}

const CALLERS: [Caller; 9] = [
    // The column; the row.
    caller("add_one", "Counter::add", SEQUENCE, [2, 0]),
    // The strategy; the row; the guess of the column; the bucket.
    caller("window_add", "SlidingWindow::add, Ticker", LIVE, [4, 0]),
    caller("window_add_manual", "SlidingWindow::add, Manual", LIVE, [4, 0]),
    caller("window_add_coarse", "SlidingWindow::add, Coarse", LIVE, [4, 1]),
    caller("window_add_precise", "SlidingWindow::add, Precise", LIVE, [4, 1]),
    // And the two extremes.
    caller("window_record", "SlidingWindow::record, Ticker", LIVE, [6, 0]),
    // Or the one.
    caller("window_raise", "SlidingWindow::record of a Maximum, Ticker", LIVE, [5, 0]),
    // As of a value; and the range of the scale.
    caller("window_place", "SlidingWindow::record of a Histogram, Ticker", LIVE, [7, 0]),
    // A grant out of a ration: the strategy; the row; the rest, and its end.
    caller("ration_take", "RationedGate::try_admit, Ticker", TAKE, [4, 0]),
];

/// A portable add in a leased row: the strategy; the lease.
const LEASED: Caller = caller("add_one", "Counter::add, in a leased row", PLAIN, [2, 0]);

/// A property of an instruction.
type Is = fn(&str) -> bool;

/// The instructions that a path must pass, in this order.
type Passes = [Is; 2];

/// The instructions of a processor that lead elsewhere.
struct Processor {
    /// Returns the label to which an instruction may jump, and whether the next one may follow.
    jump: fn(&str) -> Option<(&str, bool)>,
    /// The last instruction of a path.
    end: Is,
}

const X86_64: Processor = Processor {
    jump: |line| {
        let label = line.strip_prefix('j')?.split_whitespace().nth(1)?;
        Some((label, !line.starts_with("jmp")))
    },
    end: |line| line.starts_with("ret"),
};

/// The callers, and the compiler's arguments for their text.
pub(crate) const CODE: &str = "xtask/hot_path.rs";
pub(crate) const AS_TEXT: [&str; 2] = ["--emit", "asm"];

/// The sequence on a column is armed, and committed.
const SEQUENCE: Passes = [
    |line| line.starts_with("mov") && line.contains("ptr fs:[") && line.contains("],"),
    |line| line.starts_with("add\tqword") && line.contains("- 1],"),
];

/// The sequence on a live bucket is armed, and committed: by the next store.
const LIVE: Passes = [SEQUENCE[0], |line| {
    ["add\tqword ptr [", "mov\tqword ptr [", "movdqa\txmmword ptr ["]
        .iter()
        .any(|store| line.starts_with(store))
}];

/// The sequence is armed, and the rest of the ration is stored: the second of two cells.
const TAKE: Passes = [SEQUENCE[0], |line| line.starts_with("mov\tqword") && line.contains("+ 7],")];

/// The thread's word is loaded; the number is added where that and the column's word add up to.
const PLAIN: Passes = [
    |line| line.contains(", qword ptr fs:["),
    |line| line.starts_with("add\tqword") && line.contains("- 4],"),
];

/// True if there is a per-core strategy here.
pub(crate) const THERE: bool = cfg!(all(
    target_os = "linux",
    target_arch = "x86_64",
    target_pointer_width = "64",
    target_env = "gnu"
));

/// Compiles the callers and reads them. Returns the numbers of instructions on their main paths;
/// none without that strategy.
pub(crate) fn run(steps: &mut Steps) -> Result<Vec<(&'static str, usize)>, Failed> {
    let root = steps.root().to_owned();
    let mut lengths = Vec::new();
    if !THERE {
        steps.leave_out("assembly of the hot paths", "there is no per-core strategy here");
        return Ok(lengths);
    }
    steps.cargo("library, optimised", "build --release --lib", &[])?;
    steps.step("assembly of the hot paths", "rustc --emit asm xtask/hot_path.rs", || {
        let assembly = text(&root)?;
        for caller in &CALLERS {
            lengths.push((caller.path, read(&assembly, caller)?));
        }
        read(&assembly, &LEASED).map(drop)
    })?;
    Ok(lengths)
}

/// Shows a caller's main path, and judges it. Returns its length.
fn read(assembly: &str, caller: &Caller) -> Result<usize, String> {
    let path = main_path(assembly, caller.symbol, &caller.passes, &X86_64)?;
    show(caller.path, &path);
    judge(&path, caller).map_err(|error| format!("{}: {error}", caller.path))?;
    Ok(path.len())
}

fn show(name: &str, path: &[&str]) {
    println!("    {name}, the main path, {} instructions:", path.len());
    for line in path {
        println!("        {line}");
    }
}

/// Returns what must hold of the main path.
fn judge(path: &[&str], caller: &Caller) -> Result<(), String> {
    let with = |start: &str| path.iter().filter(|line| line.starts_with(start)).count();
    if with("lock") > 0 {
        return Err("a lock prefix is on the main path, where none may be".to_owned());
    }
    let Caller { branches, calls, .. } = caller;
    if with("call") > *calls {
        return Err(format!("{} calls on the main path; at most {calls}", with("call")));
    }
    let jumps = with("j") - with("jmp");
    if jumps > *branches {
        return Err(format!("{jumps} branches on the main path; at most {branches}"));
    }
    Ok(())
}

/// Returns the callers' assembly text.
fn text(root: &Path) -> Result<String, String> {
    let output = target_directory()?.join("release/hot_path.s");
    let mut rustc = rustc();
    rustc.args(AS_TEXT).args(["-C", "llvm-args=-x86-asm-syntax=intel"]);
    compile(&mut rustc, &[target_directory()?.join("release")], &root.join(CODE), &output)?;
    crate::sources::read(&output)
}

/// Returns the compiler that cargo uses.
pub(crate) fn rustc() -> Command {
    Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
}

/// Compiles a single file into `output`, with the library as it was last built in the first of
/// these folders.
pub(crate) fn compile(
    rustc: &mut Command,
    built: &[PathBuf],
    source: &Path,
    output: &Path,
) -> Result<(), String> {
    rustc.args(["--edition", "2024", "-O", "-C", "codegen-units=1", "--extern"]);
    rustc.arg(format!("windrow={}", built[0].join("libwindrow.rlib").display()));
    for folder in built {
        rustc.arg("-L").arg(format!("dependency={}", folder.join("deps").display()));
    }
    succeeds(rustc.arg("-o").arg(output).arg(source))
}

/// Returns the instructions from `function`'s first, through what must be passed, to its end.
fn main_path<'a>(
    assembly: &'a str,
    function: &str,
    passes: &[Is],
    processor: &Processor,
) -> Result<Vec<&'a str>, String> {
    let body = assembly
        .split_once(&format!("\n{function}:"))
        .and_then(|(_, rest)| rest.split_once(".Lfunc_end"))
        .map(|(body, _)| body)
        .ok_or_else(|| format!("there is no function {function}"))?;
    let (code, labels) = parse(body, function);
    // Breadth first, over pairs of an instruction and the number of these that were passed.
    let mut from = HashMap::from([((0, 0), None)]);
    let mut next = VecDeque::from([(0, 0)]);
    while let Some(state @ (index, passed)) = next.pop_front() {
        let Some(line) = code.get(index).copied() else { continue };
        if (processor.end)(line) {
            if passed == passes.len() {
                return Ok(trace(&code, &from, state));
            }
            continue;
        }
        let by_now = passed + usize::from(passes.get(passed).is_some_and(|is_next| is_next(line)));
        let (label, falls) =
            (processor.jump)(line).map_or((None, true), |(to, falls)| (Some(to), falls));
        let jump = label.and_then(|label| labels.get(label)).copied();
        for index in jump.into_iter().chain(falls.then_some(index + 1)) {
            from.entry((index, by_now)).or_insert_with(|| {
                next.push_back((index, by_now));
                Some(state)
            });
        }
    }
    Err(format!("no path through {function} passes the required instructions, and returns"))
}

type State = (usize, usize);

/// Returns the path that has led to `end`.
fn trace<'a>(code: &[&'a str], from: &HashMap<State, Option<State>>, end: State) -> Vec<&'a str> {
    let mut path: Vec<_> = std::iter::successors(Some(end), |state| from[state])
        .map(|(index, _)| code[index])
        .collect();
    path.reverse();
    path
}

/// Returns the instructions, and the labels before them; other sections are left out.
fn parse<'a>(body: &'a str, function: &str) -> (Vec<&'a str>, HashMap<&'a str, usize>) {
    let (mut code, mut labels, mut elsewhere) = (Vec::new(), HashMap::new(), false);
    for line in body.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if let Some(section) = line.strip_prefix(".section") {
            elsewhere = !section.contains(&format!(".text.{function}"));
        } else if elsewhere || line.starts_with('#') || line.starts_with("//") {
            // Another section's, or a remark.
        } else if let Some(label) = line.strip_suffix(':') {
            labels.insert(label, code.len());
        } else if !line.starts_with('.') {
            code.push(line);
        }
    }
    (code, labels)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &str = "
add_one:
	mov	rbx, qword ptr [rdi]
	test	bl, 1
	je	.L1
	mov	qword ptr fs:[r8 + 8], rsi
	.section	.text.rseq_abort,\"ax\",@progbits
	jmp	.L1
	.section	.text.add_one,\"ax\",@progbits
	add	qword ptr [rbx + rsi - 1], rdx
	ret
.L1:
	add	rbx, qword ptr fs:[rax]
	test	bl, 4
	je	.L2
	add	qword ptr [rbx - 4], rdx
	ret
.L2:
	call	elsewhere
	ret
.Lfunc_end0:
";

    #[test]
    fn the_path_of_a_leased_row_goes_through_the_plain_add() {
        let path = main_path(BODY, "add_one", &PLAIN, &X86_64).unwrap();
        assert_eq!(path.len(), 8);
        assert!(judge(&path, &LEASED).is_ok());
        for line in ["call\telsewhere", "lock\t\tadd\tqword ptr [rbx - 8], rdx"] {
            let body = BODY.replace("\ttest\tbl, 4", &format!("\t{line}\n\ttest\tbl, 4"));
            let path = main_path(&body, "add_one", &PLAIN, &X86_64).unwrap();
            assert!(judge(&path, &LEASED).is_err());
        }
        let locked = BODY.replace("add\tqword ptr [rbx - 4]", "lock\tadd\tqword ptr [rbx - 4]");
        assert!(main_path(&locked, "add_one", &PLAIN, &X86_64).is_err());
    }

    #[test]
    fn the_path_goes_through_the_sequence() {
        let path = main_path(BODY, "add_one", &SEQUENCE, &X86_64).unwrap();
        assert_eq!(path.len(), 6);
        assert!(judge(&path, &CALLERS[0]).is_ok());
    }

    #[test]
    fn a_lock_or_a_call_on_the_path_is_refused() {
        for line in ["lock\t\tinc", "call\telsewhere"] {
            let body = BODY.replace("\tadd", &format!("\t{line}\n\tadd"));
            let path = main_path(&body, "add_one", &SEQUENCE, &X86_64).unwrap();
            assert!(judge(&path, &CALLERS[0]).unwrap_err().contains("on the main path"));
        }
    }

    #[test]
    fn a_function_without_a_sequence_is_refused() {
        assert!(main_path(&BODY.replace("fs:", "gs:"), "add_one", &SEQUENCE, &X86_64).is_err());
        assert!(main_path(&BODY.replace("- 1]", "]"), "add_one", &SEQUENCE, &X86_64).is_err());
        assert!(main_path(BODY, "add_two", &SEQUENCE, &X86_64).is_err());
    }
}
