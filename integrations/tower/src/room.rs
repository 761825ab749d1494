//! Limits of how many at once: so many requests in flight, by key.

mod body;
mod future;
mod layer;
mod rooms;
mod service;

pub use body::RoomBody;
pub use future::RoomFuture;
pub use layer::RoomLayer;
pub use rooms::{InRoom, Room, Rooms};
pub use service::RoomService;
