//! The control: the library with sequences that are not armed, which must lose counts in the
//! machine. It shows that the torture there interrupts adds where it matters.

use std::path::Path;

use super::machine;
use super::machines::{ARM64, Machine};
use super::programs::Program;
use crate::copy;

/// The instruction that arms a sequence, and one that does nothing.
const MISTAKE: [&str; 2] =
    ["\"str {row}, [{scratch}, #{rseq_cs}]\",", "\"/* {row} {scratch} {rseq_cs} */ nop\","];

/// The file with it.
const FILE: &str = "src/stripe/per_core/aarch64/sequence.rs";

/// One torture, which ends before it asks whether the kernel has aborted sequences.
const PROGRAM: Program = Program {
    test: "torture",
    arguments: "counters::torture_in_this_process --ignored --exact --nocapture",
    variables: "TORTURE_SECONDS=0.2",
};

const CONTROL: Machine = Machine { name: "arm64 control", programs: &[PROGRAM], ..ARM64 };

/// Runs the control. Returns the number of counts that were lost.
pub(super) fn run(root: &Path, folder: &Path) -> Result<u64, String> {
    let unarmed = folder.join("unarmed");
    copy::make(root, &unarmed)?;
    copy::break_in(&unarmed, FILE, MISTAKE)?;
    machine::prepare(&CONTROL, folder)?;
    // To cargo, two copies of a workspace are one.
    let own = folder.join("control");
    let built = CONTROL.target.build(&unarmed, folder, &own, &[PROGRAM])?;
    let report = machine::boot(&CONTROL, folder, &built)?;
    let name = PROGRAM.name();
    let said = report.of(&name);
    match lost(said) {
        Some(lost) if report.code(&name).is_some_and(|code| code != 0) => Ok(lost),
        _ => Err(format!(
            "unarmed sequences have lost nothing, so the torture shows nothing:\n{said}"
        )),
    }
}

/// Returns the number of counts by which a sum was too small, according to a failed assertion.
fn lost(said: &str) -> Option<u64> {
    let (_, said) = said.split_once("assertion `left == right` failed\n")?;
    let number = |side: &str| {
        let line = said.lines().find_map(|line| line.trim().strip_prefix(side))?;
        line.trim().parse::<u64>().ok()
    };
    number("right:")?.checked_sub(number("left:")?).filter(|lost| *lost > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_that_is_too_small_has_lost() {
        let said = |left, right| {
            format!(
                "panicked at tests:\nassertion `left == right` failed\n  left: {left}\n right: {right}\n"
            )
        };
        assert_eq!(lost(&said(4, 9)), Some(5));
        assert_eq!(lost(&said(9, 9)), None);
        assert_eq!(lost(&said(9, 4)), None);
        assert_eq!(lost("test result: ok. 1 passed"), None);
    }

    #[test]
    fn the_mistake_is_in_the_sources() {
        let sequence = include_str!("../../../src/stripe/per_core/aarch64/sequence.rs");
        assert_eq!(sequence.matches(MISTAKE[0]).count(), 1);
    }
}
