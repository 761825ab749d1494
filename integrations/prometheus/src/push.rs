//! Pushing metrics to a gateway.

use std::thread;
use std::time::Duration;

use hyper::Method;
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use tokio::time::timeout;
use windrow_http::client::{self, Client, Runtime, Url, UrlError};

use crate::Format;
use crate::respond::{Asked, Scraped};
use path::path;

pub use error::PushError;

mod error;
mod path;

/// The most that is read of the text of a refusal, in bytes.
const LONGEST_TEXT: usize = 4096;

/// The time in which the gateway must answer, unless the program says otherwise.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A Pushgateway: it keeps the metrics of a job that ends before Prometheus could scrape it.
///
/// The gateway keeps a group of metrics for each job and its [labels](Self::label), until they are
/// replaced or [deleted](Self::delete). It replaces metrics' own labels of these names.
///
/// A call blocks the calling thread until the gateway has answered, and runs its connection on a
/// thread of its own; an async task calls it by `spawn_blocking`. Nothing is tried again.
///
/// ```no_run
/// use windrow::Counter;
/// use windrow_prometheus::{Exposition, Pushgateway};
///
/// static ROWS: Counter = Counter::new();
///
/// let mut metrics = Exposition::new();
/// metrics.register("rows", "Rows copied", &ROWS)?;
/// // ... the job ...
/// Pushgateway::at("http://gateway:9091", "nightly copy").label("instance", "a/b").push(&metrics)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
#[must_use = "nothing is sent before a push"]
pub struct Pushgateway {
    url: String,
    job: String,
    labels: Vec<(String, String)>,
    headers: Vec<(String, String)>,
    timeout: Duration,
}

impl Pushgateway {
    /// Describes the gateway at a URL such as `http://127.0.0.1:9091`, and the job whose metrics
    /// are pushed. The URL may have a path, under which the gateway's own begins.
    ///
    /// ```
    /// let gateway = windrow_prometheus::Pushgateway::at("http://127.0.0.1:9091", "nightly copy");
    /// ```
    pub fn at(url: &str, job: &str) -> Pushgateway {
        Pushgateway {
            url: url.to_owned(),
            job: job.to_owned(),
            labels: Vec::new(),
            headers: Vec::new(),
            timeout: TIMEOUT,
        }
    }

    /// Adds a label of the group, for jobs that run several times at once. Its value may have any
    /// characters.
    ///
    /// ```
    /// # use windrow_prometheus::Pushgateway;
    /// let gateway = Pushgateway::at("http://127.0.0.1:9091", "copy").label("instance", "a/b");
    /// ```
    pub fn label(mut self, name: &str, value: &str) -> Pushgateway {
        self.labels.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Adds a header to each request, such as `Authorization`.
    ///
    /// ```
    /// # use windrow_prometheus::Pushgateway;
    /// let gateway = Pushgateway::at("http://127.0.0.1:9091", "copy");
    /// let gateway = gateway.header("authorization", "Bearer 123");
    /// ```
    pub fn header(mut self, name: &str, value: &str) -> Pushgateway {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Waits for the answer to a request for this time at most. The default is 10 s.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use windrow_prometheus::Pushgateway;
    /// let gateway = Pushgateway::at("http://127.0.0.1:9091", "copy");
    /// let gateway = gateway.timeout(Duration::from_secs(2));
    /// ```
    pub fn timeout(self, timeout: Duration) -> Pushgateway {
        Pushgateway { timeout, ..self }
    }

    /// Pushes metrics, which replace all metrics of the group (`PUT`).
    ///
    /// # Errors
    ///
    /// Returns [`PushError`]. After [`PushError::Timeout`], [`PushError::Connection`] and a
    /// [refusal](PushError::Refused) with a status of 500 or above, it is unknown whether the
    /// gateway has the metrics; after any other it does not.
    ///
    /// ```
    /// use windrow_prometheus::{Exposition, PushError, Pushgateway};
    ///
    /// let gateway = Pushgateway::at("http://127.0.0.1:9", "copy"); // there is none
    /// let error = gateway.push(&Exposition::new()).unwrap_err();
    /// assert!(matches!(error, PushError::Connection { .. }));
    /// ```
    pub fn push(&self, metrics: &impl Scraped) -> Result<(), PushError> {
        self.send(Method::PUT, metrics.scrape(Asked::default()).body)
    }

    /// Pushes metrics, which replace those of the same names in the group and leave all others
    /// there (`POST`).
    ///
    /// # Errors
    ///
    /// Returns [`PushError`], as [`push`](Self::push) does.
    ///
    /// ```
    /// use windrow_prometheus::{Exposition, PushError, Pushgateway};
    ///
    /// let error = Pushgateway::at("127.0.0.1:9091", "copy").add(&Exposition::new()).unwrap_err();
    /// assert!(matches!(error, PushError::Url { .. }));
    /// ```
    pub fn add(&self, metrics: &impl Scraped) -> Result<(), PushError> {
        self.send(Method::POST, metrics.scrape(Asked::default()).body)
    }

    /// Deletes all metrics of the group.
    ///
    /// # Errors
    ///
    /// Returns [`PushError`], as [`push`](Self::push) does.
    ///
    /// ```
    /// use windrow_prometheus::{PushError, Pushgateway};
    ///
    /// let error = Pushgateway::at("http://127.0.0.1:9091", "").delete().unwrap_err();
    /// assert!(matches!(error, PushError::NoJob));
    /// ```
    pub fn delete(&self) -> Result<(), PushError> {
        self.send(Method::DELETE, Vec::new())
    }

    /// Sends metrics as a client without wishes gets them: as text in version 0.0.4.
    fn send(&self, method: Method, body: Vec<u8>) -> Result<(), PushError> {
        let headers = client::headers(&self.headers);
        let mut headers = headers.map_err(|name| PushError::Header { name })?;
        let content_type = HeaderValue::from_static(Format::TEXT.content_type());
        headers.insert(CONTENT_TYPE, content_type);
        let wrong = |error: UrlError| PushError::Url { url: self.url.clone(), rule: error.rule };
        let url = Url::parse(&self.url).map_err(wrong)?;
        let path =
            format!("{}{}", url.path().trim_end_matches('/'), path(&self.job, &self.labels)?);
        let url = url.with_path(&path).map_err(wrong)?;
        // The caller's thread may be one of a runtime, which must not start another one.
        thread::scope(|scope| {
            let sent = thread::Builder::new()
                .name("windrow-push".to_owned())
                .spawn_scoped(scope, || self.exchange(method, &url, headers, body));
            let sent = sent.map_err(|error| PushError::Start { error })?;
            sent.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// Sends a request on this thread, and reads the answer.
    fn exchange(
        &self,
        method: Method,
        url: &Url,
        headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<(), PushError> {
        let runtime = Runtime::new().map_err(|error| PushError::Start { error })?;
        let exchange = async {
            let answer = Client::http1().send(method, url, headers, body).await;
            let answer =
                answer.map_err(|lost| PushError::Connection { error: lost.to_string() })?;
            let status = answer.status();
            if status.is_success() {
                return Ok(());
            }
            let text = client::beginning(answer.into_body(), LONGEST_TEXT).await;
            let message = String::from_utf8_lossy(&text).trim().to_owned();
            Err(PushError::Refused { status: status.as_u16(), message })
        };
        let sent = runtime.block_on(async { timeout(self.timeout, exchange).await });
        sent.unwrap_or(Err(PushError::Timeout { timeout: self.timeout }))
    }
}
