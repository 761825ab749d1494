//! The body of a refused request is read before the answer, up to a bound: a client that is still
//! sending would find its connection broken.

use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, Version};
use http_body::{Body, Frame, SizeHint};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tower::{Layer, Service, service_fn};
use windrow::breaker::Settings;
use windrow::{AtMost, Breaker, Pace};
use windrow_tower::{BreakerLayer, LimitLayer, PaceLayer, RoomLayer, Rooms};

use crate::limited::{Client, client, limits};

/// A body of pieces, each of which comes at the second poll for it.
struct Pieces {
    sizes: std::vec::IntoIter<usize>,
    is_late: bool,
    least: u64,
    /// The bytes that were read.
    read: Arc<AtomicU64>,
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.is_late = !self.is_late;
        if self.is_late {
            return Poll::Pending;
        }
        Poll::Ready(self.sizes.next().map(|size| {
            self.read.fetch_add(size as u64, Ordering::Relaxed);
            Ok(Frame::data(vec![7; size].into()))
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.sizes.as_slice().is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        let mut hint = SizeHint::default();
        hint.set_lower(self.least);
        hint
    }
}

fn request(sizes: &[usize], least: u64) -> (Request<Pieces>, Arc<AtomicU64>) {
    let read = Arc::<AtomicU64>::default();
    let sizes = Vec::from(sizes).into_iter();
    let body = Pieces { sizes, is_late: false, least, read: Arc::clone(&read) };
    (Request::builder().header("client", "alice").body(body).expect("a request"), read)
}

type Answer = std::future::Ready<Result<Response<String>, Infallible>>;

fn inner(_: Request<Pieces>) -> Answer {
    std::future::ready(Ok(Response::new(String::new())))
}

/// Calls a service that refuses, and returns the number of polls until the answer.
fn polls<S, B>(mut service: S, request: Request<Pieces>) -> usize
where
    S: Service<Request<Pieces>, Response = Response<B>, Error = Infallible>,
{
    let mut future = pin!(service.call(request));
    for number in 1..1_000 {
        let polled = future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        if let Poll::Ready(Ok(response)) = polled {
            assert!(response.status().is_client_error() || response.status().is_server_error());
            return number;
        }
    }
    panic!("no answer");
}

#[test]
fn each_layer_reads_a_body_to_its_end_and_no_more_than_its_bound() {
    limits!(CLIENTS, CLOCK: 10, |_| 1);
    static PACE: Pace = Pace::of(Duration::from_secs(1_000), AtMost(1));
    static NONE: Rooms<Client> = Rooms::new(10, |_| 0);
    static OPEN: Breaker =
        Breaker::of(Settings::last_calls(1).minimum_calls(1).open_for(Duration::from_secs(1_000)));
    assert!(PACE.try_admit(1));
    CLOCK.advance(Duration::from_secs(1));
    assert!(CLIENTS.admit(Client { client: "alice" }, 1, Duration::ZERO).is_granted());
    OPEN.try_call().expect("closed").failure();
    let (limit, pace) = (LimitLayer::new(&CLIENTS, client), PaceLayer::new(|_| Some(&PACE)));
    let (room, breaker) = (RoomLayer::new(&NONE, client), BreakerLayer::new(|_| Some(&OPEN)));
    let inner = service_fn(inner as fn(Request<Pieces>) -> Answer);
    for (sizes, least, bound, read, number) in [
        (&[10, 20, 30][..], 0, None, 60, 5),
        (&[10, 20, 30], 60, Some(60), 60, 5),
        (&[10, 20, 30], 61, Some(60), 0, 1), // too long from the beginning
        (&[10, 20, 30], 0, Some(25), 30, 3), // it turns out to be too long
        (&[10, 20, 30], 0, Some(0), 0, 1),
        (&[], 0, None, 0, 1),
        (&[40_000, 25_536], 0, None, 65_536, 4),
        (&[40_000, 25_537, 1], 0, None, 65_537, 3),
    ] {
        let all: [&dyn Fn(Request<Pieces>) -> usize; 4] = [
            &|request| match bound {
                None => polls(limit.clone().layer(inner), request),
                Some(bound) => polls(limit.clone().discard(bound).layer(inner), request),
            },
            &|request| match bound {
                None => polls(pace.clone().layer(inner), request),
                Some(bound) => polls(pace.clone().discard(bound).layer(inner), request),
            },
            &|request| match bound {
                None => polls(room.clone().layer(inner), request),
                Some(bound) => polls(room.clone().discard(bound).layer(inner), request),
            },
            &|request| match bound {
                None => polls(breaker.discard(65_536).layer(inner), request),
                Some(bound) => polls(breaker.discard(bound).layer(inner), request),
            },
        ];
        for call in all {
            let (request, bytes) = request(sizes, least);
            assert_eq!((call(request), bytes.load(Ordering::Relaxed)), (number, read), "{sizes:?}");
        }
        for is_http2 in [false, true] {
            let (mut request, bytes) = request(sizes, least);
            if is_http2 {
                *request.version_mut() = Version::HTTP_2;
            } else {
                request.headers_mut().insert("expect", "100-continue".parse().expect("a value"));
            }
            assert_eq!((all[0](request), bytes.load(Ordering::Relaxed)), (1, 0));
        }
    }
}

/// A client that writes its head, then waits, then writes its body, as libraries do.
#[tokio::test]
async fn a_client_that_is_still_sending_sees_the_answer_and_its_connection_lasts() {
    limits!(CLIENTS, CLOCK: 10, |_| 1);
    let reads = |_: Bytes| async { "well" };
    let app = axum::Router::new().fallback(reads).layer(LimitLayer::new(&CLIENTS, client));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move { axum::serve(listener, app).await });
    CLOCK.advance(Duration::from_secs(1));
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    for number in 0..20 {
        let head =
            "POST / HTTP/1.1\r\nhost: a\r\nclient: alice\r\ntransfer-encoding: chunked\r\n\r\n";
        stream.write_all(head.as_bytes()).await.expect("a head");
        tokio::time::sleep(Duration::from_millis(3)).await;
        for _ in 0..10 {
            let chunk = format!("3e8\r\n{}\r\n", "x".repeat(1_000));
            stream.write_all(chunk.as_bytes()).await.expect("a chunk");
        }
        stream.write_all(b"0\r\n\r\n").await.expect("an end");
        let mut answer = Vec::new();
        while !answer.windows(4).any(|four| four == b"\r\n\r\n") {
            assert_ne!(stream.read_buf(&mut answer).await.expect("an answer"), 0);
        }
        let status = String::from_utf8_lossy(&answer[9..12]).into_owned();
        assert_eq!(status, if number == 0 { "200" } else { "429" });
        if number == 0 {
            while !answer.ends_with(b"well") {
                assert_ne!(stream.read_buf(&mut answer).await.expect("a body"), 0);
            }
        }
    }
}

/// Sends 40 requests with a body of 40 kB in chunks, and prints the number of each outcome.
const PYTHON: &str = "
import collections, http.client, sys
outcomes = collections.Counter()
for _ in range(40):
    connection = http.client.HTTPConnection('127.0.0.1', int(sys.argv[1]))
    body = (b'x' * 1000 for _ in range(40))
    try:
        connection.request('POST', '/', body, {'client': 'alice'}, encode_chunked=True)
        outcomes[connection.getresponse().status] += 1
    except OSError as error:
        outcomes[type(error).__name__] += 1
print(dict(outcomes))
";

const NODE: &str = "
const outcomes = {};
for (let request = 0; request < 40; request++) {
  let sent = 0;
  const pull = to => sent++ < 40 ? to.enqueue(new Uint8Array(1000)) : to.close();
  const options = { method: 'POST', duplex: 'half', headers: { client: 'alice' } };
  let outcome;
  try {
    const url = `http://127.0.0.1:${process.argv[1]}/`;
    const response = await fetch(url, { ...options, body: new ReadableStream({ pull }) });
    await response.arrayBuffer();
    outcome = response.status;
  } catch (error) {
    outcome = error.cause?.code ?? error.message;
  }
  outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
}
console.log(outcomes);
";

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs python3 and node; prints a table of the guide about limits"]
async fn real_clients_see_each_refusal() {
    static NEVER: Rooms<Client> = Rooms::new(10, |_| 0);
    for bound in [0, 65_536] {
        let app = axum::Router::new().layer(RoomLayer::new(&NEVER, client).discard(bound));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port().to_string();
        tokio::spawn(async move { axum::serve(listener, app).await });
        let node = ["--input-type=module", "-e", NODE];
        for (program, script) in [("python3", &["-c", PYTHON][..]), ("node", &node)] {
            let mut run = std::process::Command::new(program);
            let output = run.args(script).arg(&port).output().expect("it is installed");
            let outcomes = String::from_utf8_lossy(&output.stdout).into_owned();
            println!("{program}, {bound} bytes discarded: {}", outcomes.trim());
            assert!(output.status.success(), "{output:?}");
            if bound > 0 {
                assert!(outcomes.contains("503") && outcomes.contains("40"), "{outcomes}");
            }
        }
    }
}
