//! The exporters that Prometheus scrapes.

mod fastmetrics;
mod opentelemetry;
mod prometheus_client;
mod windrow;

use crate::scrape::Exporter;
use crate::table::Column;

pub(crate) fn all() -> [Column<Exporter>; 4] {
    [
        Column {
            head: "`windrow-prometheus`",
            packages: &["windrow-prometheus"],
            exporter: windrow::make,
        },
        Column {
            head: "`prometheus-client` 0.26",
            packages: &["prometheus-client"],
            exporter: prometheus_client::make,
        },
        Column {
            head: "`fastmetrics` 0.7",
            packages: &["fastmetrics"],
            exporter: fastmetrics::make,
        },
        Column {
            head: "`opentelemetry-prometheus` 0.33",
            packages: &["opentelemetry-prometheus", "prometheus"],
            exporter: opentelemetry::make,
        },
    ]
}
