//! Many processes of the example service as one: the rules by which Prometheus adds them up, and a
//! run with three of them.

use crate::integrations::BESIDE;
use crate::steps::{Failed, Steps};
use crate::tools::needs;

/// The tests of `windrow-service`, built as in [`BESIDE`]: nothing is built twice.
const TESTS: [&str; 2] = ["--test", "cluster"];

/// The parts: a name, the Debian program that it needs, and its tests.
const PARTS: [(&str, &str, &[&str]); 2] = [
    (
        "rules over many processes",
        "promtool",
        &[
            "the_rules_give_what_was_worked_out_by_hand",
            "a_mean_of_means_or_a_sum_of_extremes_is_noticed",
            "an_alert_that_misses_or_cries_wolf_is_noticed",
            "the_expressions_of_the_dashboard_are_sound",
        ],
    ),
    ("three services, of which one is killed, and a Prometheus server", "prometheus", &[RUN]),
];

const RUN: &str =
    "what_prometheus_adds_up_is_what_was_sent_but_for_the_unscraped_tail_of_a_killed_process";

/// Runs both parts, as far as their programs are here. `keep`: the services and the server go on
/// until Ctrl-C.
pub(crate) fn run(steps: &mut Steps, keep: bool) -> Result<(), Failed> {
    let variables: &[_] = if keep { &[("WINDROW_CLUSTER", "keep")] } else { &[] };
    for (name, program, tests) in PARTS {
        if let Err(why) = needs(program, &["--version"]) {
            steps.leave_out(name, &why);
            continue;
        }
        let options = ["--", "--ignored", "--nocapture", "--exact"];
        steps.cargo(name, &[&BESIDE[..], &TESTS, &options, tests].concat(), variables)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_test_of_a_cluster_exists() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
        let tests = format!("{root}/examples/service/tests/cluster/main.rs");
        let tests = std::fs::read_to_string(tests).unwrap();
        for test in PARTS.into_iter().flat_map(|(_, _, tests)| tests) {
            assert!(tests.contains(&format!("fn {test}()")), "{test}");
        }
    }
}
