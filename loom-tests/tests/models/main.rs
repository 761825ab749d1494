//! The models. Each file says which invariant it is about, and what it explores.
#![cfg(loom)]

mod counter_drains;
mod counter_sum;
