//! A collector that keeps the book: OTLP over HTTP or gRPC, read by OpenTelemetry's own messages.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io::Read;
use std::net::SocketAddr;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use flate2::read::GzDecoder;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{HeaderMap, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use opentelemetry_proto::tonic::collector::metrics::v1::{
    ExportMetricsPartialSuccess, ExportMetricsServiceRequest, ExportMetricsServiceResponse,
};
use prost::Message;
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::watch;

use crate::book::Book;

/// The protocol of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wire {
    Http,
    Grpc,
}

pub(crate) const WIRES: [Wire; 2] = [Wire::Http, Wire::Grpc];

/// The treatment of a request.
#[derive(Clone, Debug)]
pub(crate) enum Treatment {
    Accept,
    /// Writes down nothing; the request may come again, after a delay in seconds if there is one.
    Unavailable(Option<u32>),
    /// Writes down nothing; the request must not come again.
    Refuse,
    /// Writes the request down, and answers that this number of points was rejected.
    Reject(i64),
    /// Writes the request down, and ends the connection without an answer.
    LoseAnswer,
    /// Writes the request down, and answers with a status all the same, of HTTP and of gRPC.
    TakeAndFail(u16, u16),
    /// Writes down nothing, and answers with a status, of HTTP and of gRPC.
    Fail(u16, u16),
    /// Writes the request down, and never answers.
    TakeAndHang,
    /// Writes down nothing, and ends the connection without an answer.
    LoseRequest,
    /// Writes down nothing, and never answers.
    Hang,
}

/// The state that connections share.
#[derive(Default)]
struct Desk {
    book: Mutex<Book>,
    next: Mutex<VecDeque<Treatment>>,
    arrived: Condvar,
    /// The test of a request that is refused, whatever its treatment.
    refuses: Mutex<Option<Refuses>>,
}

/// Returns whether a collector refuses a request, by its book.
pub(crate) type Refuses = fn(&Book, &ExportMetricsServiceRequest, &[u8]) -> bool;

pub(crate) struct Receiver {
    wire: Wire,
    address: SocketAddr,
    desk: Arc<Desk>,
    running: Option<(watch::Sender<()>, JoinHandle<()>)>,
    /// Keeps the port from other tests; it does not listen.
    reserved: Option<TcpSocket>,
}

impl Receiver {
    pub(crate) fn start(wire: Wire) -> Receiver {
        let desk = Arc::new(Desk::default());
        let nowhere = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut receiver = Receiver { wire, address: nowhere, desk, running: None, reserved: None };
        receiver.restart();
        receiver
    }

    /// Ends it, with all its connections. The book stays.
    pub(crate) fn kill(&mut self) {
        let (stop, thread) = self.running.take().expect("it runs");
        drop(stop);
        thread.join().expect("it does not panic");
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_reuseaddr(true).unwrap();
        socket.bind(self.address).unwrap();
        self.reserved = Some(socket);
    }

    /// Begins to listen, at the address that it had.
    pub(crate) fn restart(&mut self) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let listener = {
            let _context = runtime.enter();
            let socket = TcpSocket::new_v4().unwrap();
            socket.set_reuseaddr(true).unwrap();
            socket.bind(self.address).unwrap();
            self.reserved = None; // one that listens must be alone
            socket.listen(64).unwrap()
        };
        self.address = listener.local_addr().unwrap();
        let (stop, mut stopped) = watch::channel(());
        let (wire, desk) = (self.wire, Arc::clone(&self.desk));
        let thread = thread::spawn(move || {
            runtime.block_on(async move {
                tokio::spawn(async move {
                    while let Ok((stream, _)) = listener.accept().await {
                        tokio::spawn(serve(wire, stream, Arc::clone(&desk)));
                    }
                });
                let _ = stopped.changed().await;
            });
        });
        self.running = Some((stop, thread));
    }

    pub(crate) fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Sets the treatment of the next requests; those after them are accepted.
    pub(crate) fn next(&self, treatments: impl IntoIterator<Item = Treatment>) {
        self.desk.next.lock().unwrap().extend(treatments);
    }

    /// Forgets the treatments of further requests: these are accepted.
    pub(crate) fn clear_next(&self) {
        self.desk.next.lock().unwrap().clear();
    }

    /// Refuses the requests for which the test returns true, whatever their treatment.
    pub(crate) fn refuse_if(&self, refuses: Refuses) {
        *self.desk.refuses.lock().unwrap() = Some(refuses);
    }

    pub(crate) fn book(&self) -> MutexGuard<'_, Book> {
        self.desk.book.lock().unwrap()
    }

    /// Waits until the book satisfies a condition; panics after half a minute.
    pub(crate) fn wait(&self, mut until: impl FnMut(&Book) -> bool) {
        let limit = Duration::from_secs(30);
        let book = self.book();
        let waited = self.desk.arrived.wait_timeout_while(book, limit, |book| !until(book));
        assert!(!waited.unwrap().1.timed_out(), "it did not arrive");
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        if self.running.is_some() {
            self.kill();
        }
    }
}

async fn serve(wire: Wire, stream: TcpStream, desk: Arc<Desk>) {
    // An error of the service ends the connection without an answer.
    match wire {
        Wire::Http => {
            let answer = service_fn(|request| by_http(request, Arc::clone(&desk)));
            let builder = hyper::server::conn::http1::Builder::new();
            let _ = builder.serve_connection(TokioIo::new(stream), answer).await;
        }
        Wire::Grpc => {
            let answer = service_fn(|request| by_grpc(request, Arc::clone(&desk)));
            let builder = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
            let _ = builder.serve_connection(TokioIo::new(stream), answer).await;
        }
    }
}

impl Desk {
    /// Decides about a request, and writes it down. `Err` ends the connection.
    async fn take(&self, message: &[u8]) -> Result<Treatment, std::io::Error> {
        let request = ExportMetricsServiceRequest::decode(message).expect("a request of OTLP");
        let treatment = self.treat(request, message);
        self.arrived.notify_all();
        match treatment {
            Treatment::Hang | Treatment::TakeAndHang => std::future::pending().await,
            Treatment::LoseAnswer | Treatment::LoseRequest => {
                Err(std::io::Error::other("the answer is lost"))
            }
            other => Ok(other),
        }
    }

    fn treat(&self, request: ExportMetricsServiceRequest, message: &[u8]) -> Treatment {
        let mut treatment = self.next.lock().unwrap().pop_front().unwrap_or(Treatment::Accept);
        let mut book = self.book.lock().unwrap();
        if self.refuses.lock().unwrap().is_some_and(|refuses| refuses(&book, &request, message)) {
            treatment = Treatment::Refuse;
        }
        book.last = message.to_vec();
        match treatment {
            Treatment::Hang => {}
            Treatment::Unavailable(_)
            | Treatment::Refuse
            | Treatment::Fail(..)
            | Treatment::LoseRequest => book.turn_away(message),
            _ => book.write(request, message),
        }
        treatment
    }
}

/// Returns a message as it was before its compression.
fn plain(is_gzip: bool, message: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    if is_gzip {
        GzDecoder::new(message).read_to_end(&mut plain).expect("gzip");
    } else {
        plain.extend(message);
    }
    plain
}

fn partial(rejected: i64) -> Bytes {
    let error_message = if rejected > 0 { "too old" } else { "" }.to_owned();
    let partial = ExportMetricsPartialSuccess { rejected_data_points: rejected, error_message };
    let partial_success = (rejected > 0).then_some(partial);
    ExportMetricsServiceResponse { partial_success }.encode_to_vec().into()
}

async fn by_http(
    request: Request<Incoming>,
    desk: Arc<Desk>,
) -> Result<Response<Full<Bytes>>, std::io::Error> {
    assert_eq!(request.uri().path(), "/v1/metrics");
    assert_eq!(request.headers()["content-type"], "application/x-protobuf");
    desk.book.lock().unwrap().headers = request.headers().clone();
    let is_gzip = request.headers().get("content-encoding").is_some_and(|it| it == "gzip");
    let message = request.into_body().collect().await.map_err(std::io::Error::other)?.to_bytes();
    let message = plain(is_gzip, &message);
    let answer = |status: u16, body: Bytes| {
        Response::builder()
            .status(status)
            .header("content-type", "application/x-protobuf")
            .body(Full::new(body))
            .unwrap()
    };
    // `google.rpc.Status` has its message in field 2.
    let refusal = Bytes::from_static(b"\x12\x08not this");
    Ok(match desk.take(&message).await? {
        Treatment::Unavailable(delay) => {
            let mut answer = answer(503, Bytes::new());
            if let Some(delay) = delay {
                answer.headers_mut().insert("retry-after", delay.into());
            }
            answer
        }
        Treatment::Refuse => answer(400, refusal),
        Treatment::TakeAndFail(status, _) | Treatment::Fail(status, _) => answer(status, refusal),
        Treatment::Reject(points) => answer(200, partial(points)),
        _ => answer(200, partial(0)),
    })
}

type Trailed = http_body_util::combinators::BoxBody<Bytes, Infallible>;

async fn by_grpc(
    request: Request<Incoming>,
    desk: Arc<Desk>,
) -> Result<Response<Trailed>, std::io::Error> {
    let path = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export";
    assert_eq!(request.uri().path(), path);
    assert_eq!(request.headers()["content-type"], "application/grpc");
    assert_eq!(request.headers()["te"], "trailers");
    desk.book.lock().unwrap().headers = request.headers().clone();
    let framed = request.into_body().collect().await.map_err(std::io::Error::other)?.to_bytes();
    let (head, message) = framed.split_at(5);
    assert_eq!(u32::from_be_bytes(head[1..].try_into().unwrap()) as usize, message.len());
    let (status, answer) = match desk.take(&plain(head[0] == 1, message)).await? {
        Treatment::Unavailable(_) => (14, None),
        Treatment::Refuse => (3, None),
        Treatment::TakeAndFail(_, status) | Treatment::Fail(_, status) => (status, None),
        Treatment::Reject(points) => (0, Some(partial(points))),
        _ => (0, Some(partial(0))),
    };
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", HeaderValue::from(status));
    trailers.insert("grpc-message", HeaderValue::from_static("not%20this"));
    let framed = answer.map_or(Vec::new(), |answer| {
        let length = u32::try_from(answer.len()).unwrap().to_be_bytes();
        [&[0][..], &length, &answer].concat()
    });
    let mut answer = Response::builder().header("content-type", "application/grpc");
    if framed.is_empty() {
        *answer.headers_mut().unwrap() = trailers.clone(); // an answer without a message
        return Ok(answer.body(Full::new(Bytes::new()).boxed()).unwrap());
    }
    let body = Full::new(Bytes::from(framed)).with_trailers(async { Some(Ok(trailers)) });
    Ok(answer.body(body.boxed()).unwrap())
}
