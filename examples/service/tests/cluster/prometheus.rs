//! A Prometheus server with the configuration and the rules of this example.

use std::fs;
use std::io::{Error, Result};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::time::sleep;

use crate::client::Client;
use crate::process::{LONG, bound, file};

/// The folder of the configuration and the rules.
pub(crate) const FILES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/prometheus");

/// A server in a folder of its own, which ends with this.
pub(crate) struct Prometheus {
    process: Child,
    address: SocketAddr,
    folder: PathBuf,
}

impl Prometheus {
    /// Starts one that scrapes the services each second, and waits until it has.
    pub(crate) async fn of(services: &[SocketAddr]) -> Prometheus {
        Prometheus::with(services, &[]).await
    }

    /// Starts another, which takes native histograms.
    pub(crate) async fn of_native_histograms(services: &[SocketAddr]) -> Prometheus {
        Prometheus::with(services, &["--enable-feature=native-histograms"]).await
    }

    async fn with(services: &[SocketAddr], options: &[&str]) -> Prometheus {
        let targets: Vec<String> = services.iter().map(SocketAddr::to_string).collect();
        let targets = json!([{ "targets": targets }]).to_string();
        let server = Prometheus::start("prometheus.yml", options, |folder, configuration| {
            fs::write(folder.join("targets.json"), &targets)?;
            Ok(configuration)
        });
        server.until("up == 1", |found| found.len() == services.len()).await;
        server
    }

    /// Starts one above another, and waits until it has scraped what that has recorded.
    pub(crate) async fn above(leaf: &Prometheus) -> Prometheus {
        let server = Prometheus::start("federation.yml", &[], |_, configuration| {
            let (head, _) = configuration.split_once("- targets:").expect("they stand last");
            Ok(format!("{head}- targets: [\"{}\"]\n", leaf.address))
        });
        server.until("up == 1", |found| found.len() == 1).await;
        server
    }

    /// Starts one with the example's files, intervals of a second, and what `edit` makes of its
    /// configuration.
    fn start(
        name: &str,
        options: &[&str],
        edit: impl Fn(&Path, String) -> Result<String>,
    ) -> Prometheus {
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
        let address = free.local_addr().expect("it has an address");
        drop(free);
        let folder = file(&format!("prometheus-{}", address.port()));
        configure(&folder, name, edit).expect("the folder can be written");
        let log = fs::File::create(folder.join("log")).expect("the folder can be written");
        let mut command = bound(Command::new("prometheus"));
        command
            .current_dir(&folder)
            .arg(format!("--config.file={name}"))
            .arg("--storage.tsdb.path=data")
            .arg(format!("--web.listen-address={address}"))
            .args(options)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log);
        let process = command.spawn().expect("prometheus is on the path");
        Prometheus { process, address, folder }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the results of a query; none while the server is not ready.
    pub(crate) async fn query(&self, query: &str) -> Vec<Value> {
        let answer = self.get(&format!("query?query={}", escaped(query))).await;
        let result = answer.map(|answer| answer["data"]["result"].clone());
        result.ok().and_then(|result| result.as_array().cloned()).unwrap_or_default()
    }

    /// Waits until a query finds what will do.
    pub(crate) async fn until(&self, query: &str, will_do: impl Fn(&[Value]) -> bool) {
        let begun = Instant::now();
        loop {
            let found = self.query(query).await;
            if will_do(&found) {
                return;
            }
            if begun.elapsed() > LONG {
                let log = fs::read_to_string(self.folder.join("log")).unwrap_or_default();
                panic!("{query}: {found:#?}\n{log}");
            }
            sleep(Duration::from_millis(100)).await;
        }
    }

    /// Returns an answer of the server's API.
    pub(crate) async fn get(&self, path: &str) -> Result<Value> {
        let mut client = Client::connect(self.address).await?;
        let (_, body) = client.send("GET", &format!("/api/v1/{path}"), String::new()).await?;
        serde_json::from_slice(&body).map_err(Error::other)
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        if !thread::panicking() {
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}

/// Puts rules and a configuration there.
fn configure(
    folder: &Path,
    name: &str,
    edit: impl Fn(&Path, String) -> Result<String>,
) -> Result<()> {
    fs::create_dir_all(folder)?;
    for rules in ["rules.yml", "burn.yml", "unlike.yml", "alerts.yml", "global.yml"] {
        let slow = fs::read_to_string(Path::new(FILES).join(rules))?;
        let quick = slow.replace(" interval: 1m", " interval: 1s");
        let quick = if rules == "unlike.yml" { quick.replace("for: 1m", "for: 2s") } else { quick };
        fs::write(folder.join(rules), quick)?;
    }
    let slow = fs::read_to_string(Path::new(FILES).join(name))?;
    assert_eq!(slow.matches("15s").count(), 2, "a scrape interval and an evaluation interval");
    let quick =
        slow.replace("_interval: 15s", "_interval: 1s").replace("timeout: 10s", "timeout: 1s");
    fs::write(folder.join(name), edit(folder, quick)?)
}

/// Escapes a text for an address.
fn escaped(text: &str) -> String {
    text.bytes().fold(String::new(), |all, byte| all + &format!("%{byte:02X}"))
}
