//! A timestamp as serde knows it: a number of nanoseconds.

use serde_core::{Deserialize, Deserializer, Serialize, Serializer};

use super::Timestamp;

/// Written as the nanoseconds since the clock's zero: a `u64`.
///
/// Its meaning depends on the clock: see [`Timestamp`]. Needs the feature `serde`.
impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.as_nanos())
    }
}

/// Read from nanoseconds; every `u64` is one. Needs the feature `serde`.
impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
        u64::deserialize(deserializer).map(Timestamp::from_nanos)
    }
}
