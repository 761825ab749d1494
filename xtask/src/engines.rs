//! Limits that processes share on Redis: storms on a real engine, which the tests start themselves.

use crate::integrations::BESIDE;
use crate::steps::{Failed, Steps};
use crate::tools::needs;

/// The storms of `windrow-redis`, all at once: their clients wait more than they compute.
const STORMS: &str = "--test engine -- --ignored --nocapture --test-threads=6 storm::";

/// Runs each storm for this long, if Debian's package of Redis is here. (Further tests of
/// `windrow-redis` are among those beside the library; without the package they say that they are
/// not run.)
pub(crate) fn storms(steps: &mut Steps, seconds: u64) -> Result<(), Failed> {
    let name = "storms on limits that processes share on Redis";
    if let Err(why) = needs("redis-server", &["--version"]) {
        steps.leave_out(name, &why);
        return Ok(());
    }
    let seconds = seconds.to_string();
    steps.cargo(name, &format!("{BESIDE} {STORMS}"), &[("TORTURE_SECONDS", &seconds)])
}

/// Runs the tests of TLS, which brings a library with it that nothing else here builds.
pub(crate) fn over_tls(steps: &mut Steps) -> Result<(), Failed> {
    let tests = "test --package windrow-redis --features tls --test engine tls::";
    steps.cargo("a limit that processes share over TLS", tests, &[])
}
