//! The exporters that send to an OpenTelemetry collector.

mod observed;
mod sdk;
mod windrow;

use crate::send::Exporter;
use crate::table::Column;

pub(crate) fn all() -> [Column<Exporter>; 3] {
    [
        Column { head: "`windrow-otlp`", packages: &["windrow-otlp"], exporter: windrow::make },
        Column {
            head: "`windrow-opentelemetry`, SDK",
            packages: &["windrow-opentelemetry", "opentelemetry"],
            exporter: observed::make,
        },
        Column {
            head: "SDK, `opentelemetry-otlp` 0.33",
            packages: &["opentelemetry"],
            exporter: sdk::make,
        },
    ]
}
