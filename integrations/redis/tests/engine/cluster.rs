//! A cluster's node: all keys of a limit are in one slot.

use std::time::Duration;

use windrow::AtMost;
use windrow_redis::{SharedError, SharedGate, SharedGates};

use crate::server::{LONG, Server, free_port, on_each, until};

/// Starts a node, whose bus has a port of its own.
fn node(program: &str) -> Server {
    Server::start(
        program,
        &["--cluster-enabled", "yes", "--cluster-port", &free_port().to_string()],
    )
}

/// Waits until the node takes requests for the slots of the cluster.
fn wait_for(node: &Server) {
    until("the cluster is up", || {
        node.command::<String>("CLUSTER INFO").contains("cluster_state:ok")
    });
}

#[test]
fn all_keys_of_a_limit_are_in_one_slot() {
    on_each(|program| {
        let server = node(program);
        let () = server.command("CLUSTER ADDSLOTSRANGE 0 16383");
        wait_for(&server);
        let interval = Duration::from_millis(200);
        let gate = SharedGate::builder(AtMost(10)).interval(interval).buckets(4).name("orders");
        let gate = gate.connect(&server.url()).unwrap();
        assert!(gate.admit_blocking(1, LONG).is_granted());
        let gates = SharedGates::builder(AtMost(10)).interval(interval).buckets(4).name("orders");
        let gates = gates.connect(&server.url()).unwrap();
        for key in [&b"a"[..], b"{b}", b"}{", b""] {
            assert!(gates.admit_blocking(key, 1, LONG).is_granted(), "{key:?}");
        }
    });
}

#[test]
fn the_error_names_the_node_that_holds_the_limit() {
    on_each(|program| {
        let [asked, holder] = [node(program), node(program)];
        let slot: u16 = asked.command("CLUSTER KEYSLOT {orders}:e");
        let () = holder.command(&format!("CLUSTER ADDSLOTS {slot}"));
        let (before, after) = (slot - 1, slot + 1);
        let () = asked.command(&format!("CLUSTER ADDSLOTSRANGE 0 {before} {after} 16383"));
        let bus: Vec<String> = holder.command("CONFIG GET cluster-port");
        let () = asked.command(&format!("CLUSTER MEET 127.0.0.1 {} {}", holder.port(), bus[1]));
        wait_for(&asked);
        wait_for(&holder);

        let builder = || SharedGate::builder(AtMost(10)).name("orders");
        let at = format!("127.0.0.1:{}", holder.port());
        match builder().connect(&asked.url()) {
            Err(SharedError::OtherNode { at: told }) => assert_eq!(told, at),
            other => panic!("{other:?}"),
        }
        let gate = builder().connect(&format!("redis://{at}/")).unwrap();
        assert!(gate.admit_blocking(1, LONG).is_granted());
    });
}
