//! The fields of settings, as serde reads them.

use std::time::Duration;

use serde_core::de::{Error, MapAccess};

use crate::rules::geometry::Geometry;
use crate::rules::places::Places;
use crate::rules::rate::Rate;
use crate::rules::readable::{Fields, Readable};

macro_rules! fields {
    ($fields:ident, $what:literal { $( $field:ident: $type:ty = $name:literal, )* }) => {
        #[derive(Default)]
        pub struct $fields {
            $( $field: Option<$type>, )*
        }

        impl Fields for $fields {
            const WHAT: &'static str = $what;
            const NAMES: &'static [&'static str] = &[$( $name, )*];
            const NAMES_OF_RULE: &'static [&'static str] = &["match", $( $name, )*];

            fn read<'de, A: MapAccess<'de>>(
                &mut self,
                name: &'static str,
                map: &mut A,
            ) -> Result<(), A::Error> {
                let is_new = match name {
                    $( $name => self.$field.replace(map.next_value()?).is_none(), )*
                    _ => true,
                };
                if is_new { Ok(()) } else { Err(A::Error::duplicate_field(name)) }
            }
        }
    };
}

fields! {
    RateFields, "an object of a rate" {
        limit: u64 = "limit",
        interval: u64 = "interval_ms",
        buckets: usize = "buckets",
        strict: bool = "strict",
        max_wait: u64 = "max_wait_ms",
        burst: u64 = "burst",
    }
}

fields! {
    PlacesFields, "an object of places" {
        places: u64 = "places",
    }
}

fields! {
    GeometryFields, "an object of a geometry" {
        interval: u64 = "interval_ms",
        buckets: usize = "buckets",
    }
}

impl Readable for Rate {
    type Fields = RateFields;

    const HAS_WEIGHTS: bool = true;

    fn of_fields(fields: RateFields, default: Option<Rate>) -> Result<Rate, &'static str> {
        let default = match default {
            Some(default) => default,
            None => Rate::new(fields.limit.ok_or("limit")?),
        };
        Ok(Rate {
            limit: fields.limit.unwrap_or(default.limit),
            interval: fields.interval.map_or(default.interval, Duration::from_millis),
            buckets: fields.buckets.unwrap_or(default.buckets),
            strict: fields.strict.unwrap_or(default.strict),
            max_wait: fields.max_wait.map_or(default.max_wait, Duration::from_millis),
            burst: fields.burst.or(default.burst),
        })
    }
}

impl Readable for Places {
    type Fields = PlacesFields;

    const HAS_WEIGHTS: bool = false;

    fn of_fields(fields: PlacesFields, default: Option<Places>) -> Result<Places, &'static str> {
        let places = fields.places.or(default.map(|default| default.places));
        places.map(Places::new).ok_or("places")
    }
}

impl Readable for Geometry {
    type Fields = GeometryFields;

    const HAS_WEIGHTS: bool = false;

    fn of_fields(
        fields: GeometryFields,
        default: Option<Geometry>,
    ) -> Result<Geometry, &'static str> {
        let interval = fields.interval.map(Duration::from_millis);
        let interval = interval.or(default.map(|default| default.interval)).ok_or("interval_ms")?;
        let buckets = fields.buckets.or(default.map(|default| default.buckets)).ok_or("buckets")?;
        Ok(Geometry::new(interval, buckets))
    }
}
