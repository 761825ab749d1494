//! The host that a request is for.
//!
//! A browser sends the host name that its page came from. The owner of another site may point a
//! name at this machine (DNS rebinding), to read what only this machine may read. But such a page
//! cannot have an address as its host, nor `localhost`.

#[cfg(test)]
mod tests;

use std::net::IpAddr;

use http::header::HOST;
use http::uri::Authority;
use http::{HeaderMap, Request};

/// Returns whether the `Host` of a request is this machine: `localhost`, a name under it, or a
/// loopback address.
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
    Address(IpAddr),
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
