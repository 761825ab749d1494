//! Texts that are no rules of windows or rooms: each is refused by an error that says where and
//! why, and the old rules stay. (`rules::broken` has those of limits, and the shape of all rules.)

use std::fs;

use testkit::Rng;
use testkit::heap::peak_of;
use windrow::BuildError;
use windrow_tower::{
    Endpoint, LimitRules, Places, RoomRules, Rooms, Routes, Rules, RulesError, RulesFile,
    WindowRules,
};

use super::{MINUTE, builder, count, geometry, rules};
use crate::limited::Client;

/// Returns the error of a text of windows.
fn refused(text: &str) -> String {
    match WindowRules::from_json(text.as_bytes()) {
        Ok(rules) => panic!("{text}: {rules:?}"),
        Err(error) => error.to_string(),
    }
}

/// Returns the error without its column.
fn by_line(error: &str) -> String {
    let (line, rest) = error.split_once(", column ").expect("a place");
    format!("{line}: {}", rest.split_once(": ").expect("a problem").1)
}

#[test]
fn a_text_of_windows_has_a_default_and_rules_with_its_fields() {
    let read = |text: &str| WindowRules::from_json(text.as_bytes()).unwrap();
    let minute = r#"{"default":{"interval_ms":60000,"buckets":60}}"#;
    assert_eq!(read(minute), rules(MINUTE, &[]));
    let all = read(
        r#" { "rules": [
                { "match": { "method": "GET", "route": "/a*" }, "interval_ms": 10000 },
                { "buckets": 40, "match": { "route": "/b" } },
                { "match": { "route": "/c" } }
              ],
              "overflow": { "buckets": 6, "interval_ms": 30000 },
              "default": { "buckets": 20, "interval_ms": 20000 } } "#,
    );
    let expected = builder((20, 20), &[])
        .overflow(geometry((30, 6)))
        .rule([("method", "GET"), ("route", "/a*")], geometry((10, 20)))
        .rule([("route", "/b")], geometry((20, 40)))
        .rule([("route", "/c")], geometry((20, 20)));
    assert_eq!(all, expected.build().unwrap());
}

#[test]
fn a_text_of_rooms_has_places() {
    let text = br#"{ "default": { "places": 50 }, "overflow": {},
        "rules": [ { "match": { "client": "a*" }, "places": 0 }, { "match": { "client": "b" } } ] }"#;
    let expected = Rules::builder(Places::new(50))
        .rule([("client", "a*")], Places::new(0))
        .rule([("client", "b")], Places::new(50));
    assert_eq!(RoomRules::from_json(text).unwrap(), expected.build().unwrap());
    for (text, problem) in [
        (r#"{"default":{}}"#, "line 1: missing field `places`"),
        (r#"{"default":{"limit":1}}"#, "line 1: unknown field `limit`, expected `places`"),
        (r#"{"default":{"places":-1}}"#, "line 1: invalid value: integer `-1`, expected u64"),
        (r#"{"default":{"places":1,"places":1}}"#, "line 1: duplicate field `places`"),
        (r#"{"default":5}"#, "line 1: invalid type: integer `5`, expected an object of places"),
        (
            r#"{"default":{"places":1},"weights":[]}"#,
            "line 1: unknown field `weights`, expected one of `default`, `overflow`, `rules`",
        ),
    ] {
        let error = RoomRules::from_json(text.as_bytes()).unwrap_err().to_string();
        assert_eq!(by_line(&error), problem, "{text}");
    }
}

#[test]
fn a_broken_text_is_refused_by_its_line() {
    for (text, problem) in [
        ("", "line 1: EOF while parsing a value"),
        ("{}", "line 1: missing field `default`"),
        ("[]", "line 1: invalid type: sequence, expected an object of rules"),
        (r#"{"default":{}}"#, "line 1: missing field `interval_ms`"),
        (r#"{"default":{"interval_ms":1000}}"#, "line 1: missing field `buckets`"),
        (r#"{"default":{"buckets":1}}"#, "line 1: missing field `interval_ms`"),
        ("{\"default\":\n[]}", "line 2: invalid type: sequence, expected an object of a geometry"),
        (
            "{\"default\":{\"interval_ms\":1000,\n\"buckets\":1,\n\"limit\":5}}",
            "line 3: unknown field `limit`, expected `interval_ms` or `buckets`",
        ),
        (
            r#"{"default":{"interval_ms":1000,"interval_ms":1000,"buckets":1}}"#,
            "line 1: duplicate field `interval_ms`",
        ),
        (
            r#"{"default":{"interval_ms":1000,"buckets":1},"overflow":{"match":{}}}"#,
            "line 1: unknown field `match`, expected `interval_ms` or `buckets`",
        ),
        (
            r#"{"default":{"interval_ms":1000,"buckets":1},"rules":[{"match":{"route":"a"},"match":{}}]}"#,
            "line 1: duplicate field `match`",
        ),
        (
            r#"{"default":{"interval_ms":1000,"buckets":1},"rules":[{"buckets":1}]}"#,
            "line 1: missing field `match`",
        ),
        (
            r#"{"default":{"interval_ms":1000,"buckets":1},"weights":[]}"#,
            "line 1: unknown field `weights`, expected one of `default`, `overflow`, `rules`",
        ),
    ] {
        assert_eq!(by_line(&refused(text)), problem, "{text}");
    }
    // Numbers that are none, or none of 64 bits.
    for number in [
        "NaN",
        "nan",
        "Infinity",
        "-1",
        "-0.0",
        "1.5",
        "1e3",
        "1e400",
        "18446744073709551616",
        "\"9\"",
        "null",
        "true",
        "0x10",
        "01",
        "+1",
        "[1]",
        "{}",
    ] {
        for field in ["interval_ms", "buckets"] {
            let other = if field == "buckets" { "interval_ms" } else { "buckets" };
            let text = format!(r#"{{"default":{{"{other}":1000,"{field}":{number}}}}}"#);
            assert!(refused(&text).starts_with("line 1, column "), "{text}: {}", refused(&text));
        }
    }
}

/// Makes a text of the fields of a geometry.
type With = fn(&str) -> String;

/// The error is that of a window, and names the place in the file.
#[test]
fn a_geometry_that_no_window_has_is_refused_by_its_place() {
    const EVEN: &str = r#"{"interval_ms":1000,"buckets":10}"#;
    let places: [(&str, With); 3] = [
        ("default: ", |fields| format!(r#"{{"default":{{{fields}}}}}"#)),
        ("overflow: ", |fields| format!(r#"{{"overflow":{{{fields}}},"default":{EVEN}}}"#)),
        ("rules[1]: ", |fields| {
            let first = r#"{"match":{"route":"/a"}}"#;
            let second = format!(r#"{{"match":{{"route":"/b"}},{fields}}}"#);
            format!(r#"{{"default":{EVEN},"rules":[{first},{second}]}}"#)
        }),
    ];
    for (place, text) in places {
        for (interval, buckets, problem) in [
            ("0", "10", "the interval is 0 s; it must be longer than 0 s"),
            ("1000", "0", "the number of buckets is 0; a window needs at least 1"),
            ("1000", "7", "7 buckets do not divide the interval of 1s into whole nanoseconds"),
            (
                "18446744073709551615",
                "5",
                "the interval of 18446744073709551.615s is longer than 18446744073.709551615s, the \
                 most that 64 bits of nanoseconds hold",
            ),
            ("1000", "3601", "there are 3601 buckets; there must be 3600 or fewer"),
            (
                "1000",
                "18446744073709551615",
                "there are 18446744073709551615 buckets; there must be 3600 or fewer",
            ),
        ] {
            let text = text(&format!(r#""interval_ms":{interval},"buckets":{buckets}"#));
            assert_eq!(refused(&text), format!("{place}{problem}"), "{text}");
        }
    }
    let uneven = builder((1, 7), &[]).build().unwrap_err();
    let source = std::error::Error::source(&uneven).and_then(<dyn std::error::Error>::downcast_ref);
    assert!(matches!(source, Some(BuildError::UnevenBuckets { buckets: 7, .. })), "{uneven:?}");
}

#[test]
fn deep_and_long_texts_are_refused_in_little_memory() {
    let default = r#""default":{"interval_ms":1000,"buckets":1}"#;
    let fill = |begin: &str, each: &str| {
        let count = (WindowRules::MAX_BYTES - begin.len()) / each.len();
        format!("{begin}{}", each.repeat(count))
    };
    let nested = format!("{{{default},\"rules\":[{{\"match\":");
    let texts = [
        fill("", "["),
        fill("{\"default\":", "{\"interval_ms\":"),
        fill("{\"rules\":", "["),
        fill(&nested, "{\"a\":"),
        fill(&format!("{{{default},\"rules\":["), r#"{"match":{}},"#),
        fill(&format!("{{{default},\"x"), "x"),
        fill(&format!("{{{default},\"overflow\":{{\"buckets\":"), "9"),
    ];
    for text in texts {
        let (refused, peak) = peak_of(|| refused(&text));
        assert!(refused.starts_with("line 1, column ") && refused.len() < 1_000, "{refused}");
        assert!(peak < 1_000_000, "{}: {peak} bytes", &text[..50]);
    }
    let long = vec![b' '; WindowRules::MAX_BYTES + 1];
    assert!(matches!(WindowRules::from_json(&long), Err(RulesError::TooLong { .. })));
}

/// A thousand rules, each of the greatest number of buckets.
#[test]
fn the_most_that_there_may_be_is_read_in_the_memory_of_one_window_more() {
    let rules: Vec<_> =
        (0..1_000).map(|it| format!(r#"{{"match":{{"route":"/{it:04}"}}}}"#)).collect();
    let default = r#"{"interval_ms":3600000,"buckets":3600}"#;
    let text = format!(r#"{{"default":{default},"rules":[{}]}}"#, rules.join(","));
    let routes = Routes::new();
    let (rules, peak) = peak_of(|| WindowRules::from_json(text.as_bytes()).unwrap());
    assert!(peak < 3_000_000, "{peak} bytes");
    let ((), peak) = peak_of(|| routes.check(&rules).unwrap());
    assert!(peak < 3_000_000, "{peak} bytes");
}

const OLD: &str = r#"{"default":{"interval_ms":20000,"buckets":20}}"#;

#[test]
fn a_broken_file_keeps_the_old_rules_and_says_where_it_is_broken() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("windows.json");
    let mut file = RulesFile::new(&path);
    let routes = Routes::new();
    let mut look = || routes.reload_if_changed(&mut file);
    let write = |text: &str| fs::write(&path, text).expect("it is written");
    count(&routes, "/a");
    write(OLD);
    assert_eq!(look().unwrap().map(|changes| changes.keys), Some(1));
    for (text, problem) in [
        ("{\n  \"default\": {\n", "line 3, column 1: EOF while parsing an object"),
        (
            r#"{"default":{"interval_ms":10000,"buckets":10},"rules":[{"match":{"path":"/"}}]}"#,
            r#"rules[0]: keys have no label "path"; they have ["method", "route"]"#,
        ),
        (
            r#"{"default":{"interval_ms":10000,"buckets":10},"overflow":{"buckets":7}}"#,
            "overflow: 7 buckets do not divide the interval of 10s into whole nanoseconds",
        ),
    ] {
        write(text);
        assert_eq!(look().unwrap_err().to_string(), problem);
        assert!(matches!(look(), Ok(None)), "it is said once");
        assert_eq!((count(&routes, "/a"), count(&routes, text)), ((20, 20), (20, 20)));
    }
    fs::remove_file(&path).expect("it is removed");
    assert!(matches!(look(), Err(RulesError::File { .. })));
    write(OLD);
    assert_eq!(look().unwrap().map(|changes| changes.keys), Some(0));
}

/// Returns the text with some of its bytes replaced, left out, or doubled.
fn broken(text: &str, random: &mut Rng) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..random.usize(1..4) {
        let at = random.usize(..bytes.len());
        match random.u8(..4) {
            0 => _ = bytes.remove(at),
            1 => bytes.insert(at, bytes[at]),
            2 => bytes[at] = random.u8(..),
            _ => bytes[at] = b"{}[],:\"0179-e. \\"[random.usize(..16)],
        }
    }
    bytes
}

/// Whatever a text is: it is in force, or the old one is.
#[test]
fn a_text_takes_effect_as_a_whole_or_not_at_all() {
    static ROOMS: Rooms<Client> = Rooms::new(10, |_| 1);
    let text = r#"{"default":{"interval_ms":10000,"buckets":10},"overflow":{"buckets":5},
        "rules":[{"match":{"route":"/a*"},"interval_ms":20000},{"match":{"method":"GET","route":"/b"}}]}"#;
    let routes = Routes::with_constructor(10, Endpoint::default);
    let of_rooms =
        r#"{"default":{"places":10},"overflow":{"places":5},"rules":[{"match":{"client":"a*"}}]}"#;
    let mut accepted = [0; 2];
    let mut random = Rng::with_seed(7);
    for _ in 0..4_000 {
        let bytes = broken(text, &mut random);
        let (before, read) = (routes.rules(), WindowRules::from_json(&bytes).ok());
        match routes.reload(&bytes) {
            Ok(_) => {
                accepted[0] += 1;
                assert_eq!(routes.rules().as_deref(), read.as_ref());
            }
            Err(error) => {
                let place = error.to_string();
                let begins = [
                    "line ",
                    "default: ",
                    "overflow: ",
                    "rules[",
                    "rules: ",
                    "the rules are not UTF-8 after ",
                ];
                assert!(begins.iter().any(|begin| place.starts_with(begin)), "{place}");
                assert_eq!(routes.rules(), before);
            }
        }
        for route in ["/a", "/b", "/c"] {
            let of = routes.rules().map_or(geometry(MINUTE), |rules| {
                rules.setting::<windrow_tower::Route>(Some(super::get(route)))
            });
            let endpoint = routes.with(super::get(route));
            let window = endpoint.window();
            assert_eq!((window.interval(), window.buckets()), (of.interval, of.buckets));
        }
        let bytes = broken(of_rooms, &mut random);
        let (before, read) = (ROOMS.rules(), RoomRules::from_json(&bytes).ok());
        let is_accepted = ROOMS.reload(&bytes).is_ok();
        accepted[1] += i32::from(is_accepted);
        assert_eq!(
            ROOMS.rules().as_deref(),
            if is_accepted { read.as_ref() } else { before.as_deref() }
        );
    }
    assert!(accepted.iter().all(|accepted| (20..2_000).contains(accepted)), "{accepted:?}");
}

/// Settings of several parts, each with the place of its own errors.
#[test]
fn rules_of_all_kinds_are_parts_of_settings() {
    let value = serde_json::json!({
        "clients": { "default": { "limit": 3 } },
        "rooms": { "default": { "places": 3 } },
        "routes": { "default": { "interval_ms": 1000, "buckets": 2 } },
        "wrong": { "default": { "interval_ms": 1000, "buckets": 0 } },
    });
    let part = |name: &str| value[name].clone();
    let windows: WindowRules = serde_json::from_value(part("routes")).unwrap();
    assert_eq!(windows, rules((1, 2), &[]));
    assert!(serde_json::from_value::<LimitRules>(part("clients")).is_ok());
    assert!(serde_json::from_value::<RoomRules>(part("rooms")).is_ok());
    let error = serde_json::from_value::<WindowRules>(part("wrong")).unwrap_err();
    assert_eq!(error.to_string(), "default: the number of buckets is 0; a window needs at least 1");
    for name in ["clients", "rooms", "routes"] {
        let is = |read: bool, of| assert_eq!(read, name == of, "{name} as {of}");
        is(serde_json::from_value::<LimitRules>(part(name)).is_ok(), "clients");
        is(serde_json::from_value::<RoomRules>(part(name)).is_ok(), "rooms");
        is(serde_json::from_value::<WindowRules>(part(name)).is_ok(), "routes");
    }
}
