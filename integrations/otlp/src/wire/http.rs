//! OTLP over HTTP, as protobuf.

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::{CONTENT_TYPE, HOST, HeaderMap, HeaderValue, RETRY_AFTER};
use hyper::{Request, StatusCode};
use prost::Message;

use super::answer::{delay_in_seconds, refusal};
use super::{Connection, Wire, accepted, body, lost, read};
use crate::error::ExportError;
use crate::message::Response;

const PROTOBUF: &str = "application/x-protobuf";

impl Wire {
    pub(super) async fn send_by_http(&self, message: &[u8]) -> Result<(), ExportError> {
        let stream = self.connect().await?;
        let (mut requests, connection) =
            http1::handshake(stream).await.map_err(|error| lost(&error))?;
        let _connection = Connection::spawn(connection);
        let answer = requests.send_request(self.post(message)).await;
        let (head, body) = read(answer.map_err(|error| lost(&error))?).await?;
        let body = body.to_bytes();
        if head.status == StatusCode::OK {
            return match Response::decode(body) {
                Ok(answer) => accepted(&answer),
                // A collector that answers 200 has taken it, whatever the text is.
                Err(_) => Ok(()),
            };
        }
        let (status, message) = (head.status.as_u16(), refusal(&head.headers, &body));
        // These alone, by the protocol.
        Err(if [429, 502, 503, 504].contains(&status) {
            let retry_after = retry_after(&head.headers);
            ExportError::Unavailable { status, message, retry_after }
        } else {
            ExportError::Refused { status, message }
        })
    }

    fn post(&self, message: &[u8]) -> Request<Full<Bytes>> {
        let mut request = Request::post(&self.endpoint.path);
        if let Some(headers) = request.headers_mut() {
            headers.clone_from(&self.headers);
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(PROTOBUF));
            if let Ok(host) = HeaderValue::from_str(&self.endpoint.authority) {
                headers.insert(HOST, host);
            }
        }
        request.body(body(message.to_vec())).expect("the path is that of a URL")
    }
}

/// Returns the time that the header asks for, in seconds. A date there is not understood: the delay
/// is that of any other failure then.
fn retry_after(headers: &HeaderMap) -> Option<std::time::Duration> {
    delay_in_seconds(headers.get(RETRY_AFTER)?.to_str().ok()?)
}
