//! The races, each in a file that describes the racing calls, the meaning of the outcomes, and the
//! mistake that makes the forbidden ones appear.

use crate::stage::Program;

mod add_close;
mod add_rotate;
mod back_dated_unlink;
mod close_read;
mod drain_closed;
mod drain_drain;
mod drain_read;
mod first_adds;
mod reconfigure_add;
mod rotate_rotate;
mod windows;

/// All of them.
pub const ALL: &[Program] = &[
    Program::of::<add_rotate::AddRotate>(),
    Program::of::<rotate_rotate::RotateRotate>(),
    Program::of::<add_close::AddClose>(),
    Program::of::<close_read::CloseRead>(),
    Program::of::<back_dated_unlink::BackDatedUnlink>(),
    Program::of::<reconfigure_add::ReconfigureAdd>(),
    Program::of::<first_adds::FirstAdds>(),
    Program::of::<drain_drain::DrainDrain>(),
    Program::of::<drain_read::DrainRead>(),
    Program::of::<drain_closed::DrainClosed>(),
];
