//! An engine over TLS, with certificates that the test makes by `openssl`.

use std::env;
use std::path::Path;
use std::process::{Command, Stdio};

use windrow::AtMost;
use windrow_redis::{Engine, SharedError, SharedGate};

use crate::server::{LONG, Server, bound, free_port};

const URL: &str = "TLS_URL";

/// A client of its own process, which trusts the certificates of `SSL_CERT_FILE`.
#[test]
#[ignore = "part of another test, which starts it"]
fn client() {
    let Ok(url) = env::var(URL) else { return };
    let gate = SharedGate::builder(AtMost(10)).buckets(2).connect(&url).unwrap();
    assert!(gate.admit_blocking(1, LONG).is_granted());
    assert!(!format!("{gate:?}").contains("s3cret"));
}

#[test]
fn an_engine_is_reached_over_tls_if_its_certificate_is_trusted() {
    let folder = tempfile::tempdir().unwrap();
    if !certificates(folder.path()) {
        eprintln!("NOT RUN: there is no `openssl` here");
        return;
    }
    let path = |name: &str| folder.path().join(name).display().to_string();
    let port = free_port().to_string();
    let (certificate, key, root) = (path("it.crt"), path("it.key"), path("root.crt"));
    let options = ["--tls-port", &port, "--tls-cert-file", &certificate, "--tls-key-file", &key];
    let more = ["--tls-ca-cert-file", &root, "--tls-auth-clients", "no", "--requirepass", "s3cret"];
    if Command::new("redis-server").arg("--version").stdout(Stdio::null()).status().is_err() {
        eprintln!("NOT RUN: there is no `redis-server` here");
        return;
    }
    let _server = Server::start("redis-server", &[&options[..], &more].concat());
    let url = format!("rediss://:s3cret@localhost:{port}/");
    let error = Engine::connect(&url).unwrap_err();
    assert!(matches!(error, SharedError::Unreachable { .. }), "not trusted: {error:?}");
    assert!(!format!("{error} {error:?}").contains("s3cret"), "{error:?}");
    let insecure = Engine::connect(&format!("{url}#insecure")).unwrap_err();
    assert!(matches!(insecure, SharedError::Url { .. }), "{insecure:?}");
    let mut trusting = Command::new(env::current_exe().unwrap());
    trusting.args(["--exact", "tls::client", "--ignored"]).env(URL, &url);
    trusting.env("SSL_CERT_FILE", &root).stdout(Stdio::null());
    assert!(bound(&mut trusting).status().unwrap().success());
}

/// Makes a root, and a certificate of `localhost` that it has signed. Returns whether it could.
fn certificates(folder: &Path) -> bool {
    let openssl = |words: &str| {
        let mut command = Command::new("openssl");
        command.current_dir(folder).args(words.split(' ')).stderr(Stdio::null());
        command.stdout(Stdio::null()).status().is_ok_and(|status| status.success())
    };
    std::fs::write(folder.join("names"), "subjectAltName=DNS:localhost\n").unwrap();
    let curve = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    openssl(&format!("req -x509 {curve} -keyout root.key -out root.crt -subj /CN=root -days 2"))
        && openssl(&format!("req {curve} -keyout it.key -out it.csr -subj /CN=localhost"))
        && openssl(
            "x509 -req -in it.csr -CA root.crt -CAkey root.key -CAcreateserial -out it.crt -days 2 \
             -extfile names",
        )
}
