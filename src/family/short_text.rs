//! Short texts of values, without an allocation.

use std::fmt::{self, Debug, Display, Formatter, Write};
use std::ops::Deref;

/// The text of a value that implements [`Display`], as a label: at most 63 bytes, stored inline.
///
/// For types that [`labels!`](crate::labels!) does not know: a UUID, an HTTP method, an identifier
/// of your own. Two values with the same text are the same label.
///
/// A text of more than 63 bytes is too long: in a [`Family`](crate::Family), sets with it count in
/// the overflow series, as all sets with too long texts do. (For longer texts, declare the label as
/// `str` and borrow the text.)
///
/// ```
/// use std::fmt;
/// use windrow::{Counter, Family, labels, labels::ShortText};
///
/// struct Tenant(u128); // a type of another crate
///
/// impl fmt::Display for Tenant {
///     fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
///         write!(f, "{:032x}", self.0)
///     }
/// }
///
/// labels! { struct Usage { tenant: ShortText, on: bool } }
///
/// static USAGE: Family<Usage, Counter> = Family::new();
///
/// let tenant = Tenant(0xcafe);
/// USAGE.with(Usage { tenant: ShortText::of(&tenant), on: true }).increment();
/// let series = USAGE.iter().next().unwrap();
/// assert_eq!(*series.labels().unwrap().tenant, format!("{:032x}", 0xcafe));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[doc(alias = "uuid")]
#[doc(alias = "as_str")]
pub struct ShortText {
    /// Zero after the text; all zero if it is too long. So equal texts have equal bytes.
    bytes: [u8; ShortText::MAX_BYTES],
    /// `TOO_LONG` if the text is too long.
    length: u8,
}

/// Takes the place of a length.
const TOO_LONG: u8 = u8::MAX;

impl ShortText {
    /// The maximum length of a text in bytes.
    const MAX_BYTES: usize = 63;

    const TOO_LONG: ShortText = ShortText { bytes: [0; ShortText::MAX_BYTES], length: TOO_LONG };

    /// Formats `value` by its [`Display`].
    ///
    /// Allocates nothing itself, and costs the same as the formatting. If `Display` returns an
    /// error, the text counts as too long.
    ///
    /// ```
    /// use windrow::labels::ShortText;
    ///
    /// assert_eq!(&*ShortText::of(format_args!("{:.1} GiB", 1.5)), "1.5 GiB");
    /// assert_eq!(&*ShortText::of("x".repeat(64)), ""); // too long
    /// ```
    #[inline]
    pub fn of(value: impl Display) -> ShortText {
        let mut text = ShortText { bytes: [0; ShortText::MAX_BYTES], length: 0 };
        if write!(text, "{value}").is_err() { ShortText::TOO_LONG } else { text }
    }

    /// Returns whether the value's text had more than `MAX_BYTES`.
    pub(crate) fn is_too_long(&self) -> bool {
        self.length == TOO_LONG
    }
}

/// It dereferences to the text, or to an empty one if it was too long.
impl Deref for ShortText {
    type Target = str;

    #[inline]
    fn deref(&self) -> &str {
        let text = self.bytes.get(..usize::from(self.length)).unwrap_or_default();
        // Only whole `str`s were written.
        str::from_utf8(text).unwrap_or_default()
    }
}

/// Returns an error if the text gets too long.
impl Write for ShortText {
    #[inline]
    fn write_str(&mut self, more: &str) -> fmt::Result {
        let begin = usize::from(self.length); // out of range if the text is too long
        let end = begin.saturating_add(more.len());
        let Some(room) = self.bytes.get_mut(begin..end) else {
            // The text stays too long even if the `Display` ignores the error and writes on.
            *self = ShortText::TOO_LONG;
            return Err(fmt::Error);
        };
        room.copy_from_slice(more.as_bytes());
        self.length = end as u8; // it fits: `end` is at most `MAX_BYTES`
        Ok(())
    }
}

/// Shows the text.
impl Display for ShortText {
    #[inline]
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Display::fmt(&**self, f)
    }
}

/// Shows the text, quoted.
impl Debug for ShortText {
    #[inline]
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.is_too_long() { f.write_str("(too long)") } else { Debug::fmt(&**self, f) }
    }
}
