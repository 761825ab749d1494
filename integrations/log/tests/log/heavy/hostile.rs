//! Lines of heavy keys that no log writes: each is read as it is, or counted as unreadable, and the
//! lines beside it are read.

use windrow_log::{Entry, Past};

use super::*;

/// Returns a line of heavy keys of a second, with a resource and members in JSON.
fn line(resource: &str, members: &str) -> Vec<u8> {
    format!(
        "{{\"heavy\":{{\"resource\":{resource},\"start\":\"2026-11-22T08:00:00Z\",\
         \"length_ns\":1000000000,\"at_ns\":1,{members}}}}}\n"
    )
    .into_bytes()
}

const SOUND: &str = r#""total":9,"others_at_most":2,"keys":[["x",3,5]]"#;

/// Reads a file of these lines between two sound ones: in whole, by a span, and by `Past`. Returns
/// what is between the sound ones, and the number of unreadable lines, in which all agree.
fn read(lines: &[Vec<u8>]) -> (Vec<Heavy>, u64) {
    let directory = tempfile::tempdir().unwrap();
    let head = "{\"run\":{\"windrow\":1,\"id\":\"a\",\"started\":\"2026-11-22T08:00:00Z\"}}\n";
    let sound = line("\"sound\"", SOUND);
    let text = [head.as_bytes(), &sound, &lines.concat(), &sound].concat();
    std::fs::write(directory.path().join("windrow-0000000001.jsonl"), text).unwrap();
    let start: SystemTime = "2026-11-22T08:00:00Z".parse::<jiff::Timestamp>().unwrap().into();
    let files = || windrow_log::read(directory.path()).unwrap();
    let mut found = Vec::new();
    for mut entries in [files().all(), files().between(start, start + SECOND)] {
        let heavy = entries.by_ref().filter_map(|entry| match entry.unwrap() {
            Entry::Heavy(heavy) => Some(heavy),
            _ => None,
        });
        let mut heavy: Vec<Heavy> = heavy.collect();
        let last = heavy.pop().unwrap();
        assert_eq!((&*heavy.remove(0).resource, &*last.resource), ("sound", "sound"));
        found.push((heavy, entries.skipped().unreadable));
    }
    let (of_span, of_all) = (found.pop().unwrap(), found.pop().unwrap());
    assert_eq!(of_span, of_all);
    let mut past = Past::new(directory.path());
    while past.catch_up(1 << 20).unwrap() > 0 {}
    let span = past.span("sound", start, start + SECOND, 4);
    assert_eq!((span.unreadable, span.unread, span.events.len()), (of_all.1, 0, 0));
    of_all
}

#[test]
fn names_and_keys_of_many_kilobytes_are_read_whole() {
    let [name, key] = ["é\\\"", "\\n购"].map(|text| text.repeat(100_000));
    let many: Vec<String> = (0..20_000).map(|key| format!("[\"{key}\",1,1]")).collect();
    let lines = [
        line(&format!("\"{name}\""), &SOUND.replace('x', &key)),
        line("\"many\"", &SOUND.replace("[\"x\",3,5]", &many.join(","))),
    ];
    let (found, unreadable) = read(&lines);
    let [long, many] = &found[..] else { panic!("{} of 2", found.len()) };
    assert_eq!(long.resource, "é\"".repeat(100_000));
    assert_eq!(long.bounds(&"\n购".repeat(100_000)), 3..=5);
    assert_eq!((many.keys.len(), many.bounds("19999"), unreadable), (20_000, 1..=1, 0));
    // A line of more than 16 MiB is none.
    let long = line("\"a\"", &SOUND.replace('x', &"x".repeat(16 << 20)));
    assert_eq!(read(&[long]), (Vec::new(), 1));
}

#[test]
fn bytes_that_are_no_text_make_a_line_unreadable() {
    for wrong in [&b"\xff"[..], b"\xc3", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80", b"\xc0\xaf"] {
        for place in [&b"\"resource\":\""[..], b"[[\"", b"{\"heavy\":{\""] {
            let mut line = line("\"a\"", SOUND);
            let found = line.windows(place.len()).position(|part| part == place).unwrap();
            let at = found + place.len();
            line.splice(at..at, wrong.iter().copied());
            let read = read(&[line.clone(), line]);
            assert_eq!(read, (Vec::new(), 2), "{wrong:?} behind {place:?}");
        }
    }
    // A half of a surrogate pair is no character; neither is a bare control character one of JSON.
    for wrong in [r"\ud800", r"\udc00x", r"\u12", r"\x", "\u{1}", "\u{0}"] {
        let wrong = line(&format!("\"{wrong}\""), SOUND);
        assert_eq!(read(&[wrong]), (Vec::new(), 1));
    }
}

#[test]
fn members_of_a_wrong_type_make_a_line_unreadable() {
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let keys = |keys: &str| SOUND.replace("[[\"x\",3,5]]", keys);
    for members in [
        keys("{}"),
        keys("null"),
        keys("\"x\""),
        keys("[{}]"),
        keys("[[]]"),
        keys("[[\"x\"]]"),
        keys("[[\"x\",3,5,7]]"),
        keys("[[3,3,5]]"),
        keys("[[null,3,5]]"),
        keys("[[\"x\",\"3\",5]]"),
        keys("[[\"x\",3.5,5]]"),
        keys("[[\"x\",-3,5]]"),
        keys("[[\"x\",3,1e300]]"),
        keys("[[\"x\",3,18446744073709551616]]"),
        keys(&deep),
        SOUND.replace("\"total\":9", "\"total\":-9"),
        SOUND.replace("\"total\":9", "\"total\":[9]"),
        SOUND.replace("\"total\":9", "\"total\":9,\"total\":9"),
        SOUND.replace("\"others_at_most\":2", "\"others_at_most\":null"),
        SOUND.replace("\"others_at_most\":2,", ""),
    ] {
        assert_eq!(read(&[line("\"a\"", &members)]), (Vec::new(), 1), "{members:.99}");
    }
    for resource in ["7", "null", "[]", "{\"a\":1}", deep.as_str()] {
        assert_eq!(read(&[line(resource, SOUND)]), (Vec::new(), 1), "{resource:.99}");
    }
    let sound = || String::from_utf8(line("\"a\"", SOUND)).unwrap();
    for (found, instead) in [
        ("2026-11-22T08:00:00Z", "2026-11-22"),
        ("\"2026-11-22T08:00:00Z\"", "1795334400"),
        ("1000000000", "-1"),
        ("1000000000", "1e9"),
        ("\"at_ns\":1", "\"at_ns\":\"1\""),
        ("}}\n", "}}x\n"),
        ("}}\n", "}\n"),
        ("}}\n", "},\"bucket\":{}}\n"),
    ] {
        let wrong = sound().replacen(found, instead, 1).into_bytes();
        assert_eq!(read(&[wrong]), (Vec::new(), 1), "{instead}");
    }
    // Members that it does not know are passed over, and there may be no keys.
    let members = keys("[]") + ",\"later\":{\"a\":[1,null]}";
    let (found, unreadable) = read(&[line("\"a\"", &members)]);
    assert_eq!((found.len(), found[0].keys.len(), unreadable), (1, 0, 0));
}
