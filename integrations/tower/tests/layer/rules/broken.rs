//! Texts that are no rules: each is refused by an error that says where and why, and the old rules
//! stay.

use testkit::heap::{kept_by, peak_of};
use windrow_tower::{LimitRules, Limits, Rate, Rules, RulesError};

use super::{ALICE, a_second, ask, rules, terms};
use crate::limited::{Client, limits};

/// Returns the error of a text.
fn refused(text: &str) -> String {
    match LimitRules::from_json(text.as_bytes()) {
        Ok(rules) => panic!("{text}: {rules:?}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_text_may_leave_out_all_but_the_default_limit() {
    let read = |text: &str| LimitRules::from_json(text.as_bytes()).unwrap();
    assert_eq!(read(r#"{"default":{"limit":3}}"#), rules(Rate::new(3), &[]));
    let all = read(
        r#" { "weights": [ { "weight": 0, "request": "/health" }, { "request": "/r*", "weight": 7 } ],
              "rules": [
                { "limit": 9, "match": { "client": "batch" }, "max_wait_ms": 500, "strict": false },
                { "match": { "client": "free-*" }, "interval_ms": 60000, "buckets": 60 }
              ],
              "overflow": { "limit": 8 },
              "default": { "strict": true, "buckets": 10, "limit": 5, "interval_ms": 2000 } } "#,
    );
    let ms = std::time::Duration::from_millis;
    let default = Rate::new(5).interval(ms(2_000)).buckets(10).strict();
    let mut overflow = default;
    overflow.limit = 8;
    let batch = Rate::new(9).interval(ms(2_000)).buckets(10).max_wait(ms(500));
    let expected = Rules::builder(default)
        .overflow(overflow)
        .rule([("client", "batch")], batch)
        .rule([("client", "free-*")], default.interval(ms(60_000)).buckets(60))
        .weight("/health", 0)
        .weight("/r*", 7);
    assert_eq!(all, expected.build().unwrap());
}

#[test]
fn a_broken_text_is_refused_by_its_line() {
    for (text, problem) in [
        ("", "line 1: EOF while parsing a value"),
        ("\n\n{", "line 3: EOF while parsing an object"),
        ("[]", "line 1: invalid type: sequence, expected an object of rules"),
        ("null", "line 1: invalid type: null, expected an object of rules"),
        ("{}", "line 1: missing field `default`"),
        (r#"{"default":{}}"#, "line 1: missing field `limit`"),
        (r#"{"default":5}"#, "line 1: invalid type: integer `5`, expected an object of a rate"),
        (r#"{"default":{"limit":1},"default":{"limit":2}}"#, "line 1: duplicate field `default`"),
        (r#"{"default":{"limit":1,"limit":2}}"#, "line 1: duplicate field `limit`"),
        (r#"{"default":{"limit":null}}"#, "line 1: invalid type: null, expected u64"),
        (r#"{"default":{"limit":-1}}"#, "line 1: invalid value: integer `-1`, expected u64"),
        (
            r#"{"default":{"limit":1.5}}"#,
            "line 1: invalid type: floating point `1.5`, expected u64",
        ),
        (
            r#"{"default":{"limit":1e3}}"#,
            "line 1: invalid type: floating point `1000.0`, expected u64",
        ),
        (r#"{"default":{"limit":"9"}}"#, "line 1: invalid type: string \"9\", expected u64"),
        (r#"{"default":{"limit":1}} {}"#, "line 1: trailing characters"),
        ("\u{feff}{}", "line 1: expected value"),
        (
            r#"{"default":{"limit":1},"weights":[{"request":"/"}]}"#,
            "line 1: missing field `weight`",
        ),
        (r#"{"default":{"limit":1},"rules":[{"limit":1}]}"#, "line 1: missing field `match`"),
        (r#"{"default":{"limit":1},"rules":{}}"#, "line 1: invalid type: map, expected a list"),
        (
            r#"{"default":{"limit":1},"rules":[{"match":{"client":["a"]}}]}"#,
            "line 1: invalid type: sequence, expected a string",
        ),
        (
            r#"{"defualt":{"limit":1}}"#,
            "line 1: unknown field `defualt`, expected one of `default`, `overflow`, `rules`, `weights`",
        ),
    ] {
        let refused = refused(text);
        let (line, rest) = refused.split_once(", column ").expect("a place");
        let (_, rest) = rest.split_once(": ").expect("a problem");
        assert_eq!(format!("{line}: {rest}"), problem, "{text}");
    }
    // More than a number of 64 bits holds.
    for number in ["18446744073709551616", "1e400", "-9223372036854775809"] {
        let text = format!(r#"{{"default":{{"limit":{number}}}}}"#);
        assert!(refused(&text).starts_with("line 1, column "), "{number}: {}", refused(&text));
    }
}

#[test]
fn a_rule_that_no_gate_keeps_is_refused_by_its_number() {
    let with = |rules: &str| {
        refused(&format!(
            r#"{{"default":{{"limit":1}},"rules":[{{"match":{{"client":"a"}}}},{rules}]}}"#
        ))
    };
    let rule = |rate: &str| with(&format!(r#"{{"match":{{"client":"b"}},{rate}}}"#));
    assert_eq!(rule(r#""limit":0"#), "rules[1]: the limit is 0; it must be at least 1");
    assert_eq!(
        rule(r#""limit":18446744073709551615"#),
        "rules[1]: the limit is 18446744073709551615; it must be 1099511627776 or less"
    );
    assert!(rule(r#""interval_ms":0"#).starts_with("rules[1]: "));
    assert!(rule(r#""interval_ms":18446744073709551615"#).starts_with("rules[1]: "));
    assert!(rule(r#""buckets":0"#).starts_with("rules[1]: "));
    assert!(rule(r#""buckets":7"#).starts_with("rules[1]: "), "they do not divide a second");
    assert_eq!(
        rule(r#""buckets":1001"#),
        "rules[1]: there are 1001 buckets; there must be 1000 or fewer"
    );
    assert_eq!(
        with(r#"{"match":{}}"#),
        "rules[1]: it names no label, and every key matches it; use `default` for that"
    );
    assert_eq!(
        with(r#"{"match":{"client":"b","client":"c"}}"#),
        r#"rules[1]: the label "client" is named twice"#
    );
    assert_eq!(
        with(r#"{"match":{"client":"a"}}"#),
        "rules[1]: rules[0] comes first, and matches everything that it matches"
    );
    let long = "x".repeat(1_025);
    assert_eq!(
        with(&format!(r#"{{"match":{{"client":"{long}"}}}}"#)),
        "rules[1]: a text has 1025 bytes; it must have 1024 or less"
    );
    assert_eq!(
        with(&format!(r#"{{"match":{{"{long}":""}}}}"#)),
        "rules[1]: a text has 1025 bytes; it must have 1024 or less"
    );
    assert_eq!(
        refused(r#"{"default":{"limit":1},"overflow":{"limit":0}}"#),
        "overflow: the limit is 0; it must be at least 1"
    );
    assert_eq!(
        refused(
            r#"{"default":{"limit":1},"weights":[{"request":"/a*","weight":1},{"request":"/ab","weight":2}]}"#
        ),
        "weights[1]: weights[0] comes first, and matches everything that it matches"
    );
}

#[test]
fn a_rule_is_hidden_only_by_one_that_takes_all_of_its_keys() {
    let build = |labels: &[&[(&'static str, &'static str)]]| {
        let rule = |builder: windrow_tower::RulesBuilder<Rate>,
                    labels: &&[(&'static str, &'static str)]| {
            builder.rule(labels.iter().copied(), Rate::new(1))
        };
        labels.iter().fold(Rules::builder(Rate::new(1)), rule).build()
    };
    assert!(
        build(&[&[("a", "x")], &[("a", "x*")], &[("b", "x*")], &[("a", "*"), ("b", "y")]]).is_ok()
    );
    assert!(build(&[&[("a", "x"), ("b", "y")], &[("a", "x")], &[("b", "y")]]).is_ok());
    for hidden in [
        &[&[("a", "x*")][..], &[("b", "1"), ("a", "xy*")]][..],
        &[&[("a", "*")], &[("b", "1")]],
        &[&[("a", "x"), ("b", "*")], &[("a", "x")]],
    ] {
        let error = build(hidden).unwrap_err().to_string();
        assert!(error.ends_with(" comes first, and matches everything that it matches"), "{error}");
    }
}

#[test]
fn what_is_too_much_is_refused_in_little_memory() {
    let most = LimitRules::MAX_BYTES;
    let of = |begin: &str, each: &str, end: &str| {
        let count = (most - begin.len() - end.len()) / each.len();
        let text = format!("{begin}{}{end}", each.repeat(count).trim_end_matches(','));
        assert!(text.len() > most / 2 && text.len() <= most);
        text
    };
    let default = r#""default":{"limit":1}"#;
    let texts = [
        (
            of(&format!("{{{default},\"rules\":["), r#"{"match":{}},"#, "]}"),
            "rules: there are too many; there must be 1000 or fewer",
        ),
        (
            of(&format!("{{{default},\"weights\":["), r#"{"request":"","weight":0},"#, "]}"),
            "weights: there are too many; there must be 1000 or fewer",
        ),
        (
            of(&format!("{{{default},\"rules\":[{{\"match\":{{"), r#""":"","#, "}}]}"),
            "rules[0].match: there are too many; there must be 16 or fewer",
        ),
        (of("", "[", ""), "line 1, column "),
        (of("{\"rules\":", "[", ""), "line 1, column "),
    ];
    for (text, problem) in &texts {
        let (refused, peak) = peak_of(|| refused(text));
        assert!(refused.starts_with(problem), "{}: {refused}", &text[..50]);
        assert!(peak < 500_000, "{}: {peak} bytes", &text[..50]);
    }
    // A field of any length, and of any characters, is not shown in full.
    let (refused, _) =
        peak_of(|| refused(&format!("{{\"\\u001b[2J{}\":1}}", "x".repeat(most - 100))));
    assert!(refused.len() < 1_000 && !refused.contains('\u{1b}'), "{refused}");
    let error = LimitRules::from_json(&vec![b' '; most + 1]).unwrap_err();
    assert_eq!(error.to_string(), "the rules have 1048577 bytes; they must have 1048576 or less");
}

/// A thousand rules of patterns with the longest common beginning that the text's limit allows.
#[test]
fn the_most_that_there_may_be_is_read_and_kept_in_the_memory_of_its_text() {
    let filler = "x".repeat(900);
    let rules: Vec<_> =
        (0..1_000).map(|it| format!(r#"{{"match":{{"client":"{filler}{it:04}"}}}}"#)).collect();
    let text = format!(r#"{{"default":{{"limit":1}},"rules":[{}]}}"#, rules.join(","));
    assert!(text.len() <= LimitRules::MAX_BYTES);
    let (rules, kept) = kept_by(|| LimitRules::from_json(text.as_bytes()).unwrap());
    assert!(kept < 2 * text.len().cast_signed() as i64, "{kept} bytes");
    let key = format!("{filler}0999");
    assert_eq!(rules.setting::<Client>(Some(Client { client: &key })), Rate::new(1));
}

#[test]
fn bytes_that_are_no_text_are_refused_by_their_place() {
    let error = LimitRules::from_json(b"{\"default\":{\"limit\":1}, \"\xff\": 1}").unwrap_err();
    assert!(matches!(error, RulesError::Json { line: 1, column: 26, .. }), "{error:?}");
    assert!(error.to_string().ends_with(": invalid unicode code point"), "{error}");
}

#[test]
fn no_beginning_of_a_text_is_a_text() {
    let text = r#"{"default":{"limit":12},"rules":[{"match":{"client":"a*"},"limit":34}]}"#;
    assert!(LimitRules::from_json(text.as_bytes()).is_ok());
    for end in 0..text.len() {
        assert!(LimitRules::from_json(&text.as_bytes()[..end]).is_err(), "{}", &text[..end]);
    }
}

#[test]
fn a_text_that_is_refused_changes_nothing() {
    limits!(CLIENTS, CLOCK: 10, |_| 2);
    assert!(ask(&CLIENTS, "alice").is_granted());
    CLIENTS.reload(br#"{"default":{"limit":3,"buckets":10}}"#).unwrap();
    for text in ["", "{", r#"{"default":{"limit":0}}"#, r#"{"default":{"limit":9,"rate":9}}"#] {
        assert!(reload(&CLIENTS, text).is_err(), "{text}");
    }
    let of_others = r#"{"default":{"limit":9},"rules":[{"match":{"account":"a"},"limit":9}]}"#;
    let error = reload(&CLIENTS, of_others).unwrap_err().to_string();
    assert_eq!(error, r#"rules[0]: keys have no label "account"; they have ["client"]"#);
    assert_eq!(terms(&CLIENTS, ALICE), (3, 1_000, 10));
    assert_eq!(CLIENTS.rules().as_deref(), Some(&rules(a_second(3), &[])));
}

fn reload<C: windrow::Clock + Send + Sync + 'static>(
    limits: &Limits<Client<'static>, windrow::Gate<C>>,
    text: &str,
) -> Result<windrow_tower::Changes, RulesError> {
    limits.reload(text.as_bytes())
}

/// Formats that name fields read rules, also as a part of something larger.
#[test]
fn rules_are_read_by_serde_from_any_format() {
    let value = serde_json::json!({
        "clients": { "default": { "limit": 3 }, "rules": [{ "match": { "client": "a" }, "limit": 4 }] },
        "wrong": { "default": { "limit": 0 } }
    });
    let mut settings: std::collections::BTreeMap<String, serde_json::Value> =
        serde_json::from_value(value).unwrap();
    let read: LimitRules = serde_json::from_value(settings.remove("clients").unwrap()).unwrap();
    assert_eq!(read, rules(Rate::new(3), &[("a", Rate::new(4))]));
    let error =
        serde_json::from_value::<LimitRules>(settings.remove("wrong").unwrap()).unwrap_err();
    assert_eq!(error.to_string(), "default: the limit is 0; it must be at least 1");
}
