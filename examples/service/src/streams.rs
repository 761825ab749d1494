//! The streams of the page, which take at most half of the connections.
//!
//! A stream goes on for as long as its page is open. Without a limit, open pages could take all
//! places, and probes and scrapes would find none.

use axum::Router;
use axum::http::header::CONNECTION;
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::map_response;
use axum::response::Response;
use windrow::labels;
use windrow_tower::{Places, RoomLayer, Rooms, Rules, RulesError};

labels! {
    enum Of { Page }
    struct Streams { of: Of }
}

static STREAMS: Rooms<Streams> = Rooms::new(1, |_| 0);

/// Returns the router with a limit of its streams, for this number of connections. A stream beyond
/// the limit is refused, and its connection ends, so that it takes no place either.
pub(crate) fn limited(router: Router, connections: usize) -> Result<Router, RulesError> {
    STREAMS.replace(Rules::builder(Places::new(connections as u64 / 2)).build()?)?;
    let places = RoomLayer::new(&STREAMS, |parts| {
        parts.uri.path().ends_with("/events").then_some(Streams { of: Of::Page })
    });
    Ok(router.layer(places).layer(map_response(end_if_refused)))
}

async fn end_if_refused(mut response: Response) -> Response {
    if response.status() == StatusCode::SERVICE_UNAVAILABLE {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}
