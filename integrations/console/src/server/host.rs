//! Whom a request is for.

use std::net::IpAddr;

use http::HeaderMap;
use http::header::HOST;
use http::uri::Authority;

/// Whether the `Host` of a request is this machine: `localhost`, a name under it, or a loopback address.
///
/// A browser sends the name that its page came from. A page from elsewhere, whose name somebody lets point to this machine, has
/// another one.
pub(super) fn names_this_machine(headers: &HeaderMap) -> bool {
    let mut hosts = headers.get_all(HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
    let Ok(authority) = Authority::try_from(host.as_bytes()) else { return false };
    let host = authority.host();
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    if let Ok(address) = bare.parse::<IpAddr>() {
        return address.to_canonical().is_loopback();
    }
    let name = host.to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost")
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn is_ours(host: &'static str) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_static(host));
        names_this_machine(&headers)
    }

    #[test]
    fn this_machine_has_some_names() {
        let names = ["localhost", "LocalHost:9090", "shop.localhost", "127.0.0.1:80", "127.9.9.9"];
        assert!(names.into_iter().all(is_ours));
        assert!(is_ours("[::1]:9090"));
        assert!(is_ours("[::ffff:127.0.0.1]"));
    }

    #[test]
    fn other_names_are_refused() {
        let names = ["evil.example", "localhost.evil.example", "evillocalhost", "10.0.0.1", ""];
        assert!(!names.into_iter().any(is_ours));
        assert!(!is_ours("127.0.0.1.evil.example"));
        assert!(!is_ours("[2001:db8::1]:80"));
        assert!(!names_this_machine(&HeaderMap::new()));
    }

    #[test]
    fn two_hosts_are_none() {
        let mut headers = HeaderMap::new();
        headers.append(HOST, HeaderValue::from_static("localhost"));
        headers.append(HOST, HeaderValue::from_static("evil.example"));
        assert!(!names_this_machine(&headers));
    }
}
