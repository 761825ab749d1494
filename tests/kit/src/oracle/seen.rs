//! What histories count.

windrow::events! {
    /// Two of each kind, interleaved.
    pub enum Seen { Pass: Count, Rt: Value, Fail: Count, Size: Value }
}

/// All of them, by their index.
pub const EVENTS: [Seen; 4] = [Seen::Pass, Seen::Rt, Seen::Fail, Seen::Size];

impl Seen {
    /// Whether it has values.
    pub fn is_value(self) -> bool {
        matches!(self, Seen::Rt | Seen::Size)
    }
}
