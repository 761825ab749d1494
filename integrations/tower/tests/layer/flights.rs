//! A request is in flight until its body has ended, whatever becomes of it; and each is at most one
//! exception.

use std::convert::Infallible;
use std::future::{Future, poll_fn, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body::{Body, Frame};
use http_body_util::{BodyExt, Empty, Full};
use tower::{Layer, Service, ServiceExt, service_fn};
use windrow_tower::{
    ByStatus, Flight, Http, Method, MetricsLayer, ResponseBody, ResponseFuture, Route, Routes,
};

use crate::{Counts, Nothing, get, routes};

const ROUTE: &str = "/it";

fn layer(
    routes: &'static Routes,
) -> MetricsLayer<impl Fn(&http::request::Parts) -> Option<&str> + Clone> {
    MetricsLayer::new(routes, |_| Some(ROUTE))
}

fn request() -> Request<Nothing> {
    Request::new(Nothing::new())
}

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

fn falls_over() -> Result<Response<Empty<Bytes>>, Infallible> {
    panic!("the handler fell over")
}

/// The steps of a body.
#[derive(Clone, Copy)]
enum Step {
    Data,
    Wait,
    Fail,
    Panic,
    End,
}

struct Steps(std::vec::IntoIter<Step>);

impl Body for Steps {
    type Data = Bytes;
    type Error = &'static str;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, &'static str>>> {
        match self.0.next() {
            Some(Step::Data) => Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b"x"))))),
            Some(Step::Wait) => Poll::Pending,
            Some(Step::Fail) => Poll::Ready(Some(Err("broken"))),
            Some(Step::Panic) => panic!("the body fell over"),
            Some(Step::End) | None => Poll::Ready(None),
        }
    }
}

/// Returns the body of a response that the layer has counted.
async fn body(
    routes: &'static Routes,
    steps: &[Step],
) -> impl Body<Data = Bytes, Error = &'static str> + Unpin {
    let steps = steps.to_vec();
    let inner = service_fn(move |_| {
        ready(Ok::<_, Infallible>(Response::new(Steps(steps.clone().into_iter()))))
    });
    layer(routes).layer(inner).oneshot(request()).await.expect("a response").into_body()
}

/// The result of polling a body; `None` is its end.
type Next<B> = Option<Result<Frame<<B as Body>::Data>, <B as Body>::Error>>;

/// Polls a body once. None: it waits.
fn next<B: Body + Unpin>(body: &mut B) -> Option<Next<B>> {
    match poll(pin!(poll_fn(|context| Pin::new(&mut *body).poll_frame(context)))) {
        Poll::Ready(frame) => Some(frame),
        Poll::Pending => None,
    }
}

const ONE_IN_FLIGHT: Counts =
    Counts { pass: 1, answered: 1, exception: 0, cancelled: 0, in_flight: 1 };
const FAILED: Counts = Counts { exception: 1, in_flight: 0, ..ONE_IN_FLIGHT };

#[tokio::test]
async fn a_streaming_body_is_in_flight_until_its_end() {
    let routes = routes();
    let mut body = body(routes, &[Step::Data, Step::Wait, Step::Data, Step::End]).await;
    for is_data in [true, false, true] {
        assert_eq!(next(&mut body).is_some(), is_data);
        assert_eq!(get(routes, ROUTE), ONE_IN_FLIGHT);
    }
    assert!(next(&mut body).expect("no wait").is_none());
    assert_eq!(get(routes, ROUTE), Counts::successes(1));
    assert!(next(&mut body).expect("no wait").is_none(), "it may be polled on");
    drop(body);
    assert_eq!(get(routes, ROUTE), Counts::successes(1));
}

/// Two at once, then one, then none: the window has the two.
#[tokio::test]
async fn the_most_in_flight_at_once_is_in_the_window() {
    let routes = routes();
    let one = body(routes, &[Step::End]).await;
    let other = body(routes, &[Step::End]).await;
    drop(one);
    drop(body(routes, &[Step::End]).await);
    let endpoint = routes.with(Route { method: Method::Get, route: ROUTE });
    assert_eq!((endpoint.in_flight().level(), endpoint.peaks().peak()), (1, 2));
    drop(other);
    assert_eq!(endpoint.in_flight().level(), 0);
    assert_eq!(endpoint.window().lifetime(Http::InFlight).max, Some(2));
}

#[tokio::test]
async fn a_body_that_says_that_it_is_at_its_end_is_not_polled_for_it() {
    let routes = routes();
    let full = service_fn(|_| {
        ready(Ok::<_, Infallible>(Response::new(Full::new(Bytes::from_static(b"all")))))
    });
    let response = layer(routes).layer(full).oneshot(request()).await.expect("a response");
    assert_eq!(get(routes, ROUTE), ONE_IN_FLIGHT);
    let mut full = response.into_body();
    assert_eq!((full.size_hint().exact(), full.is_end_stream()), (Some(3), false));
    assert!(next(&mut full).is_some());
    assert_eq!(get(routes, ROUTE), Counts::successes(1));
    let empty = service_fn(|_| ready(Ok::<_, Infallible>(Response::new(Empty::<Bytes>::new()))));
    let response = layer(routes).layer(empty).oneshot(request()).await.expect("a response");
    assert_eq!(get(routes, ROUTE), Counts::successes(2));
    assert!(response.body().is_end_stream());
}

#[tokio::test]
async fn a_dropped_body_ends_the_flight_and_is_no_exception() {
    let routes = routes();
    let mut body = body(routes, &[Step::Data, Step::Data]).await;
    assert!(next(&mut body).is_some());
    assert_eq!(get(routes, ROUTE).in_flight, 1);
    drop(body);
    assert_eq!(get(routes, ROUTE), Counts::successes(1));
}

#[tokio::test]
async fn a_body_that_fails_is_an_exception() {
    let routes = routes();
    let mut body = body(routes, &[Step::Data, Step::Fail]).await;
    assert!(next(&mut body).is_some());
    assert!(next(&mut body).expect("no wait").expect("an error").is_err());
    assert_eq!(get(routes, ROUTE), FAILED);
    drop(body);
    assert_eq!(get(routes, ROUTE), FAILED);
}

#[tokio::test]
async fn a_body_that_panics_is_an_exception() {
    let routes = routes();
    let mut body = body(routes, &[Step::Data, Step::Panic]).await;
    assert!(next(&mut body).is_some());
    assert!(catch_unwind(AssertUnwindSafe(|| next(&mut body))).is_err());
    drop(body);
    assert_eq!(get(routes, ROUTE), FAILED);
}

#[tokio::test]
async fn a_failed_response_whose_body_fails_is_one_exception() {
    let routes = routes();
    let inner = service_fn(|_| {
        let mut response = Response::new(Steps(vec![Step::Fail].into_iter()));
        *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
        ready(Ok::<_, Infallible>(response))
    });
    let response = layer(routes).layer(inner).oneshot(request()).await.expect("a response");
    assert_eq!(get(routes, ROUTE), Counts { in_flight: 1, ..FAILED });
    assert!(response.into_body().collect().await.is_err());
    assert_eq!(get(routes, ROUTE), FAILED);
}

#[tokio::test]
async fn an_error_of_the_service_is_an_exception() {
    let routes = routes();
    let inner = service_fn(|_| ready(Err::<Response<Empty<Bytes>>, _>("refused")));
    let error = layer(routes).layer(inner).oneshot(request()).await.expect_err("an error");
    assert_eq!((error, get(routes, ROUTE)), ("refused", FAILED));
}

#[tokio::test]
async fn a_dropped_future_is_cancelled() {
    let routes = routes();
    let inner =
        service_fn(|_| std::future::pending::<Result<Response<Empty<Bytes>>, Infallible>>());
    let mut service = layer(routes).layer(inner);
    let cancelled = |cancelled| Counts { pass: cancelled, cancelled, ..Counts::default() };
    drop(service.call(request())); // was never polled
    assert_eq!(get(routes, ROUTE), cancelled(1));
    let mut future = Box::pin(service.call(request()));
    assert!(poll(future.as_mut()).is_pending());
    assert_eq!(get(routes, ROUTE), Counts { pass: 2, in_flight: 1, ..cancelled(1) });
    drop(future);
    assert_eq!(get(routes, ROUTE), cancelled(2));
}

#[tokio::test]
async fn a_panic_is_an_exception() {
    let panicked = |pass| Counts { pass, exception: pass, ..Counts::default() };
    let routes = routes();
    let in_future = service_fn(|_| async { falls_over() });
    let mut future = Box::pin(layer(routes).layer(in_future).call(request()));
    assert!(catch_unwind(AssertUnwindSafe(|| poll(future.as_mut()))).is_err());
    assert_eq!(
        get(routes, ROUTE).in_flight,
        1,
        "the future still exists where the panic was caught"
    );
    drop(future);
    assert_eq!(get(routes, ROUTE), panicked(1));

    let in_call =
        service_fn(|_| -> std::future::Ready<Result<Response<Empty<Bytes>>, Infallible>> {
            panic!("the service fell over")
        });
    let mut service = layer(routes).layer(in_call);
    assert!(catch_unwind(AssertUnwindSafe(|| drop(service.call(request())))).is_err());
    assert_eq!(get(routes, ROUTE), panicked(2));

    let never =
        service_fn(|_| std::future::pending::<Result<Response<Empty<Bytes>>, Infallible>>());
    let future = layer(routes).layer(never).call(request());
    let unwinds = AssertUnwindSafe(|| {
        let _dropped_by_it = future;
        panic!("something else fell over");
    });
    assert!(catch_unwind(unwinds).is_err());
    assert_eq!(
        get(routes, ROUTE),
        Counts { pass: 3, cancelled: 1, ..panicked(2) },
        "not by its own panic"
    );
}

#[tokio::test]
async fn a_series_with_a_request_in_flight_is_not_removed() {
    let routes = routes();
    let mut body = body(routes, &[Step::Data]).await;
    assert_eq!(routes.family().retain(|_, _| false), 0);
    assert!(next(&mut body).is_some());
    drop(body);
    assert_eq!(routes.family().retain(|_, _| false), 1);
    let (events, in_flight) = routes.family().lifetime();
    assert_eq!((events.stats(Http::Request).count, in_flight), (1, 0));
}

#[test]
fn the_sizes_are_those_that_the_documentation_says() {
    fn is_send<T: Send>() -> usize {
        size_of::<T>()
    }
    assert_eq!(is_send::<ResponseBody<(), Flight<ByStatus>>>(), 56);
    assert_eq!(is_send::<ResponseFuture<(), Flight<ByStatus>>>(), 48);
}
