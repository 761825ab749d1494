//! The URL of a server: `http://`, a host, a path.

use hyper::Uri;

/// The rule that a text breaks which is no URL at all.
const NO_URL: &str = "it is not a URL";

/// A checked URL without TLS, user and query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url(Uri);

impl Url {
    /// Checks a URL.
    ///
    /// # Errors
    ///
    /// Returns the rule that the URL breaks.
    ///
    /// ```
    /// use windrow_http::client::Url;
    ///
    /// assert_eq!(Url::parse("http://[::1]:9091/a").unwrap().path(), "/a");
    /// let rule = Url::parse("https://gateway:9091").unwrap_err();
    /// assert_eq!(rule, "there is no TLS here, only http");
    /// ```
    pub fn parse(given: &str) -> Result<Url, &'static str> {
        let uri: Uri = given.parse().map_err(|_| NO_URL)?;
        match uri.scheme_str() {
            Some("http") => {}
            Some("https") => return Err("there is no TLS here, only http"),
            _ => return Err("it begins with `http://`"),
        }
        let authority = uri.authority().ok_or("it has no host")?;
        if authority.as_str().contains('@') {
            return Err("it has no user: give a header instead");
        }
        if uri.query().is_some() {
            return Err("it has no query");
        }
        if authority.host().trim_matches(['[', ']']).is_empty() {
            return Err("it has no host");
        }
        let has_port = authority.as_str().len() > authority.host().len();
        if has_port && authority.port_u16().is_none() {
            return Err("its port is no number up to 65535");
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
    /// Returns the rule that the path breaks, if it has characters that no path can have.
    pub fn with_path(&self, path: &str) -> Result<Url, &'static str> {
        let mut parts = self.0.clone().into_parts();
        parts.path_and_query = Some(path.parse().map_err(|_| NO_URL)?);
        Uri::from_parts(parts).map(Url).map_err(|_| NO_URL)
    }

    pub(super) fn uri(&self) -> &Uri {
        &self.0
    }
}

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
