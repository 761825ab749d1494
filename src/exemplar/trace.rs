//! The ids of a trace and of a span.

use std::fmt::{self, Debug, Formatter};

/// The ids of a trace and of the span in it from which a value came.
///
/// An id of zero stands for one that is not known, as in OpenTelemetry: exporters leave it out.
/// (The crate `windrow-opentelemetry` returns the ids of the current span.)
///
/// ```
/// use windrow::Counter;
/// use windrow::exemplar::TraceContext;
///
/// let errors = Counter::new();
/// errors.add_with_exemplar(1, TraceContext { trace_id: 0x4bf9_2f35, span_id: 0 });
/// assert_eq!(errors.exemplar().unwrap().trace.trace_id, 0x4bf9_2f35);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TraceContext {
    /// The id of the trace. W3C and OpenTelemetry write it in 32 hexadecimal digits: `{:032x}`.
    pub trace_id: u128,
    /// The id of the span, in 16 hexadecimal digits: `{:016x}`.
    pub span_id: u64,
}

impl TraceContext {
    /// Returns the ids in a `traceparent` header of W3C Trace Context, if the header is valid and
    /// its trace is sampled. (A trace that is not sampled is in no backend: its ids lead nowhere.)
    ///
    /// ```
    /// use windrow::exemplar::TraceContext;
    ///
    /// let header = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    /// let trace = TraceContext::from_traceparent(header).unwrap();
    /// assert_eq!(trace.trace_id, 0x4bf92f3577b34da6a3ce929d0e0e4736);
    /// assert_eq!(trace.span_id, 0x00f067aa0ba902b7);
    ///
    /// let not_sampled = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";
    /// assert_eq!(TraceContext::from_traceparent(not_sampled), None);
    /// ```
    #[inline]
    pub fn from_traceparent(header: &str) -> Option<TraceContext> {
        let mut fields = header.trim_ascii().splitn(5, '-');
        let mut field = |digits| hex(fields.next()?, digits);
        let (version, trace_id, span_id, flags) = (field(2)?, field(32)?, field(16)?, field(2)?);
        // A later version may have further fields. 255 is none.
        let is_known = version < 255 && (version > 0 || fields.next().is_none());
        let is_sampled = flags & 1 == 1;
        let is_valid = is_known && is_sampled && trace_id != 0 && span_id != 0;
        is_valid.then_some(TraceContext { trace_id, span_id: u64::try_from(span_id).ok()? })
    }
}

/// Returns the number in exactly this number of lowercase hexadecimal digits.
#[inline]
fn hex(text: &str, digits: usize) -> Option<u128> {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let is_number = text.len() == digits && text.bytes().all(is_digit);
    u128::from_str_radix(text, 16).ok().filter(|_| is_number)
}

/// Shows the ids in hexadecimal digits.
impl Debug for TraceContext {
    #[inline]
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("TraceContext")
            .field("trace_id", &format_args!("{:032x}", self.trace_id))
            .field("span_id", &format_args!("{:016x}", self.span_id))
            .finish()
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn a_header_that_is_not_valid_has_no_ids() {
        let (trace, span) = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7");
        let valid = TraceContext {
            trace_id: 0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736,
            span_id: 0x00f0_67aa_0ba9_02b7,
        };
        for header in [
            format!("00-{trace}-{span}-01"),
            format!(" 00-{trace}-{span}-03\t"), // as it may stand in a request
            format!("01-{trace}-{span}-01"),
            format!("cc-{trace}-{span}-01-what-may-come"),
        ] {
            assert_eq!(TraceContext::from_traceparent(&header), Some(valid), "{header}");
        }
        for header in [
            String::new(),
            "00".to_owned(),
            format!("00-{trace}-{span}"),
            format!("00-{trace}-{span}-00"), // not sampled
            format!("00-{trace}-{span}-1"),
            format!("00-{trace}-{span}-01-more"),
            format!("00-{trace}-{span}-01-"),
            format!("ff-{trace}-{span}-01"),
            format!("00-{}-{span}-01", trace.to_uppercase()),
            format!("00-{}-{span}-01", "0".repeat(32)),
            format!("00-{trace}-{}-01", "0".repeat(16)),
            format!("00-+{}-{span}-01", &trace[1..]),
            format!("00-{trace}0-{span}-01"),
            format!("00-{trace}-é0f067aa0ba902b-01"),
        ] {
            assert_eq!(TraceContext::from_traceparent(&header), None, "{header}");
        }
    }

    #[test]
    fn ids_are_shown_in_hexadecimal_digits() {
        let shown = format!("{:?}", TraceContext { trace_id: 0xab, span_id: 0xc });
        let trace = "000000000000000000000000000000ab";
        assert_eq!(
            shown,
            format!("TraceContext {{ trace_id: {trace}, span_id: 000000000000000c }}")
        );
    }
}
