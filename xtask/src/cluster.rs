//! Many processes of the example service as one: the rules by which Prometheus adds them up, and a
//! run with three of them.

use crate::integrations::BESIDE;
use crate::steps::{Failed, Steps};
use crate::tools::needs;

/// The tests of `windrow-service`, built as in [`BESIDE`]: nothing is built twice. The three
/// services come last.
const TESTS: &str = "--test cluster -- --ignored --nocapture --test-threads=1";

/// Runs the tests, if Debian's package of Prometheus is here. `keep`: the services and the server
/// go on until Ctrl-C.
pub(crate) fn run(steps: &mut Steps, keep: bool) -> Result<(), Failed> {
    let name = "rules over many processes, and three services of which one is killed";
    let there = ["promtool", "prometheus"].map(|program| needs(program, &["--version"]));
    if let Some(why) = there.into_iter().find_map(Result::err) {
        steps.leave_out(name, &why);
        return Ok(());
    }
    let variables: &[_] = if keep { &[("WINDROW_CLUSTER", "keep")] } else { &[] };
    steps.cargo(name, &format!("{BESIDE} {TESTS}"), variables)
}
