//! The CPU time of a build, and the sizes of a program.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::tools::said;

/// The bytes that a program takes once it is loaded: text and data, with what is only read; and
/// data that begins as zeros, bss.
pub(super) type Sizes = [u64; 2];

/// Lets a command build as a user's does: in the package's own folder, without our flags.
pub(super) fn alone(command: &mut Command) -> &mut Command {
    command.env_remove("RUSTFLAGS").env("CARGO_TARGET_DIR", "target")
}

/// Builds `program` of the package in `folder` from nothing, and returns the CPU seconds of cargo
/// and of all that it ran, in the kernel and outside.
pub(super) fn cpu_seconds(folder: &Path, program: &str) -> Result<f64, String> {
    let _ = fs::remove_dir_all(folder.join("target")); // there may be none
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut shell = Command::new("sh");
    shell.current_dir(folder).args(["-c", "\"$@\" && times", "sh"]).arg(cargo);
    shell.args(["build", "--release", "--quiet", "--offline", "--bin", program]);
    let times = said(alone(&mut shell))?;
    of_children(&times).ok_or_else(|| format!("`times` of the shell printed {times:?}"))
}

/// Reads the second line of what a shell's `times` prints: the children's time outside the kernel
/// and in it, as in `0m12.34s 0m1.5s`.
fn of_children(times: &str) -> Option<f64> {
    let time = |word: &str| {
        let (minutes, seconds) = word.strip_suffix('s')?.split_once('m')?;
        Some(minutes.parse::<f64>().ok()? * 60.0 + seconds.parse::<f64>().ok()?)
    };
    let (outside, in_kernel) = times.lines().nth(1)?.split_once(' ')?;
    Some(time(outside)? + time(in_kernel)?)
}

/// Reads the sizes of a program's sections, by binutils.
pub(super) fn sizes(program: &Path) -> Result<Sizes, String> {
    let printed = said(Command::new("size").arg("--format=berkeley").arg(program))?;
    of_sections(&printed).ok_or_else(|| format!("`size` printed {printed:?}"))
}

/// Reads the first three numbers below the heading: text, data, bss.
fn of_sections(printed: &str) -> Option<Sizes> {
    let words = printed.lines().nth(1)?.split_whitespace();
    let numbers: Vec<u64> = words.map_while(|word| word.parse().ok()).collect();
    let [text, data, bss, ..] = numbers[..] else { return None };
    Some([text + data, bss])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_times_of_children_are_read() {
        let times = "0m0.00s 0m0.01s\n1m2.50s 0m1.25s";
        assert_eq!(of_children(times), Some(63.75));
        assert_eq!(of_children("0m0.000s 0m0.001s\n0m2.500s 0m1.250s\n"), Some(3.75));
        assert_eq!(of_children("0m0.00s 0m0.01s\n"), None);
        assert_eq!(of_children("a\nb c"), None);
    }

    #[test]
    fn the_sizes_of_sections_are_read() {
        let printed = "   text\t   data\t    bss\t    dec\t    hex\tfilename\n 280000\t  9000\t    \
                       200\t 289200\t  469b0\tx\n";
        assert_eq!(of_sections(printed), Some([289_000, 200]));
        assert_eq!(of_sections("text data bss\nx"), None);
    }
}
