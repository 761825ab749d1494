//! Reads the machine code of callers of the hottest functions, and demands that their main paths are
//! what the docs say: the sequence, a predictable branch or two, no call, no lock prefix.
//!
//! The compiler's own assembly text is read, so that no disassembler is needed. The path is found by
//! following jumps from the first instruction, through the one that arms the sequence and the one that
//! commits it, to the return; the shortest such path is the one that runs.

use std::collections::{HashMap, VecDeque};
use std::path::Path;
use std::process::Command;

use crate::steps::{Failed, Steps, target_directory};

/// A function of `xtask/hot_path.rs`, and what there may be on its main path.
struct Caller {
    name: &'static str,
    /// More instructions than this mean that something has crept in.
    instructions: usize,
    branches: usize,
}

const CALLERS: [Caller; 3] = [
    // The column; the row.
    Caller { name: "add_one", instructions: 19, branches: 2 },
    // The strategy; the bucket; the row.
    Caller { name: "window_add", instructions: 26, branches: 3 },
    // And the two extremes.
    Caller { name: "window_record", instructions: 40, branches: 5 },
];

/// Whether there is a per-core strategy here.
const THERE: bool = cfg!(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"));

/// Compiles the callers and reads them.
pub(crate) fn run(steps: &mut Steps) -> Result<(), Failed> {
    let root = steps.root().to_owned();
    if !THERE {
        return steps.step("assembly of the hot paths", "no per-core strategy here", || Ok(()));
    }
    steps.cargo("library, optimised", &["build", "--release", "--lib"], &[])?;
    steps.step("assembly of the hot paths", "rustc --emit asm xtask/hot_path.rs", || {
        let assembly = compile(&root)?;
        for caller in &CALLERS {
            let path = main_path(&assembly, caller.name)?;
            println!("    {}, the main path, {} instructions:", caller.name, path.len());
            for line in &path {
                println!("        {line}");
            }
            judge(&path, caller).map_err(|error| format!("{}: {error}", caller.name))?;
        }
        Ok(())
    })
}

/// How many instructions the callers' main paths have, by name; none where there is no such strategy.
pub(crate) fn lengths(steps: &mut Steps) -> Result<Vec<(&'static str, usize)>, Failed> {
    let root = steps.root().to_owned();
    let mut lengths = Vec::new();
    if !THERE {
        return Ok(lengths);
    }
    steps.cargo("library, optimised", &["build", "--release", "--lib"], &[])?;
    steps.step("lengths of the hot paths", "rustc --emit asm xtask/hot_path.rs", || {
        let assembly = compile(&root)?;
        for caller in &CALLERS {
            lengths.push((caller.name, main_path(&assembly, caller.name)?.len()));
        }
        Ok(())
    })?;
    Ok(lengths)
}

/// What must hold of the main path.
fn judge(path: &[&str], caller: &Caller) -> Result<(), String> {
    let bad = path.iter().find(|line| line.starts_with("lock") || line.starts_with("call"));
    if let Some(line) = bad {
        return Err(format!("`{line}` is on the main path, where no lock and no call may be"));
    }
    let jumps = path.iter().filter(|line| line.starts_with('j') && !line.starts_with("jmp"));
    let jumps = jumps.count();
    if jumps > caller.branches {
        return Err(format!("{jumps} branches on the main path; at most {}", caller.branches));
    }
    if path.len() > caller.instructions {
        let most = caller.instructions;
        return Err(format!("{} instructions on the main path; at most {most}", path.len()));
    }
    Ok(())
}

/// The caller's assembly text.
fn compile(root: &Path) -> Result<String, String> {
    let target = target_directory(root)?;
    let release = target.join("release");
    let output = release.join("hot_path.s");
    let status = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
        .args(["--edition", "2024", "-O", "--crate-type", "bin", "--emit", "asm"])
        .args(["-C", "codegen-units=1", "-C", "llvm-args=-x86-asm-syntax=intel", "--extern"])
        .arg(format!("windrow={}", release.join("libwindrow.rlib").display()))
        .arg("-L")
        .arg(format!("dependency={}", release.join("deps").display()))
        .arg("-o")
        .arg(&output)
        .arg(root.join("xtask/hot_path.rs"))
        .status()
        .map_err(|error| format!("cannot run rustc: {error}"))?;
    if !status.success() {
        return Err(status.to_string());
    }
    std::fs::read_to_string(&output).map_err(|error| format!("{}: {error}", output.display()))
}

/// The instructions from `function`'s first, through the sequence, to its return.
fn main_path<'a>(assembly: &'a str, function: &str) -> Result<Vec<&'a str>, String> {
    let body = assembly
        .split_once(&format!("\n{function}:"))
        .and_then(|(_, rest)| rest.split_once(".Lfunc_end"))
        .map(|(body, _)| body)
        .ok_or_else(|| format!("there is no function {function}"))?;
    let (code, labels) = parse(body, function);
    // What must be passed, in this order: the sequence is armed, and committed.
    let arms =
        |line: &str| line.starts_with("mov") && line.contains("ptr fs:[") && line.contains("],");
    let commits = |line: &str| {
        line.contains("- 1],") && (line.starts_with("add") || line.starts_with("movdqa"))
    };
    // Breadth first, over (instruction, how many of these were passed).
    let mut from = HashMap::from([((0, 0), None)]);
    let mut next = VecDeque::from([(0, 0)]);
    while let Some(state @ (index, passed)) = next.pop_front() {
        let Some(line) = code.get(index).copied() else { continue };
        if line.starts_with("ret") {
            if passed == 2 {
                return Ok(trace(&code, &from, state));
            }
            continue;
        }
        let passed = passed + u8::from(passed == 0 && arms(line) || passed == 1 && commits(line));
        let target = line.strip_prefix('j').and_then(|jump| jump.split_whitespace().nth(1));
        let jump = target.and_then(|label| labels.get(label)).copied();
        let falls = !line.starts_with("jmp");
        for index in jump.into_iter().chain(falls.then_some(index + 1)) {
            from.entry((index, passed)).or_insert_with(|| {
                next.push_back((index, passed));
                Some(state)
            });
        }
    }
    Err(format!("no path through {function} arms a sequence, commits it and returns"))
}

type State = (usize, u8);

/// The path that has led to `end`.
fn trace<'a>(code: &[&'a str], from: &HashMap<State, Option<State>>, end: State) -> Vec<&'a str> {
    let mut path: Vec<_> = std::iter::successors(Some(end), |state| from[state])
        .map(|(index, _)| code[index])
        .collect();
    path.reverse();
    path
}

/// Instructions, and the labels before them; what stands in other sections is left out.
fn parse<'a>(body: &'a str, function: &str) -> (Vec<&'a str>, HashMap<&'a str, usize>) {
    let (mut code, mut labels, mut elsewhere) = (Vec::new(), HashMap::new(), false);
    for line in body.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if let Some(section) = line.strip_prefix(".section") {
            elsewhere = !section.contains(&format!(".text.{function}"));
        } else if elsewhere || line.starts_with('#') {
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
	call	elsewhere
	ret
.Lfunc_end0:
";

    #[test]
    fn the_path_goes_through_the_sequence() {
        let path = main_path(BODY, "add_one").unwrap();
        assert_eq!(path.len(), 6);
        assert!(judge(&path, &CALLERS[0]).is_ok());
    }

    #[test]
    fn a_lock_or_a_call_on_the_path_is_refused() {
        for line in ["lock\t\tinc", "call\telsewhere"] {
            let body = BODY.replace("\tadd", &format!("\t{line}\n\tadd"));
            let path = main_path(&body, "add_one").unwrap();
            assert!(judge(&path, &CALLERS[0]).unwrap_err().contains("no lock and no call"));
        }
    }

    #[test]
    fn a_function_without_a_sequence_is_refused() {
        assert!(main_path(&BODY.replace("fs:", "gs:"), "add_one").is_err());
        assert!(main_path(&BODY.replace("- 1]", "]"), "add_one").is_err());
        assert!(main_path(BODY, "add_two").is_err());
    }
}
