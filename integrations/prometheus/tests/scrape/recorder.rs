//! The recorder of `windrow-metrics`: its protobuf has the series of its text.

use metrics::{counter, describe_counter, gauge, histogram};
use windrow::histogram::Scale;
use windrow_metrics::{Handle, Matcher, Recorder};
use windrow_prometheus::Format;
use windrow_prometheus::recorder::respond;

use crate::formats::samples;
use crate::spec::protobuf;
use crate::spec::text::{Rules, parse};

const PROTOBUF: &str = "application/vnd.google.protobuf;\
                        proto=io.prometheus.client.MetricFamily;encoding=delimited";

fn counted() -> Handle {
    let bytes = Scale::new(2, 64, 1 << 12).unwrap();
    let recorder = Recorder::builder()
        .global_label("zone", "e\"u")
        .buckets_for(Matcher::Full("at_bounds".into()), &[0.5, 2.0])
        .cells_for(Matcher::Suffix("_bytes".into()), bytes, 1)
        .build()
        .unwrap();
    metrics::with_local_recorder(&recorder, || {
        describe_counter!("http.requests", "By \\ and\nmore");
        counter!("http.requests", "path" => "a\n\"b\"\\").increment(3);
        counter!("http.requests", "path" => "/").increment(1);
        gauge!("load").set(-0.125);
        histogram!("at_bounds").record(1.5);
        (1..=1000).for_each(|value| histogram!("sent_bytes").record(f64::from(value)));
        histogram!("rt").record(0.25);
    });
    recorder.handle()
}

#[test]
fn a_recorders_protobuf_has_the_series_of_its_text_and_native_buckets() {
    let handle = counted();
    let answer = respond(&handle, Some(PROTOBUF), None);
    assert_eq!(answer.content_type, Format::PROTOBUF.content_type());
    let found = protobuf::parse(&answer.body);
    let text = String::from_utf8(respond(&handle, None, None).body).unwrap();
    assert_eq!(text, handle.render());
    let read = parse(&text.replace("\n\n", "\n"), Rules::Old).unwrap();
    let families: Vec<_> = found.iter().map(|found| found.family.clone()).collect();
    assert_eq!(samples(&families), samples(&read));
    let described = |families: &[crate::spec::Family]| {
        let all = families.iter();
        all.map(|it| (it.name.clone(), it.kind.clone(), it.help.clone())).collect::<Vec<_>>()
    };
    assert_eq!(described(&families), described(&read));
    let natives = |name: &str| {
        let found = found.iter().find(|found| found.family.name == name).unwrap();
        found.natives.values().map(|native| (native.schema, native.count)).collect::<Vec<_>>()
    };
    // Steps of 10^9 are no power of two.
    assert_eq!(
        (natives("sent_bytes"), natives("rt"), natives("at_bounds")),
        (vec![(2, 1000)], vec![], vec![])
    );
}

#[test]
fn a_recorder_answers_in_text_where_it_has_no_other_format() {
    let handle = counted();
    for accept in [None, Some("*/*"), Some("application/openmetrics-text;version=1.0.0")] {
        let answer = respond(&handle, accept, None);
        assert_eq!(answer.content_type, windrow_metrics::CONTENT_TYPE);
        assert_eq!(answer.body, handle.render().into_bytes());
    }
    let answer = respond(&handle, None, Some("gzip"));
    assert_eq!(answer.content_encoding, Some("gzip"));
}
