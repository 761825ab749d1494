//! The URL to which metrics are sent.

use windrow_http::client::{Url, UrlError};

use crate::error::StartError;

/// The end of the path of OTLP over HTTP.
const PATH: &str = "/v1/metrics";

/// The path of OTLP over gRPC.
#[cfg(feature = "grpc")]
const METHOD: &str = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export";

/// Returns the URL of OTLP over HTTP.
pub(super) fn http(given: &str) -> Result<Url, StartError> {
    let url = Url::parse(given).map_err(wrong(given))?;
    let base = url.path().trim_end_matches('/');
    let path = if base.ends_with(PATH) { base.to_owned() } else { format!("{base}{PATH}") };
    url.with_path(&path).map_err(wrong(given))
}

/// Returns the URL of OTLP over gRPC.
#[cfg(feature = "grpc")]
pub(super) fn grpc(given: &str) -> Result<Url, StartError> {
    let url = Url::parse(given).map_err(wrong(given))?;
    if url.path() != "/" {
        let rule = "an endpoint of gRPC has no path";
        return Err(StartError::Endpoint { endpoint: given.to_owned(), rule });
    }
    url.with_path(METHOD).map_err(wrong(given))
}

fn wrong(endpoint: &str) -> impl Fn(UrlError) -> StartError {
    move |error| StartError::Endpoint { endpoint: endpoint.to_owned(), rule: error.rule }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_is_appended_unless_it_is_there() {
        let path = |given| http(given).unwrap().path().to_owned();
        assert_eq!(path("http://127.0.0.1:4318"), "/v1/metrics");
        assert_eq!(path("http://127.0.0.1:4318/"), "/v1/metrics");
        assert_eq!(path("http://collector/otlp/"), "/otlp/v1/metrics");
        assert_eq!(path("http://collector/otlp/v1/metrics"), "/otlp/v1/metrics");
    }

    #[test]
    fn what_cannot_be_sent_to_is_refused_by_its_name() {
        let error = http("https://a").unwrap_err().to_string();
        assert!(error.contains("https://a") && error.contains("TLS"), "{error}");
    }

    #[cfg(feature = "grpc")]
    #[test]
    fn grpc_has_its_own_path() {
        assert!(grpc("http://a:4317/").unwrap().path().ends_with("MetricsService/Export"));
        assert!(grpc("http://a:4317/x").is_err());
    }
}
