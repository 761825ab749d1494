//! An engine that is away, or comes back empty.

use std::time::Duration;

use windrow::AtMost;
use windrow::gate::Admission;
use windrow_redis::{Absence, Engine, SharedBuilder, SharedError, SharedGate};

use crate::server::{LONG, engine, free_port, until, url};
use crate::shared::{block_on, warm};

const PATIENCE: Duration = Duration::from_millis(5);

fn builder(absence: Absence) -> SharedBuilder<SharedGate> {
    let builder = SharedGate::builder(AtMost(100)).interval(Duration::from_millis(200)).buckets(4);
    builder.name("it").on_absence(absence)
}

/// Waits until the gate knows that its engine is away.
fn until_away(gate: &SharedGate) {
    until("the engine is away", || {
        let _ = gate.admit_blocking(1, PATIENCE);
        gate.engine().is_away()
    });
}

#[test]
fn each_policy_admits_what_it_says_while_the_engine_is_stopped() {
    let Some(server) = engine() else { return };
    let engine = Engine::connect(&server.url()).unwrap();
    let refuses = builder(Absence::Refuse).build(&engine).unwrap();
    let admits = builder(Absence::Admit).build(&engine).unwrap();
    // An interval that does not end within the test.
    let hours = builder(Absence::Share(AtMost(7))).interval(Duration::from_secs(4 * 3_600));
    let shares = hours.name("hours").build(&engine).unwrap();
    warm(&refuses);
    server.stop(true);
    until_away(&refuses);
    until("a reason", || refuses.fault().is_some());
    until("rations are used up", || !refuses.try_admit(1));
    // All of these return while the engine is stopped: none of them waits for it.
    let mut futures: Vec<_> = (0..100).map(|_| refuses.admit_owned(1, LONG)).collect();
    for future in &mut futures {
        assert!(!block_on(future).is_granted());
    }
    assert!((0..1_000).all(|_| admits.try_admit(1)));
    assert!(matches!(block_on(admits.admit(1, PATIENCE)), Admission::Now));
    let share = (0..100).filter(|_| shares.try_admit(1)).count();
    assert!(share <= 7, "{share}");
    assert!(!shares.try_admit(1), "it is used up");
    server.stop(false);
    warm(&refuses);
    until("the reason is over", || {
        let _ = refuses.try_admit(1);
        refuses.fault().is_none()
    });
}

#[test]
fn an_engine_that_was_killed_is_found_again_and_is_cold() {
    let Some(mut server) = engine() else { return };
    let gate = builder(Absence::Refuse).connect(&server.url()).unwrap();
    warm(&gate);
    server.kill();
    until_away(&gate);
    let fault = gate.fault();
    assert!(matches!(fault, Some(SharedError::Unreachable { .. })), "{fault:?}");
    // It does not wait for it, once the ration is used up.
    until("a refusal", || !gate.admit_blocking(1, LONG).is_granted());
    server.revive();
    // Its memory is lost, so it grants nothing for an interval and more.
    until("it is found", || {
        let _ = gate.try_admit(1);
        !gate.engine().is_away()
    });
    let is_cold = !gate.admit_blocking(1, Duration::ZERO).is_granted();
    assert!(is_cold, "what was granted before is still in use");
    warm(&gate);
}

#[test]
fn no_engine_is_an_error_at_the_start() {
    let nobody = Engine::connect(&url(free_port())).unwrap_err();
    assert!(matches!(nobody, SharedError::Unreachable { .. }), "{nobody}");
    let unknown = Engine::connect("redis://no.such.host.invalid/").unwrap_err();
    assert!(matches!(unknown, SharedError::Unreachable { .. }), "{unknown}");
}

#[test]
fn a_service_starts_by_its_policy_while_the_engine_is_down() {
    let Some(mut server) = engine() else { return };
    server.kill();
    let engine = Engine::connect_lazy(&server.url()).unwrap();
    let admits = builder(Absence::Admit).build(&engine).unwrap();
    let refuses = builder(Absence::Refuse).build(&engine).unwrap();
    let hours = builder(Absence::Share(AtMost(7))).interval(Duration::from_secs(4 * 3_600));
    let shares = hours.name("hours").build(&engine).unwrap();
    until("it is known", || engine.is_away() && engine.fault().is_some());
    assert!(matches!(refuses.fault(), Some(SharedError::Unreachable { .. })));
    assert!((0..1_000).all(|_| admits.try_admit(1)));
    assert!(!refuses.admit_blocking(1, LONG).is_granted(), "at once");
    assert_eq!((0..100).filter(|_| shares.try_admit(1)).count(), 7);
    server.revive();
    // No request asks, and its return is noticed all the same.
    until("it is reached", || !engine.is_away() && refuses.fault().is_none());
    warm(&refuses);
}

#[test]
fn an_engine_that_never_answers_is_away_after_its_timeout() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let at = url(listener.local_addr().unwrap().port());
    let engine = Engine::builder().timeout(Duration::from_millis(20)).connect_lazy(&at).unwrap();
    let gate = builder(Absence::Admit).build(&engine).unwrap();
    until("the policy decides", || gate.try_admit(1));
    until("a reason", || matches!(gate.fault(), Some(SharedError::TimedOut { .. })));
    assert!(matches!(Engine::connect_lazy("redis://:@"), Err(SharedError::Url { .. })));
}

#[test]
fn settings_that_are_refused_are_told_once_the_engine_is_reached() {
    let Some(server) = engine() else { return };
    let () = server.command("CONFIG SET maxmemory 50mb");
    let () = server.command("CONFIG SET maxmemory-policy allkeys-lru");
    let () = server.command("ACL SETUSER blind on >pw ~* +@all -@dangerous");
    let engine = Engine::connect_lazy(&server.url()).unwrap();
    let gate = builder(Absence::Admit).build(&engine).unwrap();
    until("it is told", || matches!(engine.fault(), Some(SharedError::MayEvict { .. })));
    assert!(gate.fault() == engine.fault() && engine.is_away() && gate.try_admit(1));
    let () = server.command("CONFIG SET maxmemory-policy noeviction");
    until("it is mended", || !engine.is_away() && gate.fault().is_none());
    // A value that is no ledger, and a user without a permission.
    let () = server.command("SET {other}:l: hello");
    let other = builder(Absence::Refuse).name("other").build(&engine).unwrap();
    let foreign = SharedError::Foreign { name: "other".into() };
    until("it is told", || other.fault().as_ref() == Some(&foreign));
    assert!(!engine.is_away());
    let blind = format!("redis://blind:pw@127.0.0.1:{}/", server.port());
    let blind = Engine::connect_lazy(&blind).unwrap();
    until("it is told", || blind.fault() == Some(SharedError::NotPermitted { needs: "+info" }));
}

#[test]
fn a_closed_connection_and_a_flushed_script_are_no_absence() {
    let Some(server) = engine() else { return };
    let engine = Engine::builder().timeout(LONG).connect(&server.url()).unwrap();
    let gate = builder(Absence::Admit).build(&engine).unwrap();
    warm(&gate);
    for i in 0..10 {
        if i % 2 == 0 {
            let killed: u64 = server.command("CLIENT KILL TYPE normal SKIPME yes");
            assert!(killed > 0);
        } else {
            let () = server.command("SCRIPT FLUSH");
        }
        let asks = engine.asks();
        until("it asks again", || {
            let weight = 30; // more than a ration
            assert!(!gate.engine().is_away(), "{:?}", gate.fault());
            gate.admit_blocking(weight, LONG).is_granted() && engine.asks() > asks + 1
        });
    }
}
