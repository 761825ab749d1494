//! What histories count.

windrow::events! {
    /// Two of each kind, interleaved.
    pub(crate) enum Seen { Pass: Count, Rt: Value, Fail: Count, Size: Value }
}

pub(crate) const EVENTS: [Seen; 4] = [Seen::Pass, Seen::Rt, Seen::Fail, Seen::Size];

impl Seen {
    pub(crate) fn is_value(self) -> bool {
        matches!(self, Seen::Rt | Seen::Size)
    }
}
