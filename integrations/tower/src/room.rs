//! Concurrency limits by key: at most a number of requests in flight.

mod layer;
mod rooms;
mod settings;

pub use layer::RoomLayer;
pub use rooms::{InRoom, Room, Rooms};
