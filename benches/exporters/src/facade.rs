//! The recorders of the facade `metrics`, which Prometheus scrapes.

mod theirs;
mod windrow;

use metrics::{Unit, counter, describe_counter, describe_histogram, histogram};

use crate::scrape::{CROWD, Exporter, HELP, HOSTILE, Scene, UNNAMABLE};
use crate::table::Column;

pub(crate) fn all() -> [Column<Exporter>; 2] {
    [
        Column {
            head: "`windrow-metrics`",
            packages: &["windrow-metrics"],
            exporter: windrow::make,
        },
        Column {
            head: "`metrics-exporter-prometheus` 0.18",
            packages: &["metrics-exporter-prometheus"],
            exporter: theirs::make,
        },
    ]
}

/// Plays a scene by the macros. Returns false if they have no call for it.
fn play(scene: Scene) -> bool {
    match scene {
        Scene::Hits | Scene::Idle => counter!("hits", "path" => "/cart").increment(3),
        Scene::Hostile => {
            describe_counter!("hits", HELP.repeat(500));
            counter!("hits", "path" => HOSTILE).increment(3);
        }
        Scene::Crowd => {
            (0..CROWD).for_each(|n| counter!("hits", "path" => n.to_string()).increment(1));
        }
        Scene::Unnamable => counter!(UNNAMABLE).increment(1),
        Scene::Twice => {
            counter!("http.hits").increment(1);
            counter!("http_hits").increment(2);
        }
        Scene::Utf8 => counter!("http.hits").increment(3),
        Scene::Seconds => {
            describe_histogram!("rt", Unit::Seconds, "Response times");
            histogram!("rt").record(0.25);
        }
        Scene::Native => (1..=1000).for_each(|value| histogram!("rt").record(f64::from(value))),
        // Counters of the facade are whole numbers, without exemplars.
        Scene::Info | Scene::Halves | Scene::Exemplar => return false,
    }
    true
}
