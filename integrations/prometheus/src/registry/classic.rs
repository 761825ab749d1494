//! Prometheus's text format 0.0.4, made from `OpenMetrics` while that is written.

use std::fmt::{self, Write};

/// Takes a text in `OpenMetrics` line by line, and appends it to `text` in the format 0.0.4. There
///
/// - a counter is described by the name of its samples, `NAME_total`, and an info by `NAME_info`;
/// - an info is a gauge, and an unknown type is `untyped`;
/// - there are no units, exemplars, times of creation (`NAME_created`), and no end (`# EOF`).
///
/// Names, labels and values stay as they are: so a series is the same one in both formats.
pub(crate) struct Classic<'t> {
    text: &'t mut String,
    /// The beginning of the current line.
    line: String,
    /// The help of the metric whose type comes next, behind its name.
    help: String,
    /// The name that samples have for the time when their counter or histogram was created.
    created: String,
}

impl Classic<'_> {
    pub(crate) fn new(text: &mut String) -> Classic<'_> {
        Classic { text, line: String::new(), help: String::new(), created: String::new() }
    }

    fn take(&mut self) {
        if let Some(help) = self.line.strip_prefix("# HELP ") {
            help.split_once(' ').map_or("", |(_, help)| help).clone_into(&mut self.help);
        } else if let Some(described) = self.line.strip_prefix("# TYPE ") {
            let (name, kind) = described.rsplit_once(' ').unwrap_or((described, "unknown"));
            let (suffix, kind) = match kind {
                "counter" => ("_total", "counter"),
                "info" => ("_info", "gauge"),
                "unknown" => ("", "untyped"),
                other => ("", other),
            };
            let help = &self.help;
            self.text.extend(["# HELP ", name, suffix, " ", help, "\n"]);
            self.text.extend(["# TYPE ", name, suffix, " ", kind, "\n"]);
            self.created.clear();
            if matches!(kind, "counter" | "histogram") {
                self.created.extend([name, "_created"]);
            }
        } else if !self.line.starts_with('#') {
            let end = sample_end(&self.line);
            let name = self.line.split(['{', ' ']).next();
            if name.is_some_and(|name| name != self.created) {
                self.text.extend([&self.line[..end], "\n"]);
            }
        }
    }
}

impl Write for Classic<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut rest = text;
        while let Some((end, next)) = rest.split_once('\n') {
            self.line.push_str(end);
            self.take();
            self.line.clear();
            rest = next;
        }
        self.line.push_str(rest);
        Ok(())
    }
}

/// Returns the length of a sample without its exemplar, which stands behind the first `#` outside
/// the labels' values.
fn sample_end(line: &str) -> usize {
    let (mut is_quoted, mut is_escaped) = (false, false);
    let exemplar = line.find(|character| {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            '#' => return !is_quoted,
            _ => {}
        }
        false
    });
    exemplar.map_or(line.len(), |exemplar| line[..exemplar].trim_end().len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classic(text: &str) -> String {
        let mut all = String::new();
        Classic::new(&mut all).write_str(text).unwrap();
        // However the text comes in parts, the result is the same.
        let mut by_char = String::new();
        let mut writer = Classic::new(&mut by_char);
        text.chars().for_each(|character| writer.write_char(character).unwrap());
        assert_eq!(all, by_char);
        all
    }

    #[test]
    fn counters_are_described_by_the_name_of_their_samples() {
        let text = "# HELP a A b.\n# TYPE a counter\na_total{b=\"c\"} 1\na_total 2\n# EOF\n";
        let expected =
            "# HELP a_total A b.\n# TYPE a_total counter\na_total{b=\"c\"} 1\na_total 2\n";
        assert_eq!(classic(text), expected);
    }

    #[test]
    fn types_that_the_format_lacks_are_others() {
        let text = "# HELP a A.\n# TYPE a info\na_info{b=\"c\"} 1\n# HELP d \n# TYPE d unknown\nd 1\n\
                    # HELP e E.\n# TYPE e gauge\ne 1\n";
        let expected = "# HELP a_info A.\n# TYPE a_info gauge\na_info{b=\"c\"} 1\n# HELP d \n\
                        # TYPE d untyped\nd 1\n# HELP e E.\n# TYPE e gauge\ne 1\n";
        assert_eq!(classic(text), expected);
    }

    #[test]
    fn units_and_times_of_creation_are_left_out() {
        let text = "# HELP a_seconds A.\n# TYPE a_seconds histogram\n# UNIT a_seconds seconds\n\
                    a_seconds_sum 1\na_seconds_count 1\na_seconds_bucket{le=\"+Inf\"} 1\n\
                    a_seconds_created 1.5\n# HELP b B.\n# TYPE b counter\nb_total 1\n\
                    b_created{c=\"d\"} 1\n# HELP e_created E.\n# TYPE e_created gauge\ne_created 1\n\
                    # EOF\n";
        let expected = "# HELP a_seconds A.\n# TYPE a_seconds histogram\n\
                        a_seconds_sum 1\na_seconds_count 1\na_seconds_bucket{le=\"+Inf\"} 1\n\
                        # HELP b_total B.\n# TYPE b_total counter\nb_total 1\n\
                        # HELP e_created E.\n# TYPE e_created gauge\ne_created 1\n";
        assert_eq!(classic(text), expected);
    }

    #[test]
    fn exemplars_end_samples_and_what_looks_like_one_in_a_label_does_not() {
        let samples = [
            ("a_total 1 # {b=\"c\"} 1 2.5", "a_total 1"),
            ("a_total{b=\" # {\"} 1 # {b=\" # \"} 1", "a_total{b=\" # {\"} 1"),
            ("a_total{b=\"\\\" # {\\\\\"} 1", "a_total{b=\"\\\" # {\\\\\"} 1"),
            ("a_total{b=\"\\\\\"} 1 # {} 1", "a_total{b=\"\\\\\"} 1"),
            ("a_total{b=\"# EOF\",c=\"é#\"} 1", "a_total{b=\"# EOF\",c=\"é#\"} 1"),
        ];
        for (sample, expected) in samples {
            let text = format!("# HELP a A.\n# TYPE a counter\n{sample}\n");
            let lines = classic(&text);
            assert_eq!(lines.lines().last(), Some(expected));
        }
    }
}
