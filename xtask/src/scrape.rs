//! The programs of others that read what `windrow-prometheus` writes.

use crate::sanitizers::needs;
use crate::steps::{Failed, Steps};

/// A reader, and a test of it.
struct Reader {
    program: &'static str,
    /// The arguments by which it shows that it is there.
    question: &'static [&'static str],
    /// The file of the test, in `tests`, and its module.
    file: &'static str,
    module: &'static str,
    test: &'static str,
}

impl Reader {
    const fn scrape(
        program: &'static str,
        question: &'static [&'static str],
        test: &'static str,
    ) -> Reader {
        Reader { program, question, file: "scrape", module: "parsers", test }
    }

    const fn push(test: &'static str) -> Reader {
        let (program, question) = ("prometheus-pushgateway", &["--version"] as &[_]);
        Reader { program, question, file: "push", module: "gateway", test }
    }
}

/// The reader of native histograms.
const NATIVE: Reader = Reader::scrape(
    "prometheus",
    &["--version"],
    "a_server_reads_native_histograms_and_all_counts_beside_them",
);

const READERS: [Reader; 11] = [
    Reader::scrape("promtool", &["--version"], "promtool_has_nothing_to_say_against_the_text"),
    Reader::scrape(
        "python3",
        &["-c", "import prometheus_client.openmetrics.parser"],
        "the_strict_openmetrics_parser_reads_what_was_counted",
    ),
    Reader::scrape(
        "python3",
        &["-c", "import prometheus_client.openmetrics.parser"],
        "the_strict_openmetrics_parser_reads_exemplars",
    ),
    Reader::scrape("prometheus", &["--version"], "a_server_keeps_exemplars"),
    Reader::scrape(
        "python3",
        &["-c", "import prometheus_client.parser"],
        "the_parser_of_the_classic_format_reads_the_same_samples",
    ),
    Reader::scrape(
        "python3",
        &["-c", "import prometheus_client.parser"],
        "other_parsers_find_what_ours_find_under_names_of_utf_8_and_escaped_ones",
    ),
    Reader::scrape(
        "prometheus",
        &["--version"],
        "a_server_reads_what_was_counted_and_no_scrape_fails_while_series_come_and_go",
    ),
    NATIVE,
    Reader::scrape(
        "prometheus",
        &["--version"],
        "the_increases_by_times_of_creation_are_the_lifetime_of_removed_series_too",
    ),
    Reader::push("a_gateway_has_what_was_pushed_under_odd_jobs_and_labels"),
    Reader::push("a_gateway_replaces_adds_deletes_and_refuses"),
];

/// Hands native histograms to a Prometheus server, if one is installed.
pub(crate) fn natives(steps: &mut Steps) -> Result<(), Failed> {
    read(steps, &[NATIVE])
}

/// Hands scrapes and pushes to the readers that are installed.
pub(crate) fn run(steps: &mut Steps) -> Result<(), Failed> {
    read(steps, &READERS)
}

fn read(steps: &mut Steps, readers: &[Reader]) -> Result<(), Failed> {
    for Reader { program, question, file, module, test } in readers {
        let name = format!("a {file}, read by {program}");
        if let Err(why) = needs(program, question) {
            steps.leave_out(&name, &why);
            continue;
        }
        let test = format!("{module}::{test}");
        let tests = ["test", "--package", "windrow-prometheus", "--test", file];
        let arguments = [&tests[..], &["--", "--ignored", "--exact", test.as_str()]].concat();
        steps.cargo(&name, &arguments, &[])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn each_test_of_a_reader_exists() {
        let tests = concat!(env!("CARGO_MANIFEST_DIR"), "/../integrations/prometheus/tests");
        for Reader { program, file, module, test, .. } in READERS {
            let tests = fs::read_to_string(format!("{tests}/{file}/{module}.rs")).unwrap();
            assert!(tests.contains(&format!("fn {test}()")), "{program}");
        }
    }
}
