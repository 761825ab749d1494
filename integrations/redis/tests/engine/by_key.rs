//! Limits by key.

use std::collections::HashSet;
use std::time::Duration;

use redis::Value;
use windrow::AtMost;
use windrow_redis::{SharedBuilder, SharedGates};

use crate::server::{LONG, Server, engine, on_each, until};

const INTERVAL: Duration = Duration::from_millis(400);

fn builder() -> SharedBuilder<SharedGates> {
    SharedGates::builder(AtMost(5)).interval(INTERVAL).buckets(4).name("keys")
}

fn connected(server: &Server) -> SharedGates {
    let gates = builder().connect(&server.url()).unwrap();
    until("it is warm", || gates.admit_blocking(b"first", 1, PATIENCE).is_granted());
    gates
}

const PATIENCE: Duration = Duration::from_millis(50);

#[test]
fn each_key_has_a_limit_of_its_own_that_processes_share() {
    on_each(|program| {
        let server = Server::start(program, &[]);
        let (one, other) = (connected(&server), connected(&server));
        let keys: [&[u8]; 6] = [b"a", b"b", b"", b"}", b":e", &[0, 255, 13, 10]];
        for key in keys {
            // The first request of a key is not cold; and a small limit is granted to the last.
            let take = |gates: &SharedGates| gates.admit_blocking(key, 1, PATIENCE).is_granted();
            let granted = (0..8).filter(|i| take(if i % 2 == 0 { &one } else { &other })).count();
            assert_eq!(granted, 5, "{program}: {key:?}");
            assert!(!one.try_admit(key, 1));
        }
        assert_eq!(one.keys(), 7);
    });
}

#[test]
fn keys_that_are_too_long_share_one_limit() {
    let Some(server) = engine() else { return };
    let gates = connected(&server);
    let mut granted = 0;
    for i in 0..20 {
        let long = vec![i; SharedGates::MAX_KEY + 1 + usize::from(i)];
        granted += u32::from(gates.admit_blocking(&long, 1, PATIENCE).is_granted());
    }
    assert!((1..=15).contains(&granted), "{granted}: at most five in an interval");
    assert_eq!(gates.keys(), 1, "they take no place");
    assert!(gates.admit_blocking(&[b'k'; SharedGates::MAX_KEY], 5, LONG).is_granted());
    assert_eq!(gates.keys(), 2);
}

#[test]
fn keys_beyond_the_bound_share_one_limit_until_there_is_room() {
    let Some(server) = engine() else { return };
    let gates = builder().max_keys(16).connect(&server.url()).unwrap();
    until("it is warm", || gates.admit_blocking(b"first", 1, PATIENCE).is_granted());
    let take = |i: u32| gates.admit_blocking(&i.to_be_bytes(), 1, PATIENCE).is_granted();
    let granted = (0..200).filter(|i| take(*i)).count();
    assert!(gates.keys() <= 16, "{}", gates.keys());
    assert!(granted < 100, "{granted}: at most 15 keys, and the overflow's in a few intervals");
    // Keys that are not used make room.
    until("a new key has a limit of its own", || {
        let key = fastrand::u64(..).to_be_bytes();
        let taken = (0..5).filter(|_| gates.admit_blocking(&key, 1, PATIENCE).is_granted()).count();
        taken == 5
    });
}

#[test]
fn a_forgotten_key_comes_back_as_another_client() {
    let Some(server) = engine() else { return };
    let gates = builder().max_keys(1).connect(&server.url()).unwrap();
    for round in 0..3_u8 {
        until("each key is admitted again", || {
            gates.admit_blocking(&[round % 2], 1, PATIENCE).is_granted()
        });
        std::thread::sleep(INTERVAL);
    }
}

#[test]
fn a_key_takes_at_most_300_bytes_a_process_on_the_engine() {
    on_each(|program| {
        let server = Server::start(program, &[]);
        let gates = SharedGates::builder(AtMost(5)).name("tenants").connect(&server.url()).unwrap();
        until("it is warm", || gates.admit_blocking(b"first", 1, PATIENCE).is_granted());
        for i in 0..5 {
            let _ = gates.admit_blocking(b"192.168.100.200", 1, PATIENCE);
            std::thread::sleep(Duration::from_millis(110 * (i % 2)));
        }
        let mut connection = server.connection();
        let keys: HashSet<Vec<u8>> = redis::cmd("KEYS").arg("*").query(&mut connection).unwrap();
        let of_key: Vec<_> = keys.iter().filter(|key| key.ends_with(b"k192.168.100.200")).collect();
        assert_eq!(of_key.len(), 1, "{keys:?}");
        let bytes = |key: &Vec<u8>| -> u64 {
            redis::cmd("MEMORY").arg("USAGE").arg(key).query(&mut server.connection()).unwrap()
        };
        let sum: u64 = of_key.into_iter().map(bytes).sum();
        println!("{program}: {sum} bytes of a key and a process");
        assert!(sum <= 300, "{program}: {sum}");
        for key in keys {
            let left: Value = redis::cmd("PTTL").arg(&key).query(&mut connection).unwrap();
            let is_epoch = key == b"{tenants/}:e";
            assert_eq!(left == Value::Int(-1), is_epoch, "all but the epoch expire");
        }
    });
}

#[test]
fn a_change_of_the_limit_is_of_all_keys() {
    let Some(server) = engine() else { return };
    let (one, other) = (connected(&server), connected(&server));
    one.set_limit(AtMost(9)).unwrap();
    assert_eq!(one.limit(), 9);
    until("a key has the new limit", || {
        let key = fastrand::u64(..).to_be_bytes();
        one.admit_blocking(&key, 9, PATIENCE).is_granted()
    });
    until("the other process has it, too", || {
        let key = fastrand::u64(..).to_be_bytes();
        let granted = (0..9).filter(|_| other.admit_blocking(&key, 1, PATIENCE).is_granted());
        granted.count() == 9
    });
    assert!(one.set_limit(AtMost(u64::MAX)).is_err());
}
