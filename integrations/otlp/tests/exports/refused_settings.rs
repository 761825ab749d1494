//! Exporters that are refused at the start.

use std::sync::Arc;
use std::time::Duration;

use windrow::labels::RuntimeLabels;
use windrow::{Counter, Family, SlidingWindow, events, labels};
use windrow_otlp::{Exporter, StartError};

use crate::successes::NEVER;

events! { enum Http { Pass: Count } }
labels! { struct Event { event: str } }

fn to() -> Exporter {
    Exporter::to("http://127.0.0.1:9")
}

fn hits() -> Arc<Counter> {
    Arc::new(Counter::new())
}

fn error(exporter: Exporter) -> StartError {
    exporter.start(NEVER).expect_err("it is wrong")
}

#[test]
fn names_are_those_of_instruments() {
    let problem = |exporter| {
        let StartError::Name { name, problem } = error(exporter) else { panic!("another error") };
        (name, problem)
    };
    let named = |name: &str| problem(to().metric(name, "", hits())).1;
    assert_eq!(named(""), "is empty");
    for (name, wrong) in [("1a", '1'), ("a b", ' '), ("caf\u{e9}", '\u{e9}'), ("_a", '_')] {
        let problem = named(name);
        assert!(problem.starts_with(&format!("has {wrong:?}; ")), "{name} {problem}");
    }
    assert_eq!(named(&"a".repeat(256)), "has 256 characters, of 255 at most");
    let taken = |name: &str| (name.to_owned(), "is taken; case makes no difference".to_owned());
    let twice = to().metric("hits", "", hits()).metric("Hits", "", hits());
    assert_eq!(problem(twice), taken("Hits"));
    let window = Arc::new(SlidingWindow::<Http>::builder().build().unwrap());
    let suffix = to().metric("http.per_second", "", hits()).metric("http", "", window);
    assert_eq!(problem(suffix), taken("http.per_second"));
}

#[test]
fn labels_are_there_once_and_have_names() {
    let window = || SlidingWindow::<Http>::builder().build().unwrap();
    let family = Arc::new(Family::<Event, _, _>::with_constructor(window));
    let twice = error(to().metric("http", "", family));
    assert!(matches!(twice, StartError::LabelTwice { label } if label == "event"), "a window's");

    let names = ["otel.metric.overflow"];
    let family = Arc::new(Family::<RuntimeLabels, Counter>::with_names(names).unwrap());
    let overflow = error(to().metric("hits", "", family));
    assert!(matches!(overflow, StartError::LabelTwice { .. }), "{overflow}");
}

#[test]
fn the_way_to_the_collector_is_complete() {
    let tls = error(Exporter::to("https://127.0.0.1:4318").metric("hits", "", hits()));
    assert!(
        matches!(&tls, StartError::Endpoint { .. }) && tls.to_string().contains("TLS"),
        "{tls}"
    );
    let path = error(Exporter::to_grpc("http://127.0.0.1:4317/v1/metrics"));
    assert!(matches!(path, StartError::Endpoint { .. }), "{path}");
    assert!(matches!(error(to().header("a b", "c")), StartError::Header { name } if name == "a b"));
    assert!(matches!(error(to().header("a", "b\n")), StartError::Header { .. }));
    assert!(matches!(error(to().resource("", "b")), StartError::Resource { .. }));
    let twice = to().resource("service.name", "a").resource("service.name", "b");
    assert!(matches!(error(twice), StartError::Resource { .. }));
    assert!(matches!(to().start(Duration::ZERO), Err(StartError::NoPeriod)));
}
