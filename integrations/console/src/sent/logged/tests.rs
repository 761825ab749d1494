//! The thread that answers from a log, in single steps, and the words of a question.

use std::fmt::Write as _;
use std::fs;

use super::*;

/// Returns a log of some number of lines, and what is asked of it.
fn logged(lines: u64) -> (tempfile::TempDir, Arc<Logged>, Move) {
    let directory = tempfile::tempdir().unwrap();
    let mut text =
        "{\"run\":{\"windrow\":1,\"id\":\"a\",\"started\":\"1970-01-01T00:00:00Z\"}}\n".to_owned();
    for line in 0..lines {
        let (hour, minute, second) = (line / 3_600 % 24, line / 60 % 60, line % 60);
        writeln!(
            text,
            "{{\"bucket\":{{\"resource\":\"a\",\"start\":\"1970-01-01T{hour:02}:{minute:02}:{second:02}Z\",\
             \"length_ns\":1000000000,\"at_ns\":7,\"events\":{{\"Pass\":{{\"count\":1,\"sum\":1}}}}}}}}"
        )
        .unwrap();
    }
    fs::write(directory.path().join("windrow-0000000001.jsonl"), text).unwrap();
    let logged = Arc::new(Logged::new(directory.path()));
    // No thread: the test takes the turns.
    logged.queue.lock().has_thread = true;
    (directory, logged, Move { resource: "a".to_owned(), from: 0, to: 86_400_000 })
}

/// Returns an answer that is there.
fn answer(receiver: &mut Receiver<Answer>) -> serde_json::Value {
    match receiver.try_recv() {
        Ok(Answer::Made(bytes, None)) => serde_json::from_slice(&bytes).unwrap(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_turn_reads_a_step_and_answers_with_what_it_has() {
    let (directory, logged, asked) = logged(86_400);
    let path = directory.path().join("windrow-0000000001.jsonl");
    let length = fs::metadata(path).unwrap().len();
    assert!(length > 2 * STEP, "{length}");
    let mut left = length;
    let mut turns = 0_u64;
    while left > 0 {
        let mut receiver = logged.ask(asked.clone()).unwrap();
        let waiting = logged.queue.next(LINGER, mem::take).unwrap();
        assert_eq!(waiting.len(), 1);
        let reads_on = logged.turn(waiting);
        let answer = answer(&mut receiver);
        let unread = answer["unread"].as_u64().unwrap();
        // A line more than a step, at most.
        assert!(left - unread <= STEP + 200, "{left} to {unread}");
        assert_eq!(reads_on, unread > 0);
        let counts = answer["events"][0]["count"].as_array().unwrap();
        let count: u64 = counts.iter().map(|count| count.as_u64().unwrap()).sum();
        assert!(count * 100 < length - unread && length - unread < count * 200, "{count} lines");
        (left, turns) = (unread, turns + 1);
    }
    assert!(turns <= length / STEP + 1, "{turns} turns");
    // Without questions, too.
    let waiting = logged.queue.next(Duration::ZERO, mem::take).unwrap();
    assert!(waiting.is_empty() && !logged.turn(waiting));
}

#[test]
fn the_thread_ends_when_the_log_is_read_and_nobody_asks() {
    let (_directory, logged, asked) = logged(1);
    assert!(logged.queue.next(Duration::ZERO, mem::take).is_some_and(|waiting| waiting.is_empty()));
    assert!(logged.queue.lock().has_thread);
    assert!(logged.queue.next(Duration::from_millis(1), mem::take).is_none());
    assert!(!logged.queue.lock().has_thread);
    // The next question starts another one.
    let receiver = logged.ask(asked).unwrap();
    assert!(matches!(receiver.blocking_recv(), Ok(Answer::Made(..))));
}

#[test]
fn of_too_many_questions_the_last_is_refused_until_a_client_leaves() {
    let (_directory, logged, asked) = logged(1);
    let mut asks: Vec<_> =
        (0..WAITING).map(|_| logged.ask(asked.clone()).expect("there is room")).collect();
    assert!(logged.ask(asked.clone()).is_none());
    asks.pop();
    let last = logged.ask(asked.clone()).expect("a client has left");
    let waiting = logged.queue.next(LINGER, mem::take).unwrap();
    assert_eq!(waiting.len(), WAITING);
    logged.turn(waiting);
    for mut receiver in asks.into_iter().chain([last]) {
        assert_eq!(answer(&mut receiver)["events"][0]["count"][0], 1);
    }
}

#[test]
fn a_turn_has_a_rest_of_its_own_length() {
    let (begun, turn) = (Instant::now(), Duration::from_millis(1_100));
    let mut ended = begun;
    half(|| {
        thread::sleep(turn);
        ended = Instant::now();
    });
    assert!(ended.elapsed() + Duration::from_millis(1) >= turn, "{:?}", ended.elapsed());
}

#[test]
fn a_key_is_a_name_in_the_log_but_for_line_feeds() {
    for (key, name) in [
        ("http{route=\"/cart\"}", "http{route=\"/cart\"}"),
        (r#"a{b="x\ny"}"#, "a{b=\"x\ny\"}"),
        (r#"a{b="x\\ny"}"#, r#"a{b="x\\ny"}"#),
        (r#"a{b="\"\\"}"#, r#"a{b="\"\\"}"#),
        (r"\", r"\"),
    ] {
        assert_eq!(name_of(key), name);
    }
}

#[test]
fn a_move_has_times_or_is_the_last_day() {
    let times = |from, to| Move::of("a", from, to, 100_000_000).map(|it| (it.from, it.to));
    assert_eq!(times(None, None), Some((13_600_000, 100_000_000)));
    assert_eq!(times(Some("-5"), Some("7")), Some((-5, 7)));
    assert_eq!(times(None, Some("86400001")), Some((1, 86_400_001)));
    for wrong in ["", "1e3", "now", "9223372036854775808"] {
        assert_eq!((times(Some(wrong), None), times(None, Some(wrong))), (None, None));
    }
    let extreme = times(None, Some("-9223372036854775808")).unwrap();
    assert!(millis(time(extreme.0)) <= 0, "the beginning of time, or 1970 without such a moment");
    assert_eq!([-1, 0, 1_795_334_401_417].map(|at| millis(time(at))), [-1, 0, 1_795_334_401_417]);
}
