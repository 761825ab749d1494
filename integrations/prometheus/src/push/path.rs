//! The path of a group of metrics.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::error::PushError;
use crate::escaping::NameKind;

/// Returns the path of a job with some labels.
pub(super) fn path(job: &str, labels: &[(String, String)]) -> Result<String, PushError> {
    if job.is_empty() {
        return Err(PushError::NoJob);
    }
    let mut path = "/metrics".to_owned();
    push(&mut path, "job", job);
    for (index, (name, value)) in labels.iter().enumerate() {
        let is_taken = name == "job" || labels[..index].iter().any(|(other, _)| other == name);
        if is_taken || name.starts_with("__") || !NameKind::Label.is_plain(name) {
            return Err(PushError::Label { label: name.clone() });
        }
        push(&mut path, name, value);
    }
    Ok(path)
}

/// Appends a label: as it is if its value is safe in any path, and otherwise in Base64. (The
/// gateway decodes percent signs before it cuts a path at its slashes.)
fn push(path: &mut String, name: &str, value: &str) {
    let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || b"-_~".contains(&byte);
    if !value.is_empty() && value.bytes().all(is_safe) {
        path.extend(["/", name, "/", value]);
        return;
    }
    path.extend(["/", name, "@base64/"]);
    URL_SAFE_NO_PAD.encode_string(value, path);
    if value.is_empty() {
        path.push('='); // a part of a path cannot be empty
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(labels: &[(&str, &str)]) -> Vec<(String, String)> {
        labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn odd_values_are_in_base64() {
        let path = |job, all: &[_]| path(job, &labels(all)).unwrap();
        assert_eq!(path("copy-1_~", &[]), "/metrics/job/copy-1_~");
        // As the gateway's documentation has them.
        assert_eq!(
            path("some_job", &[("path", "/var/tmp")]),
            "/metrics/job/some_job/path@base64/L3Zhci90bXA"
        );
        assert_eq!(path("a", &[("b", "")]), "/metrics/job/a/b@base64/=");
        assert_eq!(path("..", &[("b", "c")]), "/metrics/job@base64/Li4/b/c");
        assert_eq!(path("ÿ?>", &[]), "/metrics/job@base64/w78_Pg");
    }

    #[test]
    fn a_group_has_a_job_and_plain_labels_each_once() {
        assert!(matches!(path("", &[]), Err(PushError::NoJob)));
        for wrong in [
            &[("job", "a")][..],
            &[("a.b", "")],
            &[("", "")],
            &[("__a", "")],
            &[("a", ""), ("a", "")],
        ] {
            let error = path("a", &labels(wrong)).unwrap_err();
            assert!(matches!(error, PushError::Label { label } if label == wrong[0].0));
        }
    }
}
