//! Lines of JSON: their shape, and what is read of them.

use super::*;
use crate::format::Kinds;

const START: Wall = Wall(1_795_233_121_417_000_000);

fn facts<'a>(resource: &'a str, events: &'a [(&'static str, Kind, Stats)]) -> Facts<'a> {
    let (length, at) = (Duration::from_secs(1), Timestamp::from_secs(7));
    Facts { resource, start: START, length, at, events, distributions: &[] }
}

fn read(line: &[u8]) -> Decoded<Content<'_>> {
    Kinds::Json.decode(line.strip_suffix(b"\n").unwrap()).unwrap()
}

#[test]
fn lines_are_as_the_schema_says() {
    let stats = |count, sum, min, max| Stats { count, sum, min, max };
    let events = [
        ("Pass", Kind::Count, stats(3, 3, None, None)),
        ("Block", Kind::Count, Stats::default()),
        ("Open", Kind::Signed, stats(2_u64.wrapping_neg(), 2_u64.wrapping_neg(), None, None)),
        ("Rt", Kind::Value, stats(2, u64::MAX, Some(0), Some(u64::MAX))),
        ("Depth", Kind::Maximum, stats(0, 0, None, Some(9))),
    ];
    let line = bucket(&facts("/cart", &events));
    assert_eq!(
        String::from_utf8(line.clone()).unwrap(),
        concat!(
            r#"{"bucket":{"resource":"/cart","start":"2026-11-21T03:52:01.417Z","length_ns":1000000000,"#,
            r#""at_ns":7000000000,"events":{"Pass":{"count":3,"sum":3},"Open":{"count":-2,"sum":-2},"#,
            r#""Rt":{"count":2,"sum":18446744073709551615,"min":0,"max":18446744073709551615},"#,
            r#""Depth":{"count":0,"sum":0,"max":9}}}}"#,
            "\n"
        )
    );
    let end = read(&line).end;
    let Entry::Bucket(bucket) = read(&line).content.into_entry() else { panic!() };
    let second = Duration::from_secs(1);
    assert_eq!(
        (end, bucket.length, bucket.at),
        (START.plus(second), second, Timestamp::from_secs(7))
    );
    for (name, _, stats) in events {
        assert_eq!(bucket.stats(name), stats, "{name}");
    }
    for (slack, said) in [(1, ""), (2, ",\"slack_ns\":120000000000")] {
        let slack = LEAST_SLACK * slack;
        let line = run(&Run { id: "00ff".into(), started: START.into() }, slack);
        let begin =
            "{\"run\":{\"windrow\":1,\"id\":\"00ff\",\"started\":\"2026-11-21T03:52:01.417Z\"";
        assert_eq!(str::from_utf8(&line).unwrap(), format!("{begin}{said}}}}}\n"));
        assert_eq!(read(&line).slack, Some(slack));
    }
    let dropped = Dropped { lines: 4, from: START.into(), to: Wall(START.0 + 5).into() };
    let line = super::dropped(&dropped);
    assert_eq!(
        String::from_utf8(line.clone()).unwrap(),
        "{\"dropped\":{\"lines\":4,\"from\":\"2026-11-21T03:52:01.417Z\",\
         \"to\":\"2026-11-21T03:52:01.417000005Z\"}}\n"
    );
    assert_eq!(read(&line).content.into_entry(), Entry::Dropped(dropped));
}

#[test]
fn a_histogram_has_percentiles_and_comes_back_whole() {
    let histogram = windrow::Histogram::new();
    for nanos in [600, 1_000, 2_000_000] {
        histogram.record(nanos);
    }
    let distribution = histogram.distribution();
    let stats = Stats { count: 3, sum: 2_001_600, min: Some(600), max: Some(2_000_000) };
    let events = [("Rt", Kind::Histogram(distribution.scale()), stats)];
    let distributions = [("Rt", distribution.clone())];
    let line = bucket(&Facts { distributions: &distributions, ..facts("/", &events) });
    let text = str::from_utf8(&line).unwrap();
    let expected = concat!(
        r#""events":{"Rt":{"count":3,"sum":2001600,"min":600,"max":2000000,"p50":980,"p90":2000000,"p99":2000000,"#,
        r#""distribution":{"scale":[3,513,68719476736],"sum":2001600,"extremes":[600,2000000,true],"#,
        r#""cells":[[608,1],[1024,1],[2097152,1]]}}}"#
    );
    assert!(text.contains(expected), "{text}");
    let Entry::Bucket(bucket) = read(&line).content.into_entry() else { panic!() };
    assert_eq!((bucket.stats("Rt"), bucket.distribution("Rt")), (stats, distribution));
    assert!(bucket.distribution("Pass").count() == 0);
    // An invalid distribution makes the whole line invalid.
    let wrong = text.replace("[608,1]", "[609,1]");
    assert!(Kinds::Json.decode(wrong.trim_end().as_bytes()).is_none());
}

#[test]
fn names_come_back_as_they_were_and_no_line_has_a_control_character() {
    let long = "\"|\\\n".repeat(2_500);
    let names =
        ["", "a\nb", "\r\t\0\u{18}\u{7f}", "\u{85}\u{9b}\u{2028}", "\"}\\", "购物车", &long];
    for name in names {
        let line = bucket(&facts(name, &[]));
        let text = str::from_utf8(&line).unwrap();
        assert_eq!(text.find(char::is_control), Some(text.len() - 1), "{text}");
        let Entry::Bucket(bucket) = read(&line).content.into_entry() else { panic!() };
        assert_eq!(bucket.resource, name);
    }
}

#[test]
fn what_is_no_line_is_refused() {
    let line = bucket(&facts("/", &[]));
    let line = line.strip_suffix(b"\n").unwrap();
    assert!(Kinds::Json.decode(line).is_some());
    for end in 0..line.len() {
        assert!(Kinds::Json.decode(&line[..end]).is_none(), "a line of {end} bytes");
    }
    for wrong in [
        &b"null"[..],
        b"{}",
        b"\xff",
        b"{\"run\":{\"windrow\":2,\"id\":\"\",\"started\":\"2026-11-21T03:52:01Z\"}}",
        b"{\"run\":{\"windrow\":1,\"id\":\"\",\"started\":\"9999-11-21T03:52:01Z\"}}",
        b"{\"dropped\":{\"lines\":-1,\"from\":\"2026-11-21T03:52:01Z\",\"to\":\"2026-11-21T03:52:01Z\"}}",
        b"{\"other\":{}}",
    ] {
        assert!(Kinds::Json.decode(wrong).is_none(), "{}", wrong.escape_ascii());
    }
}
