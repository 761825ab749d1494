//! A text of the program's own, for the server and the gateway.

use crate::Format;
use crate::respond::{Asked, Response, Scraped, prefers_gzip};

/// Makes metrics of a text that a function writes, in Prometheus' format 0.0.4: for `serve` and
/// `Pushgateway`, from another registry than this crate's.
///
/// The text is sent as it is; it is the same for each client, but that it may be compressed. The
/// function is called for each scrape or push, on the thread that answers it.
///
/// ```
/// # #[cfg(feature = "serve")] {
/// use windrow_prometheus::{serve, text_fn};
///
/// let metrics = text_fn(|| "# TYPE up gauge\nup 1\n".to_owned());
/// let server = serve("127.0.0.1:0", metrics).expect("any free port");
/// server.stop();
/// # }
/// ```
pub fn text_fn(text: impl Fn() -> String + Send + Sync + 'static) -> impl Scraped {
    TextFn(text)
}

/// Metrics of a text that a function writes.
struct TextFn<F>(F);

impl<F: Fn() -> String + Send + Sync + 'static> Scraped for TextFn<F> {
    fn scrape(&self, asked: Asked<'_>) -> Response {
        let body = (self.0)().into_bytes();
        Response::new(Format::TEXT, body, prefers_gzip(asked.accept_encoding))
    }
}
