//! The script's own text on a real engine, beside its model: the same calls, with the time and the
//! id of the engine's run as arguments.

use engine::{Engine, Reply};

use super::ledger::Ledger;
use super::random::Random;
use super::schedules::told;
use super::twin::Twin;
use crate::machine::{Answer, Ask, Attempt, Return, Terms};

mod engine;

const LEASE: &str = include_str!("../../src/lease.lua");

/// Clients' ids on the engine.
const CLIENTS: [&str; 4] = ["client-a", "client-b", "client-c", "client-d"];

/// Returns the script with the time and the run as arguments, and keys that do not expire: the
/// test's time is not the engine's.
fn told_the_time() -> String {
    let replaced = [
        ("redis.call('TIME')", "{ tonumber(ARGV[12]), tonumber(ARGV[13]) }"),
        ("redis.call('INFO', 'server')", "('run_id:' .. ARGV[14])"),
        ("redis.call('PEXPIRE', KEYS[1], math.ceil(keep * len / 1000))", ""),
    ];
    let with = |text: String, (from, to): &(&str, &str)| {
        assert_eq!(text.matches(from).count(), 1, "{from}");
        text.replace(from, to)
    };
    replaced.iter().fold(LEASE.to_owned(), with)
}

/// Loads a script, and returns its digest.
fn load(engine: &mut Engine, script: &str) -> String {
    match engine.run(&[&"SCRIPT", &"LOAD", &script]) {
        Reply::Text(Some(digest)) => digest,
        other => panic!("{other:?}"),
    }
}

/// Runs the script whose time is told.
fn ask(
    engine: &mut Engine,
    digest: &str,
    client: &str,
    attempt: &Attempt,
    now: u64,
    run: u64,
) -> Reply {
    let [a, b, c, d, e, f, g, h, i, j] = attempt.arguments();
    let (seconds, micros, run) = (now / 1_000_000, now % 1_000_000, format!("{run:x}"));
    engine.run(&[
        &"EVALSHA", &digest, &2, &"{t}:l", &"{t}:e", &client, &a, &b, &c, &d, &e, &f, &g, &h, &i,
        &j, &seconds, &micros, &run,
    ])
}

fn answer(reply: &Reply) -> Answer {
    let Reply::List(numbers) = reply else { panic!("{reply:?}") };
    let number = |reply: &Reply| match reply {
        Reply::Number(number) => *number,
        other => panic!("{other:?}"),
    };
    let numbers: Vec<i64> = numbers.iter().map(number).collect();
    Answer::read(&numbers).unwrap_or_else(|| panic!("{numbers:?}"))
}

#[test]
fn the_script_answers_as_its_model() {
    let Some(mut engine) = Engine::start() else { return };
    let digest = load(&mut engine, &told_the_time());
    let random = &mut Random::of(told("SHARED_SEED", 7));
    let (mut calls, mut granted, mut repeated) = (0, 0, 0);
    while calls < told("SHARED_CALLS", 20_000) {
        engine.run(&[&"FLUSHALL"]);
        let buckets = random.pick(&[1, 2, 5, 10]);
        let limit = random.pick(&[1, 3, 100, 5_000, 1 << 40]);
        let mut terms = Terms { limit, version: 1, length: 100_000, buckets, drift: 0 };
        let mut model = Ledger { run: 10, ..Ledger::default() };
        let mut now = 1_700_000_000_000_000;
        let (mut numbers, mut epoch) = ([0; 4], 0);
        let mut last: [Option<Ask>; 4] = [None; 4];
        for _ in 0..200 {
            let mean = random.pick(&[200.0, 20_000.0, 150_000.0]);
            now += random.time(mean);
            if random.is(0.01) {
                now -= random.pick(&[3_000, 60_000, 400_000, 2_000_000]);
            }
            if random.is(0.005) {
                model.run += 1;
            }
            if random.is(0.005) {
                terms.version += 1;
                terms.limit = (terms.limit + random.below(7)).saturating_sub(3).max(1);
            }
            let client = random.below(4) as usize;
            let ask_again = last[client].filter(|_| random.is(0.2));
            repeated += u64::from(ask_again.is_some());
            let asked = ask_again.unwrap_or_else(|| {
                numbers[client] += random.pick(&[1, 1, 1, 2, 0]);
                let count = if random.is(0.3) { 1 + random.below(3) } else { 0 };
                Ask {
                    number: numbers[client],
                    want: random.pick(&[0, 1, 5, 1_000, 1 << 31]),
                    need: if random.is(0.1) { random.pick(&[2, 50]) } else { 1 },
                    back: Return { count, bucket: now / 100_000 - random.below(3), born: epoch },
                }
            });
            last[client] = Some(asked);
            let old = Terms { limit: 999, version: terms.version - 1, ..terms };
            let sent = if terms.version > 1 && random.is(0.2) { old } else { terms };
            let attempt = Attempt { ask: asked, attempt: 0, sent: 0, terms: sent };
            let reply = ask(&mut engine, &digest, CLIENTS[client], &attempt, now, model.run);
            let said = answer(&reply);
            if let Some(sheet) = &mut model.sheet {
                sheet.expires = u64::MAX;
            }
            let expected = model.ask(now, client as u64, &asked, &sent, Twin::None);
            assert_eq!(said, expected, "call {calls}: {asked:?}, {sent:?}, {now}");
            if random.is(0.9) {
                epoch = said.born;
            }
            granted += said.granted;
            calls += 1;
        }
    }
    println!("{calls} calls, {repeated} of them again, {granted} permits: the same answers");
    assert!(granted > calls);
}

#[test]
fn foreign_values_and_other_geometries_are_errors_that_change_nothing() {
    let Some(mut engine) = Engine::start() else { return };
    let digest = load(&mut engine, LEASE);
    let terms = Terms { limit: 10, version: 1, length: 100_000, buckets: 10, drift: 0 };
    let asked = Ask { number: 1, want: 1, need: 1, back: Return::default() };
    let ask = |engine: &mut Engine, terms: Terms| {
        let attempt = Attempt { ask: asked, attempt: 0, sent: 0, terms };
        let [a, b, c, d, e, f, g, h, i, j] = attempt.arguments();
        let client = CLIENTS[0];
        engine.run(&[
            &"EVALSHA", &digest, &2, &"l", &"e", &client, &a, &b, &c, &d, &e, &f, &g, &h, &i, &j,
        ])
    };
    let begun: &[&dyn std::fmt::Display] =
        &[&"EVAL", &"return redis.call('HGET', KEYS[1], 'born')", &1, &"e"];
    let ledger: [&str; 16] = [
        "born", "1", "newest", "1", "asks", "0", "asks1", "0", "want", "0", "want1", "0", "n",
        "10", "len", "100000",
    ];
    let with = |changes: &[&'static str]| {
        let mut command = vec!["HSET", "l"];
        command.extend(ledger);
        command.extend(changes);
        command
    };
    let cases: Vec<(Vec<&str>, &str)> = vec![
        (vec!["SET", "l", "text"], "WRONGTYPE"),
        (vec!["SET", "e", "text"], "WRONGTYPE"),
        (vec!["RPUSH", "l", "1", "2"], "WRONGTYPE"),
        (vec!["HSET", "l", "name", "value"], "FOREIGN"),
        (vec!["HSET", "l", "born", "x"], "FOREIGN"),
        (vec!["HSET", "e", "since", "-5"], "FOREIGN"),
        (vec!["HSET", "e", "limit", "1e9"], "FOREIGN"),
        (with(&["newest", "12345678901234567890"]), "FOREIGN"),
        (with(&["3", "many"]), "FOREIGN"),
        (with(&["client-a", "1 2"]), "FOREIGN"),
        (with(&["client-a", "1 2 3 4"]), "FOREIGN"),
        (with(&["n", "9"]), "GEOMETRY"),
        (with(&["len", "100001"]), "GEOMETRY"),
    ];
    for (command, code) in cases {
        engine.run(&[&"FLUSHALL"]);
        let words: Vec<&dyn std::fmt::Display> =
            command.iter().map(|word| word as &dyn std::fmt::Display).collect();
        engine.run(&words);
        let before = [engine.run(&[&"DUMP", &"l"]), engine.run(&[&"DUMP", &"e"])];
        let said = ask(&mut engine, terms);
        assert!(
            matches!(&said, Reply::Error(text) if text.contains(code)),
            "{command:?}: {said:?}"
        );
        let after = [engine.run(&[&"DUMP", &"l"]), engine.run(&[&"DUMP", &"e"])];
        assert_eq!(before, after, "{command:?}");
    }
    engine.run(&[&"FLUSHALL"]);
    assert!(matches!(ask(&mut engine, terms), Reply::List(_)));
    assert!(matches!(engine.run(begun), Reply::Text(Some(_))), "the epoch has begun");
}

#[test]
fn a_key_takes_at_most_300_bytes() {
    let Some(mut engine) = Engine::start() else { return };
    let digest = load(&mut engine, &told_the_time());
    let terms = Terms { limit: 100, version: 1, length: 100_000, buckets: 10, drift: 0 };
    let mut now = 1_700_000_000_000_000;
    for number in 1..200 {
        let asked = Ask { number, want: 3, need: 1, back: Return::default() };
        let attempt = Attempt { ask: asked, attempt: 0, sent: 0, terms };
        ask(&mut engine, &digest, CLIENTS[0], &attempt, now, 1);
        now += 40_000;
    }
    let bytes = engine.run(&[&"MEMORY", &"USAGE", &"{t}:l"]);
    println!("{bytes:?}, {:?}", engine.run(&[&"HGETALL", &"{t}:l"]));
    let Reply::Number(bytes) = bytes else { panic!("{bytes:?}") };
    let longer = 32; // a name of a limit and a key
    assert!(bytes + longer <= 300, "{bytes} bytes");
}

#[test]
fn answers_to_clients_that_have_gone_are_forgotten() {
    let Some(mut engine) = Engine::start() else { return };
    let digest = load(&mut engine, &told_the_time());
    let terms = Terms { limit: 1_000, version: 1, length: 100_000, buckets: 2, drift: 0 };
    let mut now = 1_700_000_000_000_000;
    for client in 0..2_000 {
        let asked = Ask { number: 1, want: 1, need: 1, back: Return::default() };
        let attempt = Attempt { ask: asked, attempt: 0, sent: 0, terms };
        answer(&ask(&mut engine, &digest, &format!("{client:08}"), &attempt, now, 1));
        now += 10_000;
    }
    // Ten clients in a bucket, seven buckets in which they are kept.
    let Reply::Number(size) = engine.run(&[&"HLEN", &"{t}:l"]) else { panic!("no number") };
    assert!(size < 150, "{size} fields");
}
