//! Files whose lines are unlike those of most logs, or that change between two calls.

use super::*;

/// Lines of many kilobytes, with pauses that are longer than the slack: each is found, wherever it
/// begins and ends.
#[test]
fn lines_of_any_length_are_found() {
    let mut rng = Rng::with_seed(38);
    let begin = 20_000 * 86_400 * SECOND;
    for pause in [1, 61, 600] {
        let directory = tempfile::tempdir().unwrap();
        let mut text = head("a", begin, 60);
        let (mut lines, mut now) = (Vec::new(), begin);
        for _ in 0..80 {
            now += rng.u64(1..=pause) * SECOND;
            let mut line = bucket(&mut rng, now, SECOND);
            line.resource = "/".repeat(rng.usize(1..20_000));
            text.push_str(&line.text());
            lines.push(line);
        }
        fs::write(file(directory.path(), 1), text).unwrap();
        let mut past = Past::new(directory.path());
        catch_up(&mut past, u64::MAX);
        for line in &lines {
            for back in [0, 100] {
                let range = (line.end - (back + 1) * SECOND, line.end);
                let span = check(&past, &lines, &line.resource, range, 1_000);
                assert!(span.bin < Duration::from_secs(60), "it is made of lines");
            }
        }
    }
}

/// Lines of equal length, so that searches look exactly where a line begins; and behind one line, a
/// pause that is longer than the slack.
#[test]
fn a_line_that_begins_where_a_search_ends_is_found() {
    let begin = 20_000 * 86_400 * SECOND;
    let directory = tempfile::tempdir().unwrap();
    for last in 0..64 {
        let end = |line: u64| begin + (line + if line > last { 1_000 } else { 0 }) * SECOND;
        let lines: Vec<Line> = (0..64)
            .map(|line| Line {
                resource: "/".repeat(100),
                end: end(line),
                length: SECOND,
                events: vec![("Pass", 1, 1)],
            })
            .collect();
        let texts: Vec<String> = lines.iter().map(Line::text).collect();
        assert!(texts.iter().all(|text| text.len() == texts[0].len()));
        fs::write(file(directory.path(), 1), head("a", begin, 60) + &texts.concat()).unwrap();
        let mut past = Past::new(directory.path());
        catch_up(&mut past, u64::MAX);
        let range = (end(last) - SECOND, end(last));
        check(&past, &lines, &lines[0].resource, range, 1_000);
    }
}

/// A file that is shorter than it was, gone, or another one, while nothing was looked at again: the
/// numbers are of what is there, and the bytes that are gone are said.
#[test]
fn what_has_changed_since_it_was_read_is_said() {
    let mut rng = Rng::with_seed(39);
    let begin = 20_000 * 86_400 * SECOND;
    let directory = tempfile::tempdir().unwrap();
    let path = file(directory.path(), 1);
    let lines: Vec<Line> =
        (1..=50).map(|number| bucket(&mut rng, begin + number * SECOND, SECOND)).collect();
    let texts: Vec<String> = lines.iter().map(Line::text).collect();
    let text = head("a", begin, 60) + &texts.concat();
    let other = head("b", begin, 60) + &lines[0].text().repeat(100);
    let range = (begin, begin + 99 * SECOND);
    for changed in [&text[..text.len() / 2], &text[..10], "", &other] {
        fs::write(&path, &text).unwrap();
        let mut past = Past::new(directory.path());
        catch_up(&mut past, u64::MAX);
        fs::write(&path, changed).unwrap();
        let span = past.span("/cart", at(range.0), at(range.1), 100);
        assert!(span.unread as usize >= text.len() / 2 - 100, "{} bytes", span.unread);
        // Whole lines of the file that was read, and no others.
        let kept = if text.starts_with(changed) { changed.matches('\n').count() } else { 0 };
        let kept = &lines[..kept.saturating_sub(1)];
        assert_eq!(sums(&span), book(kept, "/cart", &span));
    }
}

/// Bins are no shorter than the buckets of a file that has no sums.
#[test]
fn bins_are_no_shorter_than_the_buckets_of_a_file_without_sums() {
    let mut rng = Rng::with_seed(40);
    let begin = 20_000 * 86_400 * SECOND;
    let directory = tempfile::tempdir().unwrap();
    let hours: Vec<Line> = (1..=20)
        .map(|hour| bucket(&mut rng, begin + hour * 3_600 * SECOND, 3_600 * SECOND))
        .collect();
    let text: String = hours.iter().map(Line::text).collect();
    fs::write(file(directory.path(), 1), head("a", begin, 60) + &text).unwrap();
    // Many empty files take no part of the memory.
    for number in 2..200 {
        fs::write(file(directory.path(), number), "").unwrap();
    }
    for memory in [0, 64 << 10] {
        let mut past = Past::new(directory.path()).memory(memory);
        catch_up(&mut past, u64::MAX);
        for resource in RESOURCES {
            check(&past, &hours, resource, (begin, begin + 7_200 * SECOND), 400);
            check(&past, &hours, resource, (begin + 7_199 * SECOND, begin + 7_200 * SECOND), 4);
        }
        assert_eq!(past.memory_used() > 0, memory > 0);
    }
}

/// A run belongs to the span after whose beginning it began, up to its end; a gap to each that it
/// touches, and not to those that it borders on.
#[test]
fn runs_and_gaps_are_in_the_spans_that_they_touch() {
    let mut rng = Rng::with_seed(44);
    let begin = 20_000 * 86_400 * SECOND;
    let second = |second: u64| begin + second * SECOND;
    let directory = tempfile::tempdir().unwrap();
    let time = |at_second| jiff::Timestamp::try_from(at(second(at_second))).unwrap();
    let gap = |lines: u64, from, to| {
        let (from, to) = (time(from), time(to));
        format!("{{\"dropped\":{{\"lines\":{lines},\"from\":\"{from}\",\"to\":\"{to}\"}}}}\n")
    };
    let text = [
        head("first", second(10), 60),
        bucket(&mut rng, second(1), SECOND).text(),
        bucket(&mut rng, second(99), SECOND).text(),
        head("second", second(20), 60),
        gap(1, 10, 12),
        gap(20, 18, 20),
        gap(300, 5, 30),
    ];
    fs::write(file(directory.path(), 1), text.concat()).unwrap();
    let mut past = Past::new(directory.path());
    catch_up(&mut past, u64::MAX);
    for (from, to, ids, dropped) in [
        (10, 20, &["second"][..], 321),
        (9, 10, &["first"], 300),
        (9, 20, &["first", "second"], 321),
        (12, 18, &[], 300),
        (11, 19, &[], 321),
        (20, 30, &[], 300),
        (30, 40, &[], 0),
        (0, 5, &[], 0),
    ] {
        let span = past.span("/cart", at(second(from)), at(second(to)), 100);
        let found: Vec<&str> = span.runs.iter().map(|run| run.id.as_str()).collect();
        assert_eq!((&found[..], span.dropped), (ids, dropped), "{from} to {to}");
    }
}
