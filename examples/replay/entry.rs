//! One line of the combined log format.

use std::time::Duration;

use windrow::Timestamp;

use crate::date;

/// The fields of a line that the replay needs.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) at: Timestamp,
    pub(crate) status: u16,
    /// The size of the body.
    pub(crate) bytes: u64,
    /// The response time in microseconds, where the log has it.
    pub(crate) time: Option<u64>,
}

/// Reads `HOST IDENT USER [DATE] "REQUEST" STATUS BYTES "REFERER" "AGENT"`, with or without a
/// response time in seconds after it. The error says what is wrong.
pub(crate) fn parse(line: &str) -> Result<Entry, &'static str> {
    if line.trim().is_empty() {
        return Err("the line is empty");
    }
    let (_, rest) = line.split_once(" [").ok_or("there is no [date]")?;
    let (date, rest) = rest.split_once("] ").ok_or("there is no [date]")?;
    let at = date::parse(date).ok_or("the date is not one")?;
    let rest = after_quoted(rest).ok_or("there is no \"request\"")?;

    let (status, rest) = rest.split_once(' ').ok_or("there is no status")?;
    let status = status
        .parse()
        .ok()
        .filter(|status| (100..=999).contains(status))
        .ok_or("the status is not of three digits")?;
    let (bytes, rest) = rest.split_once(' ').ok_or("there is no size")?;
    let bytes = if bytes == "-" { Some(0) } else { bytes.parse().ok() };
    let bytes = bytes.ok_or("the size is not a number")?;

    let rest = after_quoted(rest).ok_or("there is no \"referer\"")?;
    let rest = after_quoted(rest).ok_or("there is no \"user agent\"")?;
    let time = match rest.trim_end() {
        "" | "-" => None,
        seconds => Some(microseconds(seconds).ok_or("the response time is not in seconds")?),
    };
    Ok(Entry { at, status, bytes, time })
}

/// Returns the rest behind a quoted text and the space after it; a backslash in it quotes the next
/// character.
fn after_quoted(text: &str) -> Option<&str> {
    let text = text.strip_prefix('"')?;
    let mut characters = text.char_indices();
    while let Some((index, character)) = characters.next() {
        match character {
            '\\' => {
                characters.next();
            }
            '"' => {
                let rest = &text[index + 1..];
                let end = rest.trim_end().is_empty();
                return if end { Some("") } else { rest.strip_prefix(' ') };
            }
            _ => {}
        }
    }
    None
}

fn microseconds(seconds: &str) -> Option<u64> {
    // Digits and a point: no sign, no exponent, no infinity.
    let plain = seconds.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let seconds = seconds.parse().ok().filter(|_| plain)?;
    let duration = Duration::try_from_secs_f64(seconds).ok()?;
    u64::try_from((duration + Duration::from_nanos(500)).as_micros()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMBINED: &str =
        r#"127.0.0.1 - - [01/Jan/1970:00:00:02 +0000] "GET / HTTP/1.1" 200 692 "-" "wrk""#;

    #[test]
    fn combined_with_and_without_a_time() {
        let entry =
            Entry { at: Timestamp::from_millis(2_000), status: 200, bytes: 692, time: None };
        assert_eq!(parse(COMBINED), Ok(entry));
        for (suffix, time) in
            [(" 0.003", 3_000), (" 0.000", 0), (" 12", 12_000_000), (" 0.0000015\r", 2)]
        {
            let entry = parse(&format!("{COMBINED}{suffix}")).unwrap();
            assert_eq!(entry.time, Some(time), "{suffix}");
        }
        assert_eq!(parse(&format!("{COMBINED} -")).unwrap().time, None);
    }

    #[test]
    fn quotes_spaces_and_dashes() {
        let line = r#"::1 - a user [01/Jan/1970:00:00:00 +0000] "GET /\"x\\\" y" 404 - "a [b] c" "\"" 1.5"#;
        let entry = parse(line).unwrap();
        assert_eq!((entry.status, entry.bytes, entry.time), (404, 0, Some(1_500_000)));
        assert!(parse(&COMBINED.replace("GET /", "GET /\u{fffd}\u{fffd}")).is_ok());
    }

    #[test]
    fn what_is_wrong_is_said() {
        let cut = |at: usize| COMBINED[..at].to_owned();
        let with = |from: &str, to: &str| COMBINED.replace(from, to);
        for (line, reason) in [
            (String::new(), "empty"),
            (" \r".to_owned(), "empty"),
            ("garbage".to_owned(), "[date]"),
            (cut(30), "[date]"),
            (with("Jan", "Foo"), "date is not"),
            (cut(50), "request"),
            (with("\" 200", "\"x200"), "request"),
            (with("200", "20"), "status"),
            (with("200", "2x0"), "status"),
            (with("692", "-692"), "size"),
            (with("\"-\"", "-"), "referer"),
            (with("\"wrk\"", "wrk"), "agent"),
            (format!("{COMBINED} soon"), "response time"),
            (format!("{COMBINED} -1"), "response time"),
            (format!("{COMBINED} inf"), "response time"),
            (format!("{COMBINED} 1e3"), "response time"),
            (format!("{COMBINED} 0.1 0.2"), "response time"),
            (format!("{COMBINED} 99999999999999999999"), "response time"),
        ] {
            let error = parse(&line).unwrap_err();
            assert!(error.contains(reason), "{line}: {error}");
        }
    }
}
