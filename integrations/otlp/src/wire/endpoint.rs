//! The address of a collector.

use hyper::Uri;
use hyper::http::uri::PathAndQuery;

use crate::error::StartError;

/// The end of the path to which metrics are sent.
const PATH: &str = "/v1/metrics";

/// The address of a collector.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Endpoint {
    /// A name or an address, without brackets.
    pub(crate) host: String,
    pub(crate) port: u16,
    /// Host and port as they were given.
    pub(crate) authority: String,
    /// The path of requests.
    pub(crate) path: String,
}

impl Endpoint {
    /// Returns an endpoint of OTLP over HTTP.
    pub(crate) fn http(given: &str) -> Result<Endpoint, StartError> {
        let endpoint = Endpoint::parse(given)?;
        let base = endpoint.path.trim_end_matches('/');
        let path = if base.ends_with(PATH) { base.to_owned() } else { format!("{base}{PATH}") };
        Ok(Endpoint { path, ..endpoint })
    }

    /// Returns an endpoint of OTLP over gRPC.
    #[cfg(feature = "grpc")]
    pub(crate) fn grpc(given: &str) -> Result<Endpoint, StartError> {
        let endpoint = Endpoint::parse(given)?;
        if endpoint.path != "/" {
            return Err(wrong(given, "an endpoint of gRPC has no path"));
        }
        let path = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export".to_owned();
        Ok(Endpoint { path, ..endpoint })
    }

    fn parse(given: &str) -> Result<Endpoint, StartError> {
        let uri: Uri = given.parse().map_err(|_| wrong(given, "it is not a URL"))?;
        match uri.scheme_str() {
            Some("http") => {}
            Some("https") => {
                let rule =
                    "there is no TLS here: send to a collector beside the program, over http";
                return Err(wrong(given, rule));
            }
            _ => return Err(wrong(given, "it begins with `http://`")),
        }
        let authority = uri.authority().ok_or_else(|| wrong(given, "it has no host"))?;
        if authority.as_str().contains('@') {
            return Err(wrong(given, "it has no user: give a header instead"));
        }
        if uri.query().is_some() {
            return Err(wrong(given, "it has no query"));
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() {
            return Err(wrong(given, "it has no host"));
        }
        Ok(Endpoint {
            host: host.to_owned(),
            port: authority.port_u16().unwrap_or(80),
            authority: authority.to_string(),
            path: uri.path_and_query().map_or("/", PathAndQuery::path).to_owned(),
        })
    }
}

fn wrong(endpoint: &str, rule: &'static str) -> StartError {
    StartError::Endpoint { endpoint: endpoint.to_owned(), rule }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_is_appended_unless_it_is_there() {
        let path = |given| Endpoint::http(given).unwrap().path;
        assert_eq!(path("http://127.0.0.1:4318"), "/v1/metrics");
        assert_eq!(path("http://127.0.0.1:4318/"), "/v1/metrics");
        assert_eq!(path("http://collector/otlp/"), "/otlp/v1/metrics");
        assert_eq!(path("http://collector/otlp/v1/metrics"), "/otlp/v1/metrics");
    }

    #[test]
    fn hosts_and_ports_are_those_of_a_url() {
        let at = |given| Endpoint::http(given).map(|at| (at.host, at.port, at.authority)).unwrap();
        assert_eq!(at("http://a.b:4318"), ("a.b".into(), 4318, "a.b:4318".into()));
        assert_eq!(at("http://a.b"), ("a.b".into(), 80, "a.b".into()));
        assert_eq!(at("http://[::1]:4318"), ("::1".into(), 4318, "[::1]:4318".into()));
    }

    #[test]
    fn what_cannot_be_sent_to_is_refused() {
        let given =
            ["", "127.0.0.1:4318", "https://a", "ftp://a", "http://u:p@a", "http://a?b", "/v1"];
        for given in given {
            assert!(matches!(Endpoint::http(given), Err(StartError::Endpoint { .. })), "{given}");
        }
    }

    #[cfg(feature = "grpc")]
    #[test]
    fn grpc_has_its_own_path() {
        assert!(Endpoint::grpc("http://a:4317/").unwrap().path.ends_with("MetricsService/Export"));
        assert!(Endpoint::grpc("http://a:4317/x").is_err());
    }
}
