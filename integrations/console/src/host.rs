//! The host that a request is for.
//!
//! A browser sends the host name that its page came from. The owner of another site may point a
//! name at this machine (DNS rebinding), to read what only this machine may read. But such a page
//! cannot have an address as its host, nor `localhost`.

use std::net::IpAddr;

use http::header::HOST;
use http::uri::Authority;
use http::{HeaderMap, Request};

/// Returns whether the `Host` of a request is this machine: `localhost`, a name under it, or a
/// loopback address.
#[cfg(feature = "server")]
pub(crate) fn names_this_machine(headers: &HeaderMap) -> bool {
    match named(headers) {
        Named::Address(address) => address.to_canonical().is_loopback(),
        Named::Name(name) => is_local(&name),
        Named::Nothing | Named::Nonsense => false,
    }
}

/// Returns whether a request may be answered: its host is `localhost`, a name under it, an address,
/// or one of `names`, where `*` stands for any. A request without a host is also allowed: no
/// browser sends one.
pub(crate) fn is_allowed<B>(request: &Request<B>, names: &[String]) -> bool {
    let host = match named(request.headers()) {
        // HTTP/2 has the host in the URI.
        Named::Nothing => request.uri().authority().map_or(Named::Nothing, host_of),
        host => host,
    };
    let is_listed =
        |name: &str| names.iter().any(|one| one == "*" || one.eq_ignore_ascii_case(name));
    match host {
        Named::Nothing | Named::Address(_) => true,
        Named::Name(name) => is_local(&name) || is_listed(&name),
        Named::Nonsense => false,
    }
}

/// The host of a request.
enum Named {
    Nothing,
    /// Several hosts, or an invalid one.
    Nonsense,
    Address(#[cfg_attr(not(feature = "server"), expect(dead_code))] IpAddr),
    /// A name, in lower case.
    Name(String),
}

fn named(headers: &HeaderMap) -> Named {
    let mut hosts = headers.get_all(HOST).iter();
    match (hosts.next(), hosts.next()) {
        (None, _) => Named::Nothing,
        (Some(host), None) => {
            Authority::try_from(host.as_bytes()).map_or(Named::Nonsense, |host| host_of(&host))
        }
        (Some(_), Some(_)) => Named::Nonsense,
    }
}

fn host_of(authority: &Authority) -> Named {
    let host = authority.host();
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let name = || Named::Name(host.to_ascii_lowercase());
    bare.parse().map_or_else(|_| name(), Named::Address)
}

fn is_local(name: &str) -> bool {
    name == "localhost" || name.ends_with(".localhost")
}

#[cfg(all(test, feature = "server"))]
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

    fn allowed(host: &str, names: &[&str]) -> bool {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        is_allowed(&Request::get("/").header(HOST, host).body(()).unwrap(), &names)
    }

    #[test]
    fn a_name_from_elsewhere_is_allowed_only_if_it_is_listed() {
        for host in
            ["localhost:80", "shop.localhost", "127.0.0.1", "10.1.2.3:9090", "[2001:db8::1]:80"]
        {
            assert!(allowed(host, &[]), "{host}");
        }
        for host in
            ["evil.example", "evil.example:80", "localhost.evil.example", "127.0.0.1.evil.example"]
        {
            assert!(!allowed(host, &[]), "{host}");
            assert!(!allowed(host, &["shop.example"]), "{host}");
            assert!(allowed(host, &["*"]), "{host}");
        }
        assert!(allowed("Shop.Example:8080", &["shop.example"]));
        let request = |uri: &str| Request::get(uri).body(()).unwrap();
        assert!(is_allowed(&request("/"), &[]), "within the process");
        assert!(!is_allowed(&request("http://evil.example/"), &[]), "HTTP/2");
    }
}
