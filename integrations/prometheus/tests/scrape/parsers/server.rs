//! A target that is scraped, and a Prometheus that scrapes it.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use windrow::export::from_fn;
use windrow_prometheus::{Exposition, Server, serve};

use super::{Samples, Series, samples, series};

/// The samples of series by the bits of their times, which are in the order of the times.
pub(crate) type Ranges = BTreeMap<Series, BTreeMap<u64, f64>>;

/// Serves metrics on a port of its own, until it is dropped.
pub(crate) struct Target {
    server: Server,
    scrapes: Arc<AtomicUsize>,
}

impl Target {
    pub(crate) fn serve(mut metrics: Exposition) -> Target {
        let scrapes = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&scrapes);
        let number = from_fn(move || seen.fetch_add(1, Ordering::Relaxed) as f64);
        metrics.register("scrapes", "", number).unwrap();
        Target { server: serve("127.0.0.1:0", metrics).unwrap(), scrapes }
    }

    pub(crate) fn port(&self) -> u16 {
        self.server.address().port()
    }

    /// Waits until it was scraped some more times.
    pub(crate) fn wait_for_scrapes(&self, more: usize) {
        let (enough, begin) = (self.scrapes() + more, Instant::now());
        while self.scrapes() < enough {
            assert!(begin.elapsed() < Duration::from_secs(60), "{} scrapes", self.scrapes());
            thread::sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn scrapes(&self) -> usize {
        self.scrapes.load(Ordering::Relaxed)
    }
}

/// A server in a folder of its own, which ends with this.
pub(crate) struct Prometheus {
    process: Child,
    port: u16,
    folder: PathBuf,
}

impl Prometheus {
    /// Starts one that scrapes a port, with some more options.
    pub(crate) fn start(target: u16, options: &[&str]) -> Prometheus {
        let free = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("prometheus-{port}"));
        fs::create_dir_all(&folder).unwrap();
        let configuration = format!(
            "global: {{scrape_interval: 500ms, scrape_timeout: 500ms}}\n\
             scrape_configs:\n- job_name: windrow\n  static_configs: [{{targets: ['127.0.0.1:{target}']}}]\n"
        );
        fs::write(folder.join("prometheus.yml"), configuration).unwrap();
        let log = fs::File::create(folder.join("log")).unwrap();
        let process = Command::new("prometheus")
            .current_dir(&folder)
            .args(["--config.file=prometheus.yml", "--storage.tsdb.path=data"])
            .arg(format!("--web.listen-address=127.0.0.1:{port}"))
            .args(options)
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("prometheus is on the path");
        Prometheus { process, port, folder }
    }

    /// Waits until a query has one sample, of a value that will do.
    pub(crate) fn wait_for(&self, query: &str, will_do: impl Fn(f64) -> bool) {
        let begin = Instant::now();
        loop {
            let found = self.ask(query).unwrap_or_default();
            if found.len() == 1 && found.values().all(|value| will_do(*value)) {
                return;
            }
            if begin.elapsed() > Duration::from_secs(60) {
                let log = fs::read_to_string(self.folder.join("log")).unwrap_or_default();
                panic!("{query}: {found:?}\n{log}");
            }
            thread::sleep(Duration::from_millis(100));
        }
    }

    pub(crate) fn query(&self, query: &str) -> Samples {
        self.ask(query).unwrap()
    }

    fn ask(&self, query: &str) -> std::io::Result<Samples> {
        Ok(samples(&self.post("query", &format!("query={}", escaped(query)))?))
    }

    /// Returns the samples of a range by the bits of their times, for each series.
    pub(crate) fn ranges(&self, query: &str) -> Ranges {
        let answer = self.post("query", &format!("query={}", escaped(query))).unwrap();
        let results = answer["data"]["result"].as_array().unwrap_or_else(|| panic!("{answer}"));
        let sample = |sample: &Value| {
            let value = sample[1].as_str().unwrap().parse().unwrap();
            (sample[0].as_f64().unwrap().to_bits(), value)
        };
        let range = |result: &Value| {
            let values = result["values"].as_array().unwrap().iter().map(sample).collect();
            (series(result), values)
        };
        results.iter().map(range).collect()
    }

    /// Returns the values of all exemplars of a selector, with their trace ids.
    pub(crate) fn exemplars(&self, selector: &str) -> Vec<(f64, String)> {
        let body = format!("query={}&start=0&end=9999999999", escaped(selector));
        let answer = self.post("query_exemplars", &body).unwrap();
        let series = answer["data"].as_array().unwrap_or_else(|| panic!("{answer}"));
        let exemplars = series.iter().flat_map(|of| of["exemplars"].as_array().unwrap());
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let found = exemplars.map(|exemplar| {
            let value = text(&exemplar["value"]).parse().unwrap();
            (value, text(&exemplar["labels"]["trace_id"]))
        });
        let mut found: Vec<(f64, String)> = found.collect();
        found.sort_by(|one, other| one.0.total_cmp(&other.0));
        found
    }

    /// Returns the answer of the API.
    fn post(&self, method: &str, body: &str) -> std::io::Result<Value> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        write!(
            stream,
            "POST /api/v1/{method} HTTP/1.0\r\nHost: 127.0.0.1\r\n\
             Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        serde_json::from_str(body).map_err(std::io::Error::other)
    }
}

/// Returns a text as a form sends it.
fn escaped(text: &str) -> String {
    text.bytes().fold(String::new(), |all, byte| all + &format!("%{byte:02X}"))
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
