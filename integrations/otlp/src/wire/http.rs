//! OTLP over HTTP, as protobuf.

use std::time::{Duration, Instant};

use http_body_util::{BodyExt, Collected, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use hyper::{Method, Response};
use tokio::time::timeout;

use super::answer::refusal;
use super::{Failure, LONGEST_ANSWER, Protocol, Taken, Wire, accepted};

const PROTOBUF: &str = "application/x-protobuf";

/// The longest time to wait for the text of an answer whose status is there.
const LONGEST_TEXT: Duration = Duration::from_secs(1);

impl Wire {
    pub(super) async fn send_by_http(&self, message: &Bytes) -> Result<Taken, Failure> {
        let began = Instant::now();
        let (head, body) = self.in_time(self.post(message)).await?.into_parts();
        // The status decides, whatever happens to the text: so the text never becomes a timeout.
        let left = self.timeout.saturating_sub(began.elapsed());
        let body = text(body, left.min(LONGEST_TEXT)).await;
        if head.status.is_success() {
            // A collector that answers 2xx has taken it, whatever the text is.
            return Ok(accepted(&body));
        }
        let message = refusal(&head.headers, &body);
        let status = head.status.as_u16();
        Err(Failure::of_status(Protocol::Http, status, message, retry_after(&head.headers)))
    }

    /// Sends the request, and returns the answer, whose text comes.
    async fn post(&self, message: &Bytes) -> Result<Response<Incoming>, Failure> {
        let mut headers = self.headers.clone();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(PROTOBUF));
        let answer = self.client.send(Method::POST, &self.url, headers, message.clone()).await;
        answer.map_err(|error| Failure::of_connection(&error))
    }
}

/// Reads the text of an answer; returns an empty one if it is long, is cut off, or comes late.
async fn text(body: Incoming, limit: Duration) -> Bytes {
    let read = timeout(limit, Limited::new(body, LONGEST_ANSWER).collect());
    read.await.ok().and_then(Result::ok).map(Collected::to_bytes).unwrap_or_default()
}

/// Returns the time that the header asks for, in seconds. A date there is not understood: the delay
/// is that of any other failure then.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_seconds() {
        let after = |text| {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, HeaderValue::from_static(text));
            retry_after(&headers)
        };
        assert_eq!(after(" 7"), Some(Duration::from_secs(7)));
        assert_eq!(after("Fri, 07 Nov 2014 23:59:59 GMT"), None);
    }
}
