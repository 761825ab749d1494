//! The key of a request, which a limit or a room is asked for.
//!
//! A set of declared labels borrows its texts from the request, so a function returns it. A key of
//! [`RuntimeLabels`] is a slice of texts, and no function returns a slice that it has just made. So
//! there a function writes the values into a buffer, and the layer makes the slice.

use std::fmt::{self, Display, Write};

use http::request::Parts;
use windrow::labels::{Labels, RuntimeLabels};

/// The maximum number of bytes of a key's values together: what a family keeps of a series.
const MAX_BYTES: usize = 1_024;

/// The number of values of a refused key: more than names can be.
const REFUSED: usize = RuntimeLabels::MAX_NAMES + 1;

/// The values of a request's key, in the order of the names, for [`RuntimeLabels`]. A function
/// writes them for each request: see [`LimitLayer::with_values`](crate::LimitLayer::with_values).
///
/// The buffer is on the stack: to write a key allocates nothing, and costs a copy of the texts.
///
/// A key that does not have one value for each name, or whose texts have more than 1024 bytes
/// together, is refused: it shares [the overflow gate](crate::Limits#when-there-are-too-many-keys)
/// or room, and is never without a limit.
pub struct KeyValues {
    /// The values, one after the other.
    texts: [u8; MAX_BYTES],
    /// The end of each value in `texts`.
    ends: [u16; RuntimeLabels::MAX_NAMES],
    /// The number of values, or `REFUSED`.
    count: usize,
}

impl KeyValues {
    fn new() -> KeyValues {
        KeyValues { texts: [0; MAX_BYTES], ends: [0; RuntimeLabels::MAX_NAMES], count: 0 }
    }

    /// Adds the value of the next name: any value that can be displayed. Returns the buffer.
    ///
    /// If its `Display` returns an error, the key is refused.
    ///
    /// ```
    /// use std::sync::LazyLock;
    /// use windrow::labels::RuntimeLabels;
    /// use windrow_tower::{RoomLayer, Rooms};
    ///
    /// static ROOMS: LazyLock<Rooms<RuntimeLabels>> = LazyLock::new(|| {
    ///     Rooms::with_names(["method", "http"], 1_000, |_| 50).expect("two names")
    /// });
    ///
    /// let layer = RoomLayer::with_values(&ROOMS, |parts, key| {
    ///     key.push(&parts.method).push(format_args!("{:?}", parts.version));
    ///     Some(())
    /// });
    /// # let _ = tower_layer::Layer::layer(&layer, ());
    /// ```
    pub fn push(&mut self, value: impl Display) -> &mut KeyValues {
        let begin = self.end();
        let mut text = Text { texts: &mut self.texts, end: begin };
        let is_written = write!(text, "{value}").is_ok();
        let end = text.end as u16; // at most `MAX_BYTES`
        match self.ends.get_mut(self.count) {
            Some(last) if is_written => {
                *last = end;
                self.count += 1;
            }
            _ => self.count = REFUSED,
        }
        self
    }

    /// Returns the end of the last value.
    fn end(&self) -> usize {
        let last = self.count.checked_sub(1).and_then(|last| self.ends.get(last));
        last.map_or(0, |end| usize::from(*end))
    }

    /// Calls a function with the values.
    fn with<T>(&self, see: impl for<'k> FnOnce(&'k [&'k str]) -> T) -> T {
        let mut values = [""; REFUSED];
        let mut begin = 0;
        for (value, end) in values.iter_mut().zip(self.ends.iter().take(self.count)) {
            let end = usize::from(*end);
            let text = self.texts.get(begin..end).unwrap_or_default();
            *value = str::from_utf8(text).unwrap_or_default(); // whole `str`s were written
            begin = end;
        }
        see(values.get(..self.count).unwrap_or(&values))
    }
}

/// A value that is being written.
struct Text<'t> {
    texts: &'t mut [u8; MAX_BYTES],
    end: usize,
}

impl Write for Text<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.end + text.len();
        let room = self.texts.get_mut(self.end..end).ok_or(fmt::Error)?;
        room.copy_from_slice(text.as_bytes());
        self.end = end;
        Ok(())
    }
}

/// The key of a request, by a function `for<'r> Fn(&'r Parts) -> Option<L::Borrowed<'r>>` or by
/// [`ByValues`]: a parameter of [`LimitLayer`](crate::LimitLayer) and
/// [`RoomLayer`](crate::RoomLayer).
pub trait RequestKey<L: Labels> {
    /// Calls a function with the key, if the request has one.
    fn with_key<T>(&self, parts: &Parts, ask: impl FnOnce(L::Borrowed<'_>) -> T) -> Option<T>;
}

/// A function that writes the values of a request's key, as a [`RequestKey`]: from
/// [`LimitLayer::with_values`](crate::LimitLayer::with_values).
#[derive(Clone, Copy)]
pub struct ByValues<F>(pub(crate) F);

impl<L: Labels, K: for<'r> Fn(&'r Parts) -> Option<L::Borrowed<'r>>> RequestKey<L> for K {
    fn with_key<T>(&self, parts: &Parts, ask: impl FnOnce(L::Borrowed<'_>) -> T) -> Option<T> {
        self(parts).map(ask)
    }
}

impl<F: Fn(&Parts, &mut KeyValues) -> Option<()>> RequestKey<RuntimeLabels> for ByValues<F> {
    fn with_key<T>(
        &self,
        parts: &Parts,
        ask: impl for<'k> FnOnce(&'k [&'k str]) -> T,
    ) -> Option<T> {
        let mut values = KeyValues::new();
        (self.0)(parts, &mut values)?;
        Some(values.with(ask))
    }
}
