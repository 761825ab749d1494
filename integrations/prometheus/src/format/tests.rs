//! The choice of a format by headers.

use super::{Escaping, Format, Kind};

const TEXT: Format = Format::TEXT;
const OPEN: Format = Format::OPENMETRICS;

/// The formats other than protobuf.
const TEXTS: &[Kind] = &[Kind::Text, Kind::Text1, Kind::OpenMetrics];

/// The headers of clients, some with what they meant when they were released.
const CLIENTS: [(&str, Format); 9] = [
    // Prometheus 3, with and without protobuf; 2.50; 2.30, which knew a draft only.
    (
        "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.6,\
         application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,\
         application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,\
         text/plain;version=0.0.4;q=0.2,*/*;q=0.1",
        OPEN.with_escaping(Escaping::AllowUtf8),
    ),
    (
        "application/openmetrics-text;version=1.0.0;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,\
         text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
        OPEN,
    ),
    ("application/openmetrics-text; version=0.0.1,text/plain;version=0.0.4;q=0.5,*/*;q=0.1", TEXT),
    // A scraper that prefers the classic format.
    (
        "text/plain;version=0.0.4;q=0.6,application/openmetrics-text;version=1.0.0;q=0.5,*/*;q=0.1",
        TEXT,
    ),
    // curl; a browser; one that asks for protobuf only; the media types without versions.
    ("*/*", TEXT),
    ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", TEXT),
    ("application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily", TEXT),
    ("application/openmetrics-text", OPEN),
    ("text/plain", TEXT),
];

#[test]
fn clients_get_the_format_that_they_prefer() {
    for (accept, format) in CLIENTS {
        assert_eq!(Format::among(TEXTS, Some(accept)), format, "{accept}");
    }
    assert_eq!(Format::among(TEXTS, None), TEXT);
}

#[test]
fn weights_then_specificity_then_order_decide() {
    let table = [
        ("text/plain;q=0.4,application/openmetrics-text;q=0.5", OPEN),
        ("text/plain;q=0.501,application/openmetrics-text;q=0.5", TEXT),
        // A weight counts more than a specific name; with equal weights, that counts.
        ("application/openmetrics-text;version=1.0.0;q=0.4,*/*", TEXT),
        ("*/*,application/openmetrics-text", OPEN),
        ("text/*,application/openmetrics-text", OPEN),
        ("application/*,text/plain", TEXT),
        // Then the order.
        ("application/openmetrics-text,text/plain", OPEN),
        ("text/plain,application/openmetrics-text", TEXT),
        ("application/*,text/*", OPEN),
        // The most specific range gives the weight, wherever it stands.
        ("text/*;q=0.9,text/plain;q=0.1,application/openmetrics-text;q=0.5", OPEN),
        ("text/plain;version=0.0.4;q=0.1,text/plain,application/*;q=0.5", OPEN),
        // A refused format is not sent if the other is accepted.
        ("*/*,text/plain;q=0", OPEN),
        ("*/*;q=0.1,text/*;q=0", OPEN),
        ("application/openmetrics-text;q=0,*/*", TEXT),
        ("application/openmetrics-text;q=0.0,text/plain;q=0.001", TEXT),
        // Names are the same in either case; other parameters do not matter.
        ("Application/OpenMetrics-TEXT; Charset=utf-8; VERSION=\"1.0.0\"; Q=1.000", OPEN),
        // Versions that are not ours.
        ("application/openmetrics-text;version=2.0.0,text/plain;q=0.1", TEXT),
        ("application/openmetrics-text;version=,text/plain;q=0.1", TEXT),
        ("text/plain;version=1.0.0,application/openmetrics-text;q=0.1", Format::TEXT_1_0_0),
        ("text/plain;version=1.1.0,application/openmetrics-text;q=0.1", OPEN),
    ];
    for (accept, format) in table {
        assert_eq!(Format::among(TEXTS, Some(accept)), format, "{accept}");
    }
}

#[test]
fn hostile_headers_get_text() {
    let table = [
        "",
        " ",
        ",",
        ",,,;;;===",
        "/",
        "*",
        "*/",
        "/*",
        "*/plain",
        "q=1",
        ";q=1",
        "text",
        "\"",
        "\\",
        "application/openmetrics-text;q=0",
        "*/*;q=0",
        "application/openmetrics-text;q=",
        "application/openmetrics-text;q=2",
        "application/openmetrics-text;q=-1",
        "application/openmetrics-text;q=1.0000",
        "application/openmetrics-text;q=NaN",
        "application/openmetrics-text/",
        "application/ openmetrics-text",
        "image/png",
        "\"application/openmetrics-text\"",
        "x=\",application/openmetrics-text",
        "application/openmetrics-text;x=\",;version=\\\"\";version=\"2\"",
        "é/ü;q=ß\u{0}",
    ];
    for accept in table {
        assert_eq!(Format::among(TEXTS, Some(accept)), TEXT, "{accept:?}");
    }
    let long = "application/openmetrics-text;q=0,".repeat(10_000);
    assert_eq!(Format::among(TEXTS, Some(&long)), TEXT);
    let long =
        format!("{}application/openmetrics-text;version=1.0.0", "a/b;c=\"d\",".repeat(10_000));
    assert_eq!(Format::among(TEXTS, Some(&long)), OPEN);
}

#[test]
fn names_are_escaped_as_the_chosen_range_says() {
    let open = |escaping| OPEN.with_escaping(escaping);
    let table = [
        ("application/openmetrics-text;escaping=dots", open(Escaping::Dots)),
        ("application/openmetrics-text;escaping=\"values\"", open(Escaping::Values)),
        ("application/openmetrics-text;escaping=allow-utf-8", open(Escaping::AllowUtf8)),
        ("application/openmetrics-text;escaping=underscores", open(Escaping::Underscores)),
        ("application/openmetrics-text;escaping=allow-utf8", OPEN),
        ("application/openmetrics-text;escaping", OPEN),
        // The parameter of another range says nothing.
        ("application/openmetrics-text;escaping=dots;q=0.1,text/plain", TEXT),
        ("text/plain;escaping=dots;q=0.1,application/openmetrics-text", OPEN),
        // The old text format has plain names only.
        ("text/plain;escaping=allow-utf-8", TEXT.with_escaping(Escaping::Underscores)),
        (
            "text/plain;version=1.0.0;escaping=allow-utf-8,text/plain;version=0.0.4;q=0.5",
            Format::TEXT_1_0_0.with_escaping(Escaping::AllowUtf8),
        ),
    ];
    for (accept, format) in table {
        assert_eq!(Format::among(TEXTS, Some(accept)), format, "{accept}");
    }
}

#[cfg(feature = "protobuf")]
#[test]
fn protobuf_is_for_those_who_name_message_and_encoding() {
    // Prometheus 2.42 with native histograms.
    let delimited = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited";
    let open =
        "application/openmetrics-text;version=1.0.0;q=0.8,text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
    let accept = format!("{delimited},{open}");
    assert_eq!(Format::negotiate(Some(&accept)), Format::PROTOBUF);
    let accept = format!("{delimited};escaping=values;q=0.9,{open}");
    let expected = Format::PROTOBUF.with_escaping(Escaping::Values);
    assert_eq!(Format::negotiate(Some(&accept)), expected);
    assert_eq!(Format::negotiate(Some(&format!("{delimited};q=0.7,{open}"))), OPEN);
    for others in [
        "encoding=text",
        "encoding=delimited",
        "proto=io.prometheus.client.Metric;encoding=delimited",
    ] {
        let accept = format!("application/vnd.google.protobuf;{others},{open}");
        assert_eq!(Format::negotiate(Some(&accept)), OPEN, "{accept}");
    }
    assert_eq!(Format::negotiate(Some("*/*")), TEXT);
    assert_eq!(Format::negotiate(Some("application/*")), OPEN);
}
