//! The bodies of requests, which have a time and a size.

use std::error::Error;
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use tokio::time::timeout;

/// The greatest size of a body, in bytes. A power of two, as the sizes of its buffer are.
const LONGEST: usize = 64 << 10;

/// Reads the body before the handler is called, so that a client that sends a byte a second holds
/// no handler. A body that takes longer than a time is answered with 408, one that is too long with
/// 413.
pub(crate) async fn read(State(time): State<Duration>, request: Request, next: Next) -> Response {
    let (head, body) = request.into_parts();
    match timeout(time, whole(body)).await {
        Ok(Ok(body)) => next.run(Request::from_parts(head, Body::from(body))).await,
        Ok(Err(error)) => refusal(&*error).into_response(),
        Err(_) => (StatusCode::REQUEST_TIMEOUT, "the hay came too slowly\n").into_response(),
    }
}

/// Copies the body into one buffer, which never has more than [`LONGEST`] bytes.
///
/// To keep the frames and join them at the end (`collect`) would be less work for large ones. But
/// each frame holds the connection's buffer that it was read into: a client that sends its body
/// byte by byte, each in a frame of its own, would make the service hold many times the limit.
async fn whole(
    body: impl HttpBody<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>>,
) -> Result<Vec<u8>, Box<dyn Error + Send + Sync>> {
    let mut frames = std::pin::pin!(Limited::new(body, LONGEST));
    let mut whole = Vec::new();
    while let Some(frame) = frames.frame().await {
        // Trailers are of no use here.
        if let Ok(data) = frame?.into_data() {
            let size = (whole.len() + data.len()).next_power_of_two();
            whole.reserve_exact(size - whole.len());
            whole.extend_from_slice(&data);
        }
    }
    Ok(whole)
}

fn refusal(error: &(dyn Error + Send + Sync + 'static)) -> (StatusCode, &'static str) {
    if error.is::<LengthLimitError>() {
        (StatusCode::PAYLOAD_TOO_LARGE, "so much hay does not fit the barn\n")
    } else {
        (StatusCode::BAD_REQUEST, "the hay is broken\n")
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::pin::Pin;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    use std::task::{Context, Poll};

    use http_body_util::BodyExt;
    use http_body_util::combinators::BoxBody;
    use hyper::body::Frame;

    use super::*;

    /// Bytes that are counted as long as they live.
    struct Piece {
        bytes: Vec<u8>,
        alive: Arc<AtomicUsize>,
    }

    impl AsRef<[u8]> for Piece {
        fn as_ref(&self) -> &[u8] {
            &self.bytes
        }
    }

    impl Drop for Piece {
        fn drop(&mut self) {
            self.alive.fetch_sub(1, Relaxed);
        }
    }

    /// A body of frames of one length, which wants the last frame to be gone before the next.
    struct Frames {
        length: usize,
        left: usize,
        alive: Arc<AtomicUsize>,
    }

    impl HttpBody for Frames {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            mut self: Pin<&mut Frames>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            assert_eq!(self.alive.fetch_add(1, Relaxed), 0, "frames are kept");
            let piece = Piece { bytes: vec![b'1'; self.length], alive: Arc::clone(&self.alive) };
            let Some(left) = self.left.checked_sub(1) else { return Poll::Ready(None) };
            self.left = left;
            Poll::Ready(Some(Ok(Frame::data(Bytes::from_owner(piece)))))
        }
    }

    fn frames(length: usize, left: usize) -> BoxBody<Bytes, Infallible> {
        Frames { length, left, alive: Arc::default() }.boxed()
    }

    #[tokio::test]
    async fn a_body_of_many_frames_is_one_buffer_within_the_limit_and_no_frame_is_kept() {
        let whole_ones = [(1, 0), (1, 1), (1, 3), (1, LONGEST), (3_000, 21), (LONGEST, 1)];
        for (length, number) in whole_ones {
            let body = whole(frames(length, number)).await.unwrap();
            assert_eq!(body, b"1".repeat(length * number));
            assert!(body.capacity() <= LONGEST, "{length} * {number}: {}", body.capacity());
        }
    }

    #[tokio::test]
    async fn a_body_beyond_the_limit_is_refused() {
        for (length, number) in [(1, LONGEST + 1), (3_000, 22), (LONGEST + 1, 1)] {
            let error = whole(frames(length, number)).await.unwrap_err();
            assert_eq!(refusal(&*error).0, StatusCode::PAYLOAD_TOO_LARGE, "{length} * {number}");
        }
    }
}
