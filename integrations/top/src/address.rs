//! The address of a console.

use windrow_http::client::Url;

use crate::error::Error;

/// A host and a port, and the path at which the console is mounted.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Address {
    /// `HOST:PORT` or `HOST:PORT/PATH`, without a slash at its end.
    pub(crate) shown: String,
    /// The URL of the console's stream.
    pub(crate) events: Url,
}

impl Address {
    /// Reads `HOST:PORT` or `HOST:PORT/PATH`, also with `http://` before it.
    pub(crate) fn parse(given: &str) -> Result<Address, Error> {
        let refused = |why: &str| {
            let given = given.escape_debug();
            Error::Usage { says: format!("`{given}` is not HOST:PORT or HOST:PORT/PATH: {why}") }
        };
        if given.starts_with("https://") {
            return Err(refused("a console has no encryption of its own"));
        }
        let bare = given.strip_prefix("http://").unwrap_or(given);
        let bare = bare.split(['?', '#']).next().unwrap_or(bare).trim_end_matches('/');
        let authority = bare.split('/').next().unwrap_or(bare);
        let (host, _) = authority.rsplit_once(':').ok_or_else(|| refused("it has no port"))?;
        if host.contains(':') && !host.starts_with('[') {
            return Err(refused("an IPv6 address stands in brackets"));
        }
        let events = Url::parse(&format!("http://{bare}/events"));
        let events = events.map_err(|error| refused(error.rule))?;
        Ok(Address { shown: bare.to_owned(), events })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_a_port_and_a_path_are_told_apart() {
        for (given, shown, path) in [
            ("localhost:9090", "localhost:9090", "/events"),
            ("http://10.1.2.3:80/", "10.1.2.3:80", "/events"),
            ("shop.example:8080/console/", "shop.example:8080/console", "/console/events"),
            ("http://[::1]:9090/a/b#sort=p99", "[::1]:9090/a/b", "/a/b/events"),
        ] {
            let address = Address::parse(given).unwrap();
            assert_eq!((address.shown.as_str(), address.events.path()), (shown, path));
        }
    }

    #[test]
    fn a_wrong_address_is_named_with_the_rule() {
        for (given, why) in [
            ("shop", "no port"),
            ("shop:", "no number"),
            ("shop:70000", "no number"),
            (":80", "no host"),
            ("::1:80", "brackets"),
            ("https://shop:443", "encryption"),
            ("a:1/x\r\nHost: b", "not a URL"),
        ] {
            let error = Address::parse(given).unwrap_err().to_string();
            assert!(error.contains(why) && !error.contains('\r'), "{given}: {error}");
        }
    }
}
