//! Concurrency limits by key: at most a number of requests in flight.

mod body;
mod future;
mod layer;
mod rooms;
mod settings;

pub use body::RoomBody;
pub use future::RoomFuture;
pub use layer::{RoomLayer, RoomService};
pub use rooms::{InRoom, Room, Rooms};
