//! A cluster's node: all keys of a limit are in one slot.

use std::time::Duration;

use windrow::AtMost;
use windrow_redis::{SharedError, SharedGate, SharedGates};

use crate::server::{LONG, Server, on_each, until};

#[test]
fn all_keys_of_a_limit_are_in_one_slot() {
    on_each(|program| {
        let options = ["--cluster-enabled", "yes", "--cluster-port", "0"];
        let server = Server::start(program, &options[..2]);
        let () = server.command("CLUSTER ADDSLOTSRANGE 0 16383");
        until("the cluster is up", || {
            server.command::<String>("CLUSTER INFO").contains("cluster_state:ok")
        });
        let interval = Duration::from_millis(200);
        let gate = SharedGate::builder(AtMost(10)).interval(interval).buckets(4).name("orders");
        let gate = gate.connect(&server.url()).unwrap();
        assert!(gate.admit_blocking(1, LONG).is_granted());
        let gates = SharedGates::builder(AtMost(10)).interval(interval).buckets(4).name("orders");
        let gates = gates.connect(&server.url()).unwrap();
        for key in [&b"a"[..], b"{b}", b"}{", b""] {
            assert!(gates.admit_blocking(key, 1, LONG).is_granted(), "{key:?}");
        }
        // A slot that another node would hold.
        let slot: u16 = server.command("CLUSTER KEYSLOT {orders}:e");
        let () = server.command(&format!("CLUSTER DELSLOTS {slot}"));
        let () = server.command("CONFIG SET cluster-require-full-coverage no");
        until("it is told", || {
            let _ = gate.admit_blocking(10, Duration::from_millis(5));
            matches!(
                gate.fault(),
                Some(SharedError::OtherNode { .. } | SharedError::Refused { .. })
            )
        });
    });
}
