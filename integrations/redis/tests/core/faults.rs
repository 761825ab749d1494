//! Faults of clients and of the engine. The network's own are in `world`.

/// A fault.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fault {
    /// A client dies, and another one starts in its place.
    Die { client: usize },
    /// A client's machine is suspended.
    Suspend { client: usize },
    /// The client's machine goes on.
    Resume { client: usize },
    /// The limit changes, through one client.
    Change { client: usize, limit: u64 },
    /// The engine is started again without its memory.
    Restart,
    /// A replica takes a copy of the engine's memory.
    Copy,
    /// The replica takes the engine's place. Its clock is another one.
    Failover,
    /// The engine's clock falls back.
    FallBack,
}
