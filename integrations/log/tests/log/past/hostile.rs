//! A log that others have written to, or that holds more than usual: bounded, and still exact.

use super::*;

/// Numbers, times and lengths that no log writes, among lines that one wrote.
#[test]
fn wrong_lines_are_counted_and_the_others_are_summed() {
    let directory = tempfile::tempdir().unwrap();
    let begin = 20_000 * 86_400 * SECOND;
    let mut text = head("a", begin, 60);
    let bucket = |start: &str, length: &str, events: &str| {
        format!(
            "{{\"bucket\":{{\"resource\":\"/\",\"start\":\"{start}\",\"length_ns\":{length},\"at_ns\":7,\"events\":{{{events}}}}}}}\n"
        )
    };
    let noon = "2024-10-04T12:00:00Z";
    let wrong = [
        bucket(noon, "1000000000", "\"Pass\":{\"count\":1e9,\"sum\":1}"),
        bucket(noon, "1000000000", "\"Pass\":{\"count\":18446744073709551616,\"sum\":1}"),
        bucket(noon, "1000000000", "\"Pass\":{\"count\":-9223372036854775809,\"sum\":1}"),
        bucket(noon, "1000000000", "\"Pass\":{\"count\":\"1\",\"sum\":1}"),
        bucket(noon, "1000000000", "\"Pass\":{\"count\":1}"),
        bucket(noon, "1000000000", "\"Rt\":{\"count\":1,\"sum\":1,\"min\":-1}"),
        bucket(noon, "-1", "\"Pass\":{\"count\":1,\"sum\":1}"),
        bucket("2024-13-04T12:00:00Z", "1", "\"Pass\":{\"count\":1,\"sum\":1}"),
        bucket("9999-10-04T12:00:00Z", "1", "\"Pass\":{\"count\":1,\"sum\":1}"),
        bucket(noon, "1", "\"Rt\":{\"count\":1,\"sum\":1,\"distribution\":{\"cells\":7}}"),
        bucket(noon, "1", "\"Pass\u{85}\":{\"count\":1,\"sum\":1}"),
        "{}\n".to_owned(),
        "[[[[[[\n".to_owned(),
        format!("{}\n", "[".repeat(100_000)),
        "\u{7f}{\"run\":{}}\n".to_owned(),
        format!("{{\"bucket\":{}}}\n", "{\"a\":".repeat(10_000)),
        "{\"run\":{\"windrow\":2,\"id\":\"b\",\"started\":\"2024-10-04T12:00:00Z\"}}\n".to_owned(),
    ];
    text.extend(wrong.iter().map(String::as_str));
    // These are lines, if strange ones.
    let most = u64::MAX.to_string();
    let large = format!("\"Pass\":{{\"count\":{most},\"sum\":{most}}}");
    text.push_str(&bucket(noon, "1000000000", &large).repeat(3));
    text.push_str(&bucket(noon, "1", "\"\u{a3}\":{\"count\":1,\"sum\":1}"));
    let small = format!("\"Open\":{{\"count\":{0},\"sum\":{0}}}", i64::MIN);
    text.push_str(&bucket(noon, "1000000000", &small).repeat(3));
    text.push_str(&bucket("1700-01-01T00:00:00Z", "0", &large));
    text.push_str(&bucket(noon, &most, &large));
    let path = file(directory.path(), 1);
    fs::write(&path, text).unwrap();
    // Bytes that are no text.
    OpenOptions::new().append(true).open(&path).unwrap().write_all(b"\xff\xfe\n").unwrap();
    let mut past = Past::new(directory.path());
    catch_up(&mut past, 1);
    let span = past.span("/", at(begin), at(begin + 86_400 * SECOND), 400);
    assert_eq!(span.unreadable, wrong.len() as u64 + 1, "{span:?}");
    let mut entries = windrow_log::read(directory.path()).unwrap().all();
    entries.by_ref().for_each(drop);
    assert_eq!(entries.skipped().unreadable, span.unreadable, "another reader says the same");
    let all = |span: &Span, name: &str| -> i128 {
        let event = span.events.iter().find(|event| event.name == name).unwrap();
        event.bins.iter().map(|bin| bin.sum).sum()
    };
    assert_eq!(all(&span, "\u{a3}"), 1);
    assert_eq!(all(&span, "Pass"), 3 * i128::from(u64::MAX));
    assert_eq!(all(&span, "Open"), 3 * i128::from(i64::MIN));
    // All of time, in few bins.
    for bins in [1, 2, 400, usize::MAX] {
        let first = at(0) - Duration::from_secs(1 << 40);
        let span = past.span("/", first, at(u64::MAX), bins);
        assert!(span.bins <= bins.clamp(4, 1_000), "{}", span.bins);
        assert_eq!(all(&span, "Pass"), 5 * i128::from(u64::MAX));
    }
}

/// Any number of resources, events and starts, in little memory: the answer stays exact, or says
/// that it is not.
#[test]
fn any_number_of_resources_events_and_starts_is_bounded() {
    let directory = tempfile::tempdir().unwrap();
    let begin = 20_000 * 86_400 * SECOND;
    let mut text = head("a", begin, 60);
    for number in 0..30_000 {
        let line = Line {
            resource: format!("/{number}"),
            end: begin + number * SECOND,
            length: SECOND,
            events: vec![("Pass", 3, 3)],
        };
        text.push_str(&line.text());
    }
    let events: Vec<String> =
        (0..100).map(|event| format!("\"e{event}\":{{\"count\":1,\"sum\":{event}}}")).collect();
    let events = events.join(",");
    let many = format!(
        "{{\"bucket\":{{\"resource\":\"/many\",\"start\":\"2024-10-04T12:00:00Z\",\"length_ns\":1,\"at_ns\":7,\"events\":{{{events}}}}}}}\n"
    );
    text.push_str(&many);
    for number in 1..=3_000 {
        text.push_str(&head(&number.to_string(), begin + number * SECOND, 60));
    }
    text.push_str(&head(&"long".repeat(1_000), begin + 3_001 * SECOND, 60));
    let dropped = "{\"dropped\":{\"lines\":2,\"from\":\"2024-10-04T12:00:00Z\",\"to\":\"2024-10-04T12:00:01Z\"}}\n";
    text.push_str(&dropped.repeat(3_000));
    fs::write(file(directory.path(), 1), text).unwrap();
    for memory in [1 << 30, 160 << 20, 0] {
        let mut past = Past::new(directory.path()).memory(memory);
        catch_up(&mut past, u64::MAX);
        assert!(past.memory_used() <= memory / 16, "{} of {memory}", past.memory_used());
        let day = (at(begin), at(begin + 86_400 * SECOND));
        let span = past.span("/12345", day.0, day.1, 400);
        let all: i128 = span.events[0].bins.iter().map(|bin| bin.count).sum();
        assert_eq!((all, span.events.len(), span.unread), (3, 1, 0), "{memory}");
        assert_eq!((span.runs.len(), span.earlier_runs), (200, 2_802));
        assert_eq!(span.runs.last().unwrap().id, "3000");
        assert_eq!(span.dropped, 6_000);
        let many = past.span("/many", day.0, day.1, 400);
        assert_eq!((many.events.len(), many.has_more_events), (32, true));
    }
}

/// A line of tens of megabytes is passed over, whether its end is there or not; and of a file
/// without sums, few bytes are read for a span.
#[test]
fn a_line_without_end_costs_little() {
    let directory = tempfile::tempdir().unwrap();
    let begin = 20_000 * 86_400 * SECOND;
    let mut rng = Rng::with_seed(37);
    let mut lines = Vec::new();
    let path = file(directory.path(), 1);
    let mut past = Past::new(directory.path());
    fs::write(&path, head("a", begin, 60)).unwrap();
    for (step, length) in [1 << 20, 40 << 20, 16 << 20, 0].into_iter().enumerate() {
        let mut open = OpenOptions::new().append(true).open(&path).unwrap();
        open.write_all(&vec![b'x'; length]).unwrap();
        catch_up(&mut past, 1 << 20);
        check(&past, &lines, "/cart", (begin, begin + 3_600 * SECOND), 400);
        let line = bucket(&mut rng, begin + (step as u64 + 1) * SECOND, SECOND);
        write!(open, "\n{}", line.text()).unwrap();
        lines.push(line);
        catch_up(&mut past, 1 << 20);
        for resource in RESOURCES {
            check(&past, &lines, resource, (begin, begin + 99 * SECOND), 100);
        }
    }
    let span = past.span("/", at(begin), at(begin + SECOND), 10);
    assert_eq!(span.unreadable, 4, "three long lines, and an empty one");
    // Without sums, the lines are read: if they are more than eight megabytes, they are left out,
    // and the span says that.
    let mut small = Past::new(directory.path()).memory(0);
    catch_up(&mut small, u64::MAX);
    let span = small.span("/cart", at(begin), at(begin + 99 * SECOND), 100);
    assert!(span.unread > 50 << 20 && span.events.is_empty(), "{span:?}");
}
