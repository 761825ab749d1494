//! The events that the windows of the benches count.

use crate::rivals::EVENTS;

windrow::events! {
    /// The events of one endpoint. Only `Pass` is counted here.
    pub enum Http { Pass: Count, Block: Count, Exception: Count, Success: Count, Rt: Value }
}

const _: () = assert!(<Http as windrow::Events>::EVENTS.len() == EVENTS);
