//! gRPC-Web by connect's own clients, of npm, against tonic-web behind the layers.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::process::Command;
use std::task::{Context, Poll};

use http::{Request, Response};
use tokio::net::TcpListener;
use tonic::Status;
use tonic::body::Body;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::server::NamedService;
use tonic::service::Routes as Services;
use tonic_web::GrpcWebLayer;
use tower::{Service, service_fn};
use windrow_tower::{Http, LimitLayer, MetricsLayer};

use crate::limited::{client, limits};
use crate::{Counts, all, routes};

/// Messages without content: `google.protobuf.Empty`.
#[derive(Clone, Copy, Default)]
struct Nothing;

impl Codec for Nothing {
    type Encode = ();
    type Decode = ();
    type Encoder = Nothing;
    type Decoder = Nothing;

    fn encoder(&mut self) -> Nothing {
        Nothing
    }

    fn decoder(&mut self) -> Nothing {
        Nothing
    }
}

impl Encoder for Nothing {
    type Item = ();
    type Error = Status;

    fn encode(&mut self, (): (), _: &mut EncodeBuf<'_>) -> Result<(), Status> {
        Ok(())
    }
}

impl Decoder for Nothing {
    type Item = ();
    type Error = Status;

    fn decode(&mut self, _: &mut DecodeBuf<'_>) -> Result<Option<()>, Status> {
        Ok(Some(()))
    }
}

/// Answers by the method's name: well, busy, or lost.
#[derive(Clone)]
struct Answers;

impl NamedService for Answers {
    const NAME: &'static str = "test.Answers";
}

impl Service<Request<Body>> for Answers {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let path = request.uri().path().to_owned();
        Box::pin(async move {
            let answer = service_fn(move |_: tonic::Request<()>| {
                let answer = match path.as_str() {
                    "/test.Answers/Well" => Ok(tonic::Response::new(())),
                    "/test.Answers/Busy" => Err(Status::resource_exhausted("no memory")),
                    _ => Err(Status::data_loss("as asked")),
                };
                async { answer }
            });
            Ok(tonic::server::Grpc::new(Nothing).unary(answer, request).await)
        })
    }
}

/// Calls each method of the arguments ten times, and prints the code, and the time to come back
/// after, of each outcome.
const CALLS: &str = "
import { createGrpcWebTransport as web } from '@connectrpc/connect-web';
import { createGrpcWebTransport as node } from '@connectrpc/connect-node';
import { ConnectError, Code } from '@connectrpc/connect';
import { create } from '@bufbuild/protobuf';
import { EmptySchema } from '@bufbuild/protobuf/wkt';

const [port, ...methods] = process.argv.slice(1);
const baseUrl = `http://127.0.0.1:${port}`;
const clients = { web: web({ baseUrl }), node: node({ baseUrl, httpVersion: '1.1' }) };
for (const [client, transport] of Object.entries(clients)) {
  for (const name of methods) {
    const outcomes = {};
    for (let call = 0; call < 10; call++) {
      const method = { kind: 'method', name, localName: name, methodKind: 'unary',
        parent: { typeName: 'test.Answers' }, input: EmptySchema, output: EmptySchema };
      let outcome = 'Ok';
      try {
        const message = create(EmptySchema);
        await transport.unary(method, undefined, undefined, { client }, message);
      } catch (thrown) {
        const error = ConnectError.from(thrown);
        const wait = error.metadata.get('grpc-retry-pushback-ms');
        outcome = Code[error.code] + (wait ? ' ' + wait : '');
      }
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    }
    console.log(client, name, JSON.stringify(outcomes));
  }
}
";

/// Serves the answers behind a router's layers, and returns what connect's clients have seen.
async fn seen(app: axum::Router, methods: &[&str]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port().to_string();
    tokio::spawn(async move { axum::serve(listener, app).await });
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("package.json"), r#"{"private": true}"#).expect("a file");
    let mut npm = Command::new("npm");
    npm.args(["install", "--silent", "--no-audit", "--no-fund", "node@22.23.3"]);
    npm.args(["@bufbuild/protobuf@2.17.0", "@connectrpc/connect@2.2.0"]);
    npm.args(["@connectrpc/connect-node@2.2.0", "@connectrpc/connect-web@2.2.0"]);
    assert!(npm.current_dir(&folder).status().expect("npm").success());
    let mut node = Command::new(folder.path().join("node_modules/.bin/node"));
    node.args(["--input-type=module", "-e", CALLS, &port]).args(methods);
    let output = node.current_dir(&folder).output().expect("node");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs npm: installs connect and runs it"]
async fn connects_clients_are_counted_and_read_a_refusal() {
    let routes = routes();
    let counted = MetricsLayer::new(routes, |parts| Some(parts.uri.path()));
    let app = Services::new(Answers).into_axum_router().layer(GrpcWebLayer::new());
    let text = seen(app.layer(counted), &["Well", "Busy", "Lost"]).await;
    println!("{text}");
    for client in ["web", "node"] {
        for (method, code) in [("Well", "Ok"), ("Busy", "ResourceExhausted"), ("Lost", "DataLoss")]
        {
            let line = format!("{client} {method} {{\"{code}\":10}}");
            assert!(text.lines().any(|one| one == line), "{line}");
        }
    }
    let found = all(routes);
    let lost = Counts { exception: 20, ..Counts::successes(20) };
    for (method, counts) in
        [("Well", Counts::successes(20)), ("Busy", Counts::successes(20)), ("Lost", lost)]
    {
        assert_eq!(found[&format!("POST /test.Answers/{method}")], counts, "{method}");
    }

    limits!(CLIENTS, CLOCK: 10, |_| 3);
    CLOCK.advance(std::time::Duration::from_millis(500));
    let routes = crate::routes();
    let counted = MetricsLayer::new(routes, |parts| Some(parts.uri.path()));
    let app = Services::new(Answers).into_axum_router().layer(GrpcWebLayer::new());
    let app = app.layer(LimitLayer::new(&CLIENTS, client)).layer(counted);
    let text = seen(app, &["Well"]).await;
    println!("{text}");
    for client in ["web", "node"] {
        let line = text.lines().find(|it| it.starts_with(client)).expect("a line");
        assert!(line.contains("\"Ok\":3,\"ResourceExhausted 1000\":1"), "{line}");
        assert_eq!(line.matches("ResourceExhausted").count(), 7, "{line}"); // a place in line each
    }
    let window = routes.family().iter().next().expect("a route");
    let count = |event| window.window().lifetime(event).count;
    assert_eq!((count(Http::Request), count(Http::Block), count(Http::Exception)), (20, 14, 0));
}
