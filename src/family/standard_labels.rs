//! The types of the standard library that are labels.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

use crate::family::labels::{Label, LabelValue};
use crate::family::short_text::ShortText;

impl Label for bool {
    const VALUES: Option<usize> = Some(2);
    type Key = bool;

    #[inline]
    fn key(self) -> bool {
        self
    }

    #[inline]
    fn index(self) -> usize {
        self.into()
    }

    fn value(self) -> LabelValue<'static> {
        LabelValue::Text(if self { "true" } else { "false" })
    }

    #[inline]
    fn is_empty(self) -> bool {
        false
    }
}

/// Labels with too many values to be numbered, none of which is empty.
macro_rules! labels_by_key {
    ($(
        $(#[$attribute:meta])* $type:ty: $key:ty, |$this:ident| $by:expr, $value:expr;
    )+) => {
        $(
            $(#[$attribute])*
            impl Label for $type {
                const VALUES: Option<usize> = None;
                type Key = $key;

                #[inline]
                fn key(self) -> $key {
                    let $this = self;
                    $by
                }

                #[inline]
                fn index(self) -> usize {
                    0
                }

                #[inline]
                fn value(self) -> LabelValue<'static> {
                    let $this = self;
                    $value
                }

                #[inline]
                fn is_empty(self) -> bool {
                    false
                }
            }
        )+
    };
}

macro_rules! integers {
    ($variant:ident($wide:ty): $($integer:ty),+) => {
        labels_by_key! {
            $( $integer: $integer, |this| this, LabelValue::$variant(this as $wide); )+
        }
    };
}

integers!(Unsigned(u64): u8, u16, u32, u64, usize);
integers!(Signed(i64): i8, i16, i32, i64, isize);

macro_rules! shown {
    ($($type:ty),+) => {
        labels_by_key! { $( $type: $type, |this| this, LabelValue::Short(ShortText::of(this)); )+ }
    };
}

// In each of these types, different values have different texts, of at most 45 bytes.
shown!(u128, i128, char, IpAddr, Ipv4Addr, Ipv6Addr, SocketAddrV4);

labels_by_key! {
    /// All that are not a number are one label, `NaN`; and `-0.0` is `0.0`.
    f32: u32, |this| one_of_each!(f32, this).to_bits(),
        LabelValue::Short(ShortText::of(format_args!("{:?}", one_of_each!(f32, this))));
    /// All that are not a number are one label, `NaN`; and `-0.0` is `0.0`.
    f64: u64, |this| one_of_each!(f64, this).to_bits(),
        LabelValue::Short(ShortText::of(format_args!("{:?}", one_of_each!(f64, this))));
    /// Addresses with another flow label are one label: it is not shown.
    SocketAddrV6: (Ipv6Addr, u16, u32), |this| (*this.ip(), this.port(), this.scope_id()),
        LabelValue::Short(ShortText::of(this));
    /// Addresses of IPv6 with another flow label are one label: it is not shown.
    SocketAddr: (IpAddr, u16, u32), |this| (this.ip(), this.port(), scope(this)),
        LabelValue::Short(ShortText::of(this));
}

fn scope(address: SocketAddr) -> u32 {
    match address {
        SocketAddr::V4(_) => 0,
        SocketAddr::V6(address) => address.scope_id(),
    }
}

/// Returns one representative of all numbers that are the same label.
macro_rules! one_of_each {
    ($float:ty, $number:expr) => {
        // (-0.0 + 0.0 is 0.0.)
        if $number.is_nan() { <$float>::NAN } else { $number + 0.0 }
    };
}
use one_of_each;

/// The text is not copied.
impl Label for &'static str {
    const VALUES: Option<usize> = None;
    type Key = &'static str;

    #[inline]
    fn key(self) -> &'static str {
        self
    }

    #[inline]
    fn index(self) -> usize {
        0
    }

    fn value(self) -> LabelValue<'static> {
        LabelValue::Text(self)
    }

    #[inline]
    fn is_empty(self) -> bool {
        str::is_empty(self)
    }
}

impl Label for ShortText {
    const VALUES: Option<usize> = None;
    type Key = ShortText;

    #[inline]
    fn key(self) -> ShortText {
        self
    }

    #[inline]
    fn index(self) -> usize {
        0
    }

    fn value(self) -> LabelValue<'static> {
        LabelValue::Short(self)
    }

    #[inline]
    fn is_empty(self) -> bool {
        str::is_empty(&self) && !self.is_too_long()
    }
}

/// `None` is shown as an empty text, which in Prometheus means that the label is absent. So `Some`
/// of an empty text is the same label.
impl<L: Label> Label for Option<L> {
    const VALUES: Option<usize> = match L::VALUES {
        Some(values) => values.checked_add(1),
        None => None,
    };
    type Key = Option<L::Key>;

    #[inline]
    fn key(self) -> Option<L::Key> {
        match self {
            Some(label) if !label.is_empty() => Some(label.key()),
            _ => None,
        }
    }

    #[inline]
    fn index(self) -> usize {
        match self {
            Some(label) if !label.is_empty() => 1 + label.index(),
            _ => 0,
        }
    }

    fn value(self) -> LabelValue<'static> {
        self.map_or(LabelValue::Text(""), Label::value)
    }

    #[inline]
    fn is_empty(self) -> bool {
        self.is_none_or(Label::is_empty)
    }
}
