//! The tests of what stands beside the library, of which some need programs of others: a server, a
//! browser. Without those they are left out. All are built as in [`BESIDE`]: nothing is built
//! twice.

use crate::pictures;
use crate::steps::{Failed, Steps};

/// Tests of all that stands beside it. `windrow-modelled` is the library once more, for models.
pub(crate) const BESIDE: &str =
    "test --workspace --exclude=windrow --exclude=windrow-modelled --features windrow-tower/json";

/// The browser is Debian's, which draws into memory alone.
const BROWSER: &str = "chromium-headless-shell";

/// Hands native histograms of `windrow-prometheus` to a Prometheus server.
pub(crate) fn natives(steps: &mut Steps) -> Result<(), Failed> {
    let test = "parsers::a_server_reads_native_histograms_and_all_counts_beside_them";
    let tests = format!("{BESIDE} --test scrape -- --ignored --exact {test}");
    steps.cargo_with(&["prometheus"], "a scrape, read by prometheus", &tests, &[])
}

/// Runs many processes of the example service as one: the rules by which Prometheus adds them up,
/// and last three of them. `keep`: the services and the server go on until Ctrl-C.
pub(crate) fn cluster(steps: &mut Steps, keep: bool) -> Result<(), Failed> {
    let name = "rules over many processes, and three services of which one is killed";
    let tests = format!("{BESIDE} --test cluster -- --ignored --nocapture --test-threads=1");
    let variables: &[_] = if keep { &[("WINDROW_CLUSTER", "keep")] } else { &[] };
    steps.cargo_with(&["promtool", "prometheus"], name, &tests, variables)
}

/// Runs the storms of `windrow-redis` on a real engine, all at once and each for this long: their
/// clients wait more than they compute.
pub(crate) fn storms(steps: &mut Steps, seconds: u64) -> Result<(), Failed> {
    let name = "storms on limits that processes share on Redis";
    let options = "--ignored --nocapture --test-threads=6";
    let tests = format!("{BESIDE} --test engine -- {options} processes::");
    let seconds = seconds.to_string();
    steps.cargo_with(&["redis-server"], name, &tests, &[("TORTURE_SECONDS", &seconds)])
}

/// Runs the tests of TLS, which brings a library with it that nothing else here builds.
pub(crate) fn over_tls(steps: &mut Steps) -> Result<(), Failed> {
    let tests = "test --package windrow-redis --features tls --test engine tls::";
    steps.cargo("a limit that processes share over TLS", tests, &[])
}

/// Runs the tests of the page of `windrow-console`. Each opens a browser of its own: two at once
/// keep two cores busy.
pub(crate) fn browser(steps: &mut Steps) -> Result<(), Failed> {
    let tests = format!("{BESIDE} --test browser -- --ignored --test-threads=2");
    steps.cargo_with(&[BROWSER], "the console's page, in a browser", &tests, &[])
}

/// Takes `integrations/console-light.png`, `integrations/console/console-dark.png` and
/// `docs/console.svg` anew.
pub(crate) fn screenshots(steps: &mut Steps) -> Result<(), Failed> {
    let test = "--test browser -- --ignored --exact pictures::the_page_by_day_and_by_night";
    let variables = [("WINDROW_PICTURES", "keep")];
    steps.cargo("the console's pictures", &format!("{BESIDE} {test}"), &variables)?;
    pictures::run(steps)
}

#[cfg(test)]
mod tests {
    use std::fs;

    #[test]
    fn the_test_that_takes_the_pictures_exists() {
        let tests = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../integrations/console/tests/browser/pictures.rs"
        );
        let tests = fs::read_to_string(tests).unwrap();
        assert!(tests.contains("fn the_page_by_day_and_by_night()"));
    }
}
