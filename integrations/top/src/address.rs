//! The address of a console.

use crate::error::Error;

/// A host, a port, and the path at which the console is mounted.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Address {
    /// The host, without the brackets of an IPv6 address.
    pub(crate) host: String,
    pub(crate) port: u16,
    /// The path without a slash at its end; empty if the console has the port for itself.
    pub(crate) path: String,
}

impl Address {
    /// Reads `HOST:PORT` or `HOST:PORT/PATH`, also with `http://` before it.
    pub(crate) fn parse(given: &str) -> Result<Address, Error> {
        let refused = |why: &str| {
            let given = given.escape_debug();
            Error::Usage { says: format!("`{given}` is not HOST:PORT or HOST:PORT/PATH: {why}") }
        };
        // It becomes a line of a request.
        if given.chars().any(|character| character.is_control() || character.is_whitespace()) {
            return Err(refused("it has a space or a control character"));
        }
        if given.starts_with("https://") {
            return Err(refused("a console has no encryption of its own"));
        }
        let bare = given.strip_prefix("http://").unwrap_or(given);
        let bare = bare.split(['?', '#']).next().unwrap_or(bare);
        let (authority, path) = bare.find('/').map_or((bare, ""), |slash| bare.split_at(slash));
        let (host, port) = authority.rsplit_once(':').ok_or_else(|| refused("it has no port"))?;
        let port = port.parse().map_err(|_| refused("the port is not a number up to 65535"))?;
        let in_brackets = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let host = in_brackets.unwrap_or(host);
        if host.is_empty() {
            return Err(refused("it has no host"));
        }
        if in_brackets.is_none() && host.contains(':') {
            return Err(refused("an IPv6 address stands in brackets"));
        }
        let path = path.trim_end_matches('/').to_owned();
        Ok(Address { host: host.to_owned(), port, path })
    }

    /// Returns the host and the port as a request names them.
    pub(crate) fn authority(&self) -> String {
        let Address { host, port, .. } = self;
        if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_a_port_and_a_path_are_told_apart() {
        for (given, authority, path) in [
            ("localhost:9090", "localhost:9090", ""),
            ("http://10.1.2.3:80/", "10.1.2.3:80", ""),
            ("shop.example:8080/console/", "shop.example:8080", "/console"),
            ("http://[::1]:9090/a/b#sort=p99", "[::1]:9090", "/a/b"),
        ] {
            let address = Address::parse(given).unwrap();
            assert_eq!((address.authority(), address.path), (authority.into(), path.into()));
        }
    }

    #[test]
    fn a_wrong_address_is_named_with_the_rule() {
        for (given, why) in [
            ("shop", "no port"),
            ("shop:", "not a number"),
            ("shop:70000", "not a number"),
            (":80", "no host"),
            ("::1:80", "brackets"),
            ("https://shop:443", "encryption"),
            ("a:1/x\r\nHost: b", "control character"),
        ] {
            let error = Address::parse(given).unwrap_err().to_string();
            assert!(error.contains(why) && !error.contains('\r'), "{given}: {error}");
        }
    }
}
