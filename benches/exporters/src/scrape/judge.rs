//! The judges of a scrape: each looks at bytes.

use std::io::Read;
use std::thread;
use std::time::{Duration, Instant};

use flate2::read::GzDecoder;

use super::{CROWD, Exporter, Form, HOSTILE, LIMIT, Made, Metrics, Names, Scene, TRACE};
use crate::http::{PATIENCE, get, listen};
use crate::read::protobuf;
use crate::read::text::{self, Sample, Text};

const OPENMETRICS: Form = Form::OpenMetrics(Names::Underscores);

/// The formats of text.
const TEXTS: [Form; 3] = [Form::Text, Form::Text1(Names::Underscores), OPENMETRICS];

/// The formats with times of creation, units and exemplars.
const RICH: [Form; 2] = [OPENMETRICS, Form::Protobuf];

const IN_UTF_8: [Form; 3] =
    [Form::Text1(Names::Utf8), Form::OpenMetrics(Names::Utf8), Form::Protobuf];

const PROTOBUF: &str = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;\
                        encoding=delimited";

fn metrics(exporter: Exporter, scene: Scene) -> Option<Box<dyn Metrics>> {
    match exporter(scene) {
        Made::Metrics(metrics) => Some(metrics),
        Made::Refused | Made::Lacking => None,
    }
}

/// Returns whether one of the bodies that there are in these formats is right, or `None` if there
/// are none.
fn any(
    exporter: Exporter,
    scene: Scene,
    forms: &[Form],
    is_right: impl Fn(&[u8], Form) -> bool,
) -> Option<bool> {
    let metrics = metrics(exporter, scene)?;
    let bodies: Vec<_> =
        forms.iter().filter_map(|form| Some((metrics.body(*form)?, *form))).collect();
    (!bodies.is_empty()).then(|| bodies.iter().any(|(body, form)| is_right(body, *form)))
}

/// Returns whether a body is a text of which one sample is right.
fn has(body: &[u8], is_right: impl Fn(&Sample) -> bool) -> bool {
    text::read(body).is_some_and(|text| text.samples.iter().any(is_right))
}

/// Returns whether all texts of an exporter are right.
fn all(metrics: &dyn Metrics, is_right: impl Fn(&Text) -> bool) -> bool {
    let mut bodies = TEXTS.iter().filter_map(|form| metrics.body(*form));
    bodies.all(|body| text::read(&body).is_some_and(|text| is_right(&text)))
}

/// Returns whether a body is in a format and has the sample of [`Scene::Hits`].
fn has_hits(body: &[u8], form: Form) -> bool {
    if form == Form::Protobuf {
        let is_cart = |label: &protobuf::Label| label.name == "path" && label.value == "/cart";
        let families = protobuf::read(body).unwrap_or_default();
        let mut hits = families.iter().filter(|family| family.name.starts_with("hits"));
        return hits.any(|family| {
            let metric = family.metrics.iter().find(|metric| metric.labels.iter().any(is_cart));
            let counter = metric.and_then(|metric| metric.counter.as_ref());
            counter.is_some_and(|counter| same(counter.value, 3.0))
        });
    }
    let Some(text) = text::read(body) else { return false };
    let Some(hits) = hits(&text) else { return false };
    let is_openmetrics = matches!(form, Form::OpenMetrics(_));
    // The name of the type is the sample's, in OpenMetrics without the suffix.
    let name = if is_openmetrics { hits.name.strip_suffix("_total") } else { Some(&*hits.name) };
    let kind = name.and_then(|name| text.types.get(name)).map(String::as_str);
    same(hits.value, 3.0) && kind == Some("counter") && text.has_end == is_openmetrics
}

fn same(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-9
}

/// Returns the sample of [`Scene::Hits`].
fn hits(text: &Text) -> Option<&Sample> {
    let mut samples = text.named("hits_total").chain(text.named("hits"));
    samples.find(|sample| sample.label("path") == Some("/cart"))
}

pub(super) fn text(exporter: Exporter) -> Option<bool> {
    any(exporter, Scene::Hits, &[Form::Text], has_hits)
}

pub(super) fn text_1(exporter: Exporter) -> Option<bool> {
    let form = Form::Text1(Names::Utf8);
    let is_quoted = |sample: &Sample| sample.is_quoted && sample.name.contains("http.hits");
    let quoted = any(exporter, Scene::Utf8, &[form], |body, _| has(body, is_quoted))?;
    Some(quoted && any(exporter, Scene::Hits, &[form], has_hits)?)
}

pub(super) fn openmetrics(exporter: Exporter) -> Option<bool> {
    any(exporter, Scene::Hits, &[OPENMETRICS], has_hits)
}

pub(super) fn protobuf(exporter: Exporter) -> Option<bool> {
    any(exporter, Scene::Hits, &[Form::Protobuf], has_hits)
}

pub(super) fn native(exporter: Exporter) -> Option<bool> {
    any(exporter, Scene::Native, &[Form::Protobuf], |body, _| {
        let families = protobuf::read(body).unwrap_or_default();
        let mut metrics = families.iter().flat_map(|family| &family.metrics);
        metrics.any(|metric| {
            metric.histogram.as_ref().is_some_and(|histogram| {
                let buckets: u32 = histogram.positive_spans.iter().map(|span| span.length).sum();
                histogram.schema.is_some() && buckets > 1
            })
        })
    })
}

/// Two scrapers that ask for different formats get them.
pub(super) fn accept(exporter: Exporter) -> Option<bool> {
    let metrics = metrics(exporter, Scene::Hits)?;
    let asked = [
        ("text/plain;version=0.0.4", "text/plain", Form::Text),
        ("application/openmetrics-text;version=1.0.0", "application/openmetrics", OPENMETRICS),
        (PROTOBUF, "application/vnd.google.protobuf", Form::Protobuf),
    ];
    let mut right = 0;
    for (accept, media, form) in asked {
        let answer = metrics.answer(accept, "identity")?;
        let is_media = answer.content_type.starts_with(media);
        right += usize::from(is_media && has_hits(&answer.body, form));
    }
    Some(right > 1)
}

/// A body of some KiB is compressed for a scraper that accepts it.
pub(super) fn gzip(exporter: Exporter) -> Option<bool> {
    let metrics = metrics(exporter, Scene::Hostile)?;
    let answer = metrics.answer("text/plain;version=0.0.4", "gzip")?;
    if answer.content_encoding != "gzip" {
        return None; // it does not say whether it could: its sources do
    }
    let mut plain = Vec::new();
    let is_gzip = GzDecoder::new(&answer.body[..]).read_to_end(&mut plain).is_ok();
    Some(is_gzip && text::read(&plain).is_some())
}

pub(super) fn utf_8(exporter: Exporter) -> Option<bool> {
    any(exporter, Scene::Utf8, &IN_UTF_8, |body, form| {
        if form == Form::Protobuf {
            let families = protobuf::read(body).unwrap_or_default();
            return families.iter().any(|family| family.name.starts_with("http.hits"));
        }
        has(body, |sample| sample.name.starts_with("http.hits"))
    })
}

/// One name is escaped by each scheme. (Hexadecimal digits may be great or small.)
pub(super) fn escaping(exporter: Exporter) -> Option<bool> {
    let schemes = [
        (Names::Underscores, "http_hits"),
        (Names::Dots, "http_dot_hits"),
        (Names::Values, "u__http_2e_hits"),
    ];
    let mut all = true;
    for (names, escaped) in schemes {
        let forms = [Form::Text1(names), Form::OpenMetrics(names)];
        all &= any(exporter, Scene::Utf8, &forms, |body, _| {
            has(body, |sample| sample.name.to_lowercase().starts_with(escaped))
        })?;
    }
    Some(all)
}

pub(super) fn info(exporter: Exporter) -> Option<bool> {
    any(exporter, Scene::Info, &TEXTS, |body, _| {
        has(body, |sample| {
            let is_info = sample.name == "build_info" && same(sample.value, 1.0);
            is_info && sample.label("version") == Some("1")
        })
    })
}

pub(super) fn units(exporter: Exporter) -> Option<bool> {
    any(exporter, Scene::Seconds, &RICH, |body, form| {
        if form == Form::Protobuf {
            let families = protobuf::read(body).unwrap_or_default();
            return families.iter().any(|family| family.unit == "seconds");
        }
        text::read(body).is_some_and(|text| text.units.values().any(|unit| unit == "seconds"))
    })
}

/// Returns the time of creation of [`Scene::Hits`], in seconds.
fn time(body: &[u8], form: Form) -> Option<f64> {
    if form == Form::Protobuf {
        let families = protobuf::read(body)?;
        let mut metrics = families.iter().flat_map(|family| &family.metrics);
        let time = metrics.find_map(|metric| metric.counter.as_ref()?.created)?;
        return Some(time.seconds as f64 + f64::from(time.nanos) / 1e9);
    }
    Some(text::read(body)?.named("hits_created").next()?.value)
}

pub(super) fn created(exporter: Exporter) -> Option<bool> {
    any(exporter, Scene::Hits, &RICH, |body, form| time(body, form).is_some_and(|time| time > 1e9))
}

pub(super) fn created_again(exporter: Exporter) -> Option<bool> {
    if created(exporter) != Some(true) {
        return Some(false);
    }
    let metrics = metrics(exporter, Scene::Hits)?;
    let times = || RICH.map(|form| metrics.body(form).and_then(|body| time(&body, form)));
    let before = times();
    thread::sleep(Duration::from_millis(20)); // the times differ
    if !metrics.make_again() {
        return None;
    }
    Some(times().iter().zip(before).any(|(now, before)| before.is_some() && *now > before))
}

pub(super) fn fractions(exporter: Exporter) -> Option<bool> {
    any(exporter, Scene::Halves, &TEXTS, |body, _| {
        let Some(text) = text::read(body) else { return false };
        let is_counter = |name: &str| text.types.get(name).is_some_and(|kind| kind == "counter");
        text.samples.iter().any(|sample| {
            let name = &sample.name;
            same(sample.value, 1.5)
                && (is_counter(name) || is_counter(name.trim_end_matches("_total")))
        })
    })
}

pub(super) fn exemplars(exporter: Exporter) -> Option<bool> {
    any(exporter, Scene::Exemplar, &RICH, |body, form| {
        if form == Form::Protobuf {
            let families = protobuf::read(body).unwrap_or_default();
            let mut metrics = families.iter().flat_map(|family| &family.metrics);
            return metrics.any(|metric| {
                let exemplar =
                    metric.counter.as_ref().and_then(|counter| counter.exemplar.as_ref());
                exemplar.is_some_and(|it| it.labels.iter().any(|label| label.value == TRACE))
            });
        }
        has(body, |sample| sample.exemplar.as_ref().is_some_and(|it| it.contains(TRACE)))
    })
}

/// All texts can be read, and have the label's value.
pub(super) fn hostile(exporter: Exporter) -> Option<bool> {
    let metrics = metrics(exporter, Scene::Hostile)?;
    Some(all(&*metrics, |text| {
        text.samples.iter().any(|sample| sample.label("path") == Some(HOSTILE))
    }))
}

/// The name is refused, or all texts can be read.
pub(super) fn unnamable(exporter: Exporter) -> Option<bool> {
    match exporter(Scene::Unnamable) {
        Made::Lacking => None,
        Made::Refused => Some(true),
        Made::Metrics(metrics) => Some(all(&*metrics, |_| true)),
    }
}

/// The second metric is refused, or all that was counted is there, and nothing twice.
pub(super) fn twice(exporter: Exporter) -> Option<bool> {
    let counted = |text: &Text| {
        let hits = text.samples.iter().filter(|sample| sample.name.contains("hits"));
        let hits = hits.filter(|sample| !sample.name.ends_with("_created"));
        hits.map(|sample| sample.value).sum::<f64>()
    };
    match exporter(Scene::Twice) {
        Made::Lacking => None,
        Made::Refused => Some(true),
        Made::Metrics(metrics) => Some(all(&*metrics, |text| same(counted(text), 3.0))),
    }
}

pub(super) fn listener(exporter: Exporter) -> Option<bool> {
    let metrics = metrics(exporter, Scene::Hits)?;
    let answer = get(metrics.listen()?, "text/plain;version=0.0.4", "identity").ok()?;
    Some(answer.line.contains(" 200 ") && has_hits(&answer.body, Form::Text))
}

pub(super) fn push(exporter: Exporter) -> Option<bool> {
    let metrics = metrics(exporter, Scene::Hits)?;
    let (gateway, requests) = listen(&[]);
    if !metrics.push(gateway) {
        return None;
    }
    let Ok(request) = requests.recv_timeout(PATIENCE) else { return Some(false) };
    let is_push = request.line.starts_with("PUT ") || request.line.starts_with("POST ");
    let content = request.header("content-type").unwrap_or_default();
    let form = if content.contains("protobuf") { Form::Protobuf } else { Form::Text };
    Some(is_push && request.line.contains("/metrics/job/") && has_hits(&request.body, form))
}

/// There are no more series than the limit and one, which is named as the rest; no count is lost.
pub(super) fn bounded(exporter: Exporter) -> Option<bool> {
    let metrics = metrics(exporter, Scene::Crowd)?;
    let text = text::read(&metrics.body(Form::Text)?)?;
    let series: Vec<_> = text.named("hits_total").chain(text.named("hits")).collect();
    if series.len() == CROWD {
        return None; // there is no limit
    }
    let is_rest = |sample: &Sample| {
        sample.labels.iter().any(|(name, value)| name.contains("overflow") && value == "true")
    };
    let total = series.iter().map(|sample| sample.value).sum();
    let has_rest = series.iter().any(|sample| is_rest(sample));
    Some(series.len() <= LIMIT + 1 && has_rest && same(total, CROWD as f64))
}

pub(super) fn idle(exporter: Exporter) -> Option<bool> {
    let metrics = metrics(exporter, Scene::Idle)?;
    if !metrics.has_idle_timeout() {
        return None;
    }
    let begun = Instant::now();
    let mut was_there = false;
    while begun.elapsed() < PATIENCE {
        let text = text::read(&metrics.body(Form::Text)?)?;
        if hits(&text).is_none() {
            return Some(was_there);
        }
        was_there = true;
        thread::sleep(Duration::from_millis(20));
    }
    Some(false)
}
