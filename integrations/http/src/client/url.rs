//! The URL of a server: `http://`, a host, a path.

use std::error::Error;
use std::fmt::{self, Display, Formatter};

use hyper::Uri;

/// A checked URL without TLS, user and query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url(Uri);

impl Url {
    /// Checks a URL.
    ///
    /// # Errors
    ///
    /// Returns [`UrlError`] with the rule that the URL breaks.
    ///
    /// ```
    /// use windrow_http::client::Url;
    ///
    /// assert_eq!(Url::parse("http://[::1]:9091/a").unwrap().path(), "/a");
    /// let error = Url::parse("https://gateway:9091").unwrap_err();
    /// assert_eq!(error.rule, "there is no TLS here, only http");
    /// ```
    pub fn parse(given: &str) -> Result<Url, UrlError> {
        let wrong = |rule| UrlError { rule };
        let uri: Uri = given.parse().map_err(|_| wrong("it is not a URL"))?;
        match uri.scheme_str() {
            Some("http") => {}
            Some("https") => return Err(wrong("there is no TLS here, only http")),
            _ => return Err(wrong("it begins with `http://`")),
        }
        let authority = uri.authority().ok_or_else(|| wrong("it has no host"))?;
        if authority.as_str().contains('@') {
            return Err(wrong("it has no user: give a header instead"));
        }
        if uri.query().is_some() {
            return Err(wrong("it has no query"));
        }
        if authority.host().trim_matches(['[', ']']).is_empty() {
            return Err(wrong("it has no host"));
        }
        let has_port = authority.as_str().len() > authority.host().len();
        if has_port && authority.port_u16().is_none() {
            return Err(wrong("its port is no number up to 65535"));
        }
        Ok(Url(uri))
    }

    /// Returns the path, which is `/` if none was given.
    #[must_use]
    pub fn path(&self) -> &str {
        self.0.path()
    }

    /// Returns this URL with another path, which begins with a slash.
    ///
    /// # Errors
    ///
    /// Returns [`UrlError`] if the path has characters that no path can have.
    pub fn with_path(&self, path: &str) -> Result<Url, UrlError> {
        let mut parts = self.0.clone().into_parts();
        let path = path.parse().map_err(|_| UrlError { rule: "it is not a URL" })?;
        parts.path_and_query = Some(path);
        Ok(Url(Uri::from_parts(parts).map_err(|_| UrlError { rule: "it is not a URL" })?))
    }

    pub(super) fn uri(&self) -> &Uri {
        &self.0
    }
}

/// The error of a URL that cannot be sent to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UrlError {
    /// The rule that the URL breaks.
    pub rule: &'static str,
}

impl Display for UrlError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.rule)
    }
}

impl Error for UrlError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_that_cannot_be_sent_to_is_refused() {
        let given = [
            "",
            "127.0.0.1:4318",
            "https://a",
            "ftp://a",
            "http://u:p@a",
            "http://a?b",
            "/v1",
            "http://",
            "http://[]/",
            "http://:80",
            "http://a b",
        ];
        for given in given {
            assert!(Url::parse(given).is_err(), "{given}");
        }
    }

    #[test]
    fn a_path_is_replaced() {
        let url = Url::parse("http://a.b:4318/x").unwrap();
        assert_eq!(url.with_path("/v1/metrics").unwrap().uri(), "http://a.b:4318/v1/metrics");
        assert!(url.with_path("/a b").is_err());
        assert_eq!(Url::parse("http://a").unwrap().path(), "/");
        assert_eq!(Url::parse("http://[::1]/a").unwrap().path(), "/a");
    }
}
