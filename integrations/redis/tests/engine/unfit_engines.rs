//! Engines that are not fit, and what a message shows.

use std::time::Duration;

use windrow::AtMost;
use windrow_redis::{Engine, SharedBuilder, SharedError, SharedGate, SharedGates};

use crate::server::{LONG, Server, on_each};

fn builder() -> SharedBuilder<SharedGate> {
    SharedGate::builder(AtMost(10)).interval(Duration::from_millis(200)).buckets(4).name("it")
}

#[test]
fn an_engine_that_may_evict_is_refused_with_the_settings_name() {
    on_each(|program| {
        let options = ["--maxmemory", "50mb", "--maxmemory-policy", "allkeys-lru"];
        let server = Server::start(program, &options);
        let error = Engine::connect(&server.url()).unwrap_err();
        assert!(matches!(error, SharedError::MayEvict { maxmemory: 52_428_800, .. }), "{error:?}");
        assert!(error.to_string().contains("maxmemory-policy"), "{error}");
        let () = server.command("CONFIG SET maxmemory-policy noeviction");
        assert!(Engine::connect(&server.url()).is_ok());
        let () = server.command("CONFIG SET maxmemory-policy volatile-ttl");
        let () = server.command("CONFIG SET maxmemory 0");
        assert!(Engine::connect(&server.url()).is_ok());
    });
}

#[test]
fn a_replica_is_refused() {
    on_each(|program| {
        let primary = Server::start(program, &[]);
        let options = ["--replicaof", "127.0.0.1", &primary.port().to_string()];
        let replica = Server::start(program, &options);
        let error = Engine::connect(&replica.url()).unwrap_err();
        assert!(matches!(error, SharedError::NotPrimary { .. }), "{error:?}");
    });
}

#[test]
fn a_user_who_lacks_a_permission_is_told_which() {
    on_each(|program| {
        let server = Server::start(program, &[]);
        let url = |user: &str| format!("redis://{user}:pw@127.0.0.1:{}/", server.port());
        let () = server.command("ACL SETUSER blind on >pw ~* +@all -@dangerous");
        let error = Engine::connect(&url("blind")).unwrap_err();
        assert_eq!(error, SharedError::NotPermitted { needs: "+info" });
        let () = server.command("ACL SETUSER blind +info");
        assert!(builder().connect(&url("blind")).is_ok());
        let () = server.command("ACL SETUSER mute on >pw ~* +@all -@scripting");
        let error = Engine::connect(&url("mute")).unwrap_err();
        assert!(matches!(error, SharedError::NotPermitted { .. }), "{error:?}");
        let () = server.command("ACL SETUSER far on >pw ~other* +@all");
        let error = builder().connect(&url("far")).unwrap_err();
        assert!(matches!(error, SharedError::NotPermitted { .. }), "{error:?}");
        // What a limit needs, and nothing else.
        let () = server.command(
            "ACL SETUSER least on >pw ~{it}:* -@all +info +script|load +evalsha +time +hmget +hlen \
             +hgetall +hset +hdel +del +pexpire",
        );
        assert!(builder().connect(&url("least")).is_ok());
    });
}

#[test]
fn no_message_has_a_password() {
    on_each(|program| {
        let server = Server::start(program, &["--requirepass", "s3cret"]);
        let port = server.port();
        let with = |password: &str| format!("redis://:{password}@127.0.0.1:{port}/");
        let shown = |error: &SharedError| format!("{error} {error:?}");
        let wrong = Engine::connect(&with("0ther")).unwrap_err();
        assert!(matches!(wrong, SharedError::NotAuthenticated { .. }), "{wrong:?}");
        assert!(!shown(&wrong).contains("0ther"), "{wrong:?}");
        let none = Engine::connect(&format!("redis://127.0.0.1:{port}/")).unwrap_err();
        assert!(matches!(none, SharedError::NotAuthenticated { .. }), "{none:?}");
        let gate = builder().connect(&with("s3cret")).unwrap();
        assert!(gate.admit_blocking(1, LONG).is_granted());
        let debug = format!("{gate:?} {:?} {:?}", gate.engine(), gate.admit(1, LONG));
        assert!(!debug.contains("s3cret"), "{debug}");
        assert!(debug.contains(&port.to_string()), "{debug}");
    });
    for url in
        ["redis://:s3cret@", "http://:s3cret@host/", "s3cret", "rediss://:s3cret@[/#insecure"]
    {
        let error = Engine::connect(url).unwrap_err();
        assert!(matches!(error, SharedError::Url { .. }), "{error:?}");
        assert!(!format!("{error} {error:?}").contains("s3cret"), "{error:?}");
    }
    if cfg!(not(feature = "tls")) {
        let error = Engine::connect("rediss://127.0.0.1/").unwrap_err();
        assert!(error.to_string().contains("feature `tls`"), "{error}");
    }
}

#[test]
fn a_foreign_value_is_an_error_and_is_not_overwritten() {
    on_each(|program| {
        let server = Server::start(program, &[]);
        let foreign =
            |error: SharedError| assert_eq!(error, SharedError::Foreign { name: "it".into() });
        let () = server.command("SET {it}:l: hello");
        foreign(builder().connect(&server.url()).unwrap_err());
        assert_eq!(server.command::<String>("GET {it}:l:"), "hello");
        let () = server.command("DEL {it}:l:");
        let () = server.command("HSET {it}:l: colour blue");
        foreign(builder().connect(&server.url()).unwrap_err());
        assert_eq!(server.command::<String>("HGET {it}:l: colour"), "blue");
        let () = server.command("DEL {it}:l: {it}:e");
        let () = server.command("SET {it}:e hello");
        foreign(builder().connect(&server.url()).unwrap_err());
        assert_eq!(server.command::<String>("GET {it}:e"), "hello");
        let () = server.command("DEL {it}:e");
        // It is noticed in the middle, too; and it is over when it is taken away.
        let gate = builder().connect(&server.url()).unwrap();
        assert!(gate.admit_blocking(1, LONG).is_granted());
        let () = server.command("SET {it}:l: hello");
        crate::server::until("it is noticed", || {
            let _ = gate.try_admit(1);
            gate.fault().is_some()
        });
        foreign(gate.fault().unwrap());
        assert_eq!(server.command::<String>("GET {it}:l:"), "hello");
        let () = server.command("DEL {it}:l:");
        crate::shared::warm(&gate);
    });
}

#[test]
fn another_geometry_is_an_error() {
    on_each(|program| {
        let server = Server::start(program, &[]);
        let long = builder().interval(Duration::from_secs(100));
        let gate = long.buckets(10).connect(&server.url());
        // (A cold limit has no ledger yet, so there is nothing to differ from.)
        drop(gate);
        let gate = builder().connect(&server.url()).unwrap();
        crate::shared::warm(&gate);
        let error = builder().buckets(2).connect(&server.url()).unwrap_err();
        assert_eq!(error, SharedError::OtherGeometry { name: "it".into() });
        assert!(gate.admit_blocking(1, LONG).is_granted(), "the first one goes on");
    });
}

#[test]
fn settings_that_no_limit_can_have_are_refused_before_a_connection() {
    let nowhere = "redis://no.such.host.invalid/";
    let name = |name: &str| builder().name(name).connect(nowhere).unwrap_err();
    for wrong in ["", "a}b", "a b", "a/b"] {
        assert!(matches!(name(wrong), SharedError::Name { .. }), "{wrong}");
    }
    let error = builder().buckets(0).connect(nowhere).unwrap_err();
    assert!(matches!(error, SharedError::Geometry { .. }), "{error}");
    let share = windrow_redis::Absence::Share(AtMost(u64::MAX));
    let error = builder().on_absence(share).connect(nowhere).unwrap_err();
    assert!(matches!(error, SharedError::Absence { .. }), "{error}");
    let error = SharedGates::builder(AtMost(u64::MAX)).connect(nowhere).unwrap_err();
    assert!(matches!(error, SharedError::LimitTooLarge { .. }), "{error}");
}
