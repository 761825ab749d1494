//! Hosts that are this machine, and hosts that may be answered.

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
    for host in ["localhost:80", "shop.localhost", "127.0.0.1", "10.1.2.3:9090", "[2001:db8::1]:80"]
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
