//! A refused request, whose body is read before it is answered.
//!
//! A client of HTTP/1.1 that is still sending a body finds its connection broken, if the server
//! answers and closes meanwhile: many then report that, and never see the answer. So the rest of
//! the body is read and discarded first, up to a bound. Streams of HTTP/2 need none of this; nor
//! does a client that asks first (`Expect: 100-continue`), and then sends nothing.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Buf;
use http::header::EXPECT;
use http::{Request, Response, Version};
use http_body::Body;
use pin_project_lite::pin_project;

use crate::limit::Fields;
use crate::refusal::{Reason, Refusal};

/// The bytes of a refused request's body that layers read by default.
pub(crate) const DISCARDED: u64 = 64 * 1024;

pin_project! {
    /// A refused request.
    pub struct Refused<A> {
        refusal: Refusal,
        // `None` if nothing of it is to be read.
        #[pin]
        rest: Option<A>,
        // The bytes that may still be read.
        left: u64,
    }
}

impl<A: Body> Refused<A> {
    /// Returns a request that was refused for a reason. Up to `most` bytes of its body are read.
    pub(crate) fn new(
        request: Request<A>,
        reason: Reason,
        fields: Option<Fields>,
        most: u64,
    ) -> Refused<A> {
        let (parts, body) = request.into_parts();
        let breaks = parts.version <= Version::HTTP_11 && !parts.headers.contains_key(EXPECT);
        let fits = most > 0 && body.size_hint().lower() <= most;
        let is_read = breaks && fits && !body.is_end_stream();
        let refusal = Refusal::new(reason, &parts, fields);
        Refused { refusal, rest: is_read.then_some(body), left: most }
    }

    /// Reads and discards the body, then returns the response.
    pub(crate) fn poll<B: Default>(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Response<B>> {
        let mut this = self.project();
        while let Some(body) = this.rest.as_mut().as_pin_mut() {
            let read = match ready!(body.poll_frame(context)) {
                Some(Ok(frame)) => frame.data_ref().map_or(0, Buf::remaining) as u64,
                Some(Err(_)) | None => u64::MAX, // the end
            };
            match this.left.checked_sub(read) {
                Some(left) => *this.left = left,
                None => this.rest.set(None),
            }
        }
        Poll::Ready(this.refusal.response())
    }
}
