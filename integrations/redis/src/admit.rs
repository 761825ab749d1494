//! The future of a request that may wait for the engine.

use std::pin::Pin;
use std::task::{Context, Poll};

use windrow::gate::Admission;

use crate::wait::Wait;

/// The future of [`SharedGate::admit`](crate::SharedGate::admit), which yields an [`Admission`].
#[derive(Debug)]
#[must_use = "a future does nothing until it is polled"]
pub struct Admit<'a> {
    pub(crate) wait: Wait<'a>,
}

impl Future for Admit<'_> {
    type Output = Admission;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Admission> {
        Pin::new(&mut self.wait).poll(context).map(|outcome| outcome.admission)
    }
}
