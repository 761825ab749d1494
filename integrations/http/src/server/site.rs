//! A site, and the limits of its server.

use std::error::Error;
use std::time::Duration;

use hyper::body::{Body, Bytes, Incoming};
use hyper::{Request, Response};

/// A site, which answers the requests of a server.
pub trait Site: Clone + Send + Sync + 'static {
    /// The body of an answer.
    type Body: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static;

    /// An answer that comes.
    type Answer: Future<Output = Response<Self::Body>> + Send;

    /// Answers a request, on the server's thread.
    fn respond(&self, request: &Request<Incoming>) -> Self::Answer;

    /// Ends answers that would go on for ever: the server is stopped.
    fn close(&self) {}
}

/// The limits of a server.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The greatest number of connections at a time.
    pub connections: usize,
    /// The time in which a client must send the head of a request, and so the time for which a
    /// connection may be idle.
    pub head: Duration,
    /// The time from the begin of a connection to the end of its one answer. `None`: a connection
    /// is kept for further requests, and an answer may go on for any time.
    pub whole: Option<Duration>,
    /// The size of the longest head of a request, and of hyper's buffer for an answer, in bytes.
    pub buffer: usize,
    /// The size to ask the system for, of its buffer for what is sent, in bytes.
    pub send_buffer: Option<u32>,
}
