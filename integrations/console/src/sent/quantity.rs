//! A number with its unit, as people read it.

use super::words::{bytes, date, time};
use crate::read::number::Number;
use crate::shown::unit::Unit;

/// Returns a number in words: `57.2 MiB`, `12.3 s`, `2026-11-28 05:26:57 UTC`.
pub(crate) fn quantity(number: Number, unit: Unit) -> String {
    let Some(real) = number.as_f64() else { return "none".to_owned() };
    match unit {
        Unit::None => plain(number),
        Unit::Bytes => bytes(real),
        Unit::Seconds => time(real * 1e9),
        Unit::Moment => date(real),
    }
}

/// Returns a number without a unit.
pub(crate) fn plain(number: Number) -> String {
    match number {
        Number::None => "none".to_owned(),
        Number::Whole(number) => number.to_string(),
        Number::Real(number) if number.fract() == 0.0 && number.abs() < 1e15 => format!("{number}"),
        Number::Real(number) => format!("{number:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_unit_has_its_words() {
        let of = |number, unit| quantity(Number::real(number), unit).replace('\u{202f}', " ");
        assert_eq!(of(59_768_832.0, Unit::Bytes), "57 MiB");
        assert_eq!(of(12.34, Unit::Seconds), "12.3 s");
        assert_eq!(of(0.0015, Unit::Seconds), "1.5 ms");
        assert_eq!(of(1_795_843_617.0, Unit::Moment), "2026-11-28 05:26:57 UTC");
        assert_eq!(of(31.0, Unit::None), "31");
        assert_eq!(of(0.75, Unit::None), "0.75");
        assert_eq!(of(f64::NAN, Unit::Bytes), "none");
        assert_eq!(quantity(Number::Whole(-2_048), Unit::Bytes), "-2\u{202f}KiB");
        assert_eq!(quantity(Number::whole(u64::MAX), Unit::None), u64::MAX.to_string());
    }
}
