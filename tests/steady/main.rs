//! Memory in the long run: adds, rotations, drains and changes of geometry allocate nothing, or a
//! bounded amount, once they have gone on for a while.
//!
//! Each test runs in a process of its own, on each strategy, because it looks at the heap of the
//! whole process.

mod changes;
mod counting;
mod drains;
mod epochs;
mod exemplars;
mod families;
mod gates;
mod histograms;
mod memory;
mod rotations;

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;

windrow::events! {
    /// Four that add up and one of values: what a service counts of one of its endpoints.
    pub(crate) enum Http { Pass: Count, Block: Count, Exception: Count, Success: Count, Rt: Value }
}
