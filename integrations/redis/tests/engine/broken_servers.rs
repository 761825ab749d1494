//! A server that answers nonsense, slowly or never: a caller waits for at most its patience.

use std::io::Write;
use std::net::{Ipv4Addr, TcpListener};
use std::thread;
use std::time::Duration;

use windrow::AtMost;
use windrow_redis::{Absence, Engine, SharedError, SharedGate};

use crate::proxy::{Mode, Proxy};
use crate::server::{engine, until, url};
use crate::shared::{block_on, warm};

const PATIENCE: Duration = Duration::from_millis(5);

#[test]
fn nonsense_in_the_middle_is_noticed_and_got_over() {
    let Some(server) = engine() else { return };
    let proxy = Proxy::to(server.port());
    let builder = SharedGate::builder(AtMost(100)).interval(Duration::from_millis(200)).buckets(4);
    for mode in [Mode::Nonsense, Mode::Silent, Mode::Lost, Mode::Slow] {
        let engine = Engine::builder().timeout(Duration::from_millis(30));
        let engine = engine.connect(&url(proxy.port())).unwrap();
        let gate = builder.clone().on_absence(Absence::Admit).build(&engine).unwrap();
        warm(&gate);
        proxy.set(mode);
        until("the engine is away", || {
            let _ = block_on(gate.admit(1, PATIENCE)); // it returns, whatever the server does
            gate.engine().is_away()
        });
        assert!(gate.try_admit(1), "{mode:?}: by the policy");
        until("a reason", || gate.fault().is_some() || mode == Mode::Slow);
        proxy.set(Mode::Clean);
        until("it is back", || {
            let _ = gate.try_admit(1);
            !gate.engine().is_away()
        });
        warm(&gate);
    }
}

#[test]
fn a_server_that_is_no_engine_is_an_error_at_the_start() {
    let answers: [&[u8]; 12] = [
        b"$1073741824\r\nhello",
        b"$9223372036854775807\r\nhello",
        b"*1000000000\r\n",
        b"*9223372036854775807\r\n",
        b"%9223372036854775807\r\n",
        b"*1000000000\r\n*1000000000\r\n*1000000000\r\n:1\r\n",
        b"$-7\r\n",
        b"",
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        b"$-1\r\n",
        b"+hello\r\n+hello\r\n+hello\r\n",
        b"\x00\xff",
    ];
    for answer in answers {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        thread::spawn(move || {
            let mut open = Vec::new();
            while let Ok((mut client, _)) = listener.accept() {
                let _ = client.write_all(answer);
                open.push(client);
            }
        });
        let builder = Engine::builder().timeout(Duration::from_millis(20));
        let error = builder.connect(&url(port)).unwrap_err();
        let is_told = matches!(
            error,
            SharedError::TimedOut { .. }
                | SharedError::Nonsense { .. }
                | SharedError::Unreachable { .. }
                | SharedError::Refused { .. }
        );
        assert!(is_told, "{answer:?}: {error:?}");
    }
}
