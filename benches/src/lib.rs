//! The code that the benches share: one way of measuring, the rivals, and windrow as one contender
//! among them.
//!
//! Everything that counts is a [`Rival`](harness::Rival), and its figures come from the same loop
//! over it, so that a difference between two figures is a difference between two contenders. The
//! README beside this crate describes the measurements and how to read them.

pub mod harness;
pub mod heap;
pub mod lab;
#[cfg(feature = "limits")]
pub mod limits;
pub mod loss;
pub mod ours;
pub mod rivals;
pub mod terminal;
