//! The page of `windrow-console` in a browser: its tests, and the pictures of it.

use crate::integrations::BESIDE;
use crate::pictures;
use crate::steps::{Failed, Steps};
use crate::tools::needs;

/// Debian's, which draws into memory alone.
const BROWSER: &str = "chromium-headless-shell";

/// The tests of `windrow-console`, built as in [`BESIDE`]: nothing is built twice. Each opens a
/// browser of its own: two at once keep two cores busy.
const TESTS: &str = "--test browser -- --ignored";

/// Runs the tests, if the browser is here.
pub(crate) fn run(steps: &mut Steps) -> Result<(), Failed> {
    let name = "the console's page, in a browser";
    if let Err(why) = needs(BROWSER, &["--version"]) {
        steps.leave_out(name, &why);
        return Ok(());
    }
    steps.cargo(name, &format!("{BESIDE} {TESTS} --test-threads=2"), &[])
}

/// Takes `integrations/console-light.png`, `integrations/console/console-dark.png` and
/// `docs/console.svg` anew.
pub(crate) fn screenshots(steps: &mut Steps) -> Result<(), Failed> {
    let variables = [("WINDROW_PICTURES", "keep")];
    let test = format!("{BESIDE} {TESTS} --exact pictures::the_page_by_day_and_by_night");
    steps.cargo("the console's pictures", &test, &variables)?;
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
