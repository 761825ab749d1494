//! The service: the answers to requests.

use std::convert::Infallible;
use std::fmt::{self, Debug, Formatter};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use http::header::{ACCEPT, ACCEPT_ENCODING, ALLOW, HeaderName};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use windrow_prometheus::{Format, prefers_gzip};

use crate::host::{is_allowed, names_this_machine};
use crate::query::asked_series;
use crate::sent::answers::{Answers, Asked};
use crate::sent::body::Body;
use crate::sent::hub::Hub;
#[cfg(feature = "log")]
use crate::sent::logged::Logged;
use crate::sent::response::{JSON, TEXT, events, made, page, plain, whole};
use crate::shown::names::events_of;
use crate::shown::registry::Shown;
use crate::unusual::evidence::Settings;
use crate::unusual::watches::{Keeper, Watches};

/// A console as a service: it answers requests, and costs nothing before the first one comes.
///
/// It is a tower service of `http` requests, so axum mounts it with `nest_service`, at any path.
/// For hyper and other servers there is [`respond`](Self::respond). Clones are cheap, and are the
/// same console.
///
/// ```
/// use windrow_console::Console;
///
/// let console = Console::new("shop").build();
/// let app = axum::Router::<()>::new().nest_service("/console", console.clone());
///
/// // When the service ends: streams would go on as long as their clients stay.
/// console.close();
/// ```
#[derive(Clone)]
#[must_use = "it answers no request before a server has it"]
pub struct ConsoleService {
    shown: Arc<Shown>,
    hub: Arc<Hub>,
    answers: Arc<Answers>,
    /// The log that has the past.
    #[cfg(feature = "log")]
    pub(crate) log: Option<Arc<Logged>>,
    hosts: Hosts,
}

/// The hosts to which a console answers.
#[derive(Clone, Copy)]
#[cfg_attr(not(feature = "server"), expect(dead_code))]
pub(crate) enum Hosts {
    /// This machine, addresses, and those of the program; for a scrape any.
    Listed,
    ThisMachine,
    Any,
}

impl ConsoleService {
    pub(crate) fn new(shown: Arc<Shown>, settings: Settings) -> ConsoleService {
        let events = shown.metrics.iter().map(|metric| events_of(metric.outline.form));
        let keeper = Arc::new(Keeper(Mutex::new(Watches::new(settings, events))));
        let hub = Arc::new(Hub::new(Arc::clone(&shown), Arc::clone(&keeper)));
        let answers = Arc::new(Answers::new(Arc::clone(&shown), keeper));
        ConsoleService {
            shown,
            hub,
            answers,
            #[cfg(feature = "log")]
            log: None,
            hosts: Hosts::Listed,
        }
    }

    /// Returns the console for a server of its own, with streams of its own.
    #[cfg(feature = "server")]
    pub(crate) fn for_server(&self, hosts: Hosts) -> ConsoleService {
        let hub = Hub::new(Arc::clone(&self.shown), Arc::clone(&self.hub.keeper));
        ConsoleService { hub: Arc::new(hub), hosts, ..self.clone() }
    }

    /// Answers a request. Its path is one below the place where the console is mounted: `/`,
    /// `/events`.
    ///
    /// The page, a stream and a refusal are ready at once. Numbers are read on the console's own
    /// thread, never on the caller's: the answer contains every add made before the request came.
    /// The thread makes one answer for all requests that wait, reads each series once for it, and
    /// then rests nine times as long, at most a second. The request's body is not read. The future
    /// needs no runtime.
    ///
    /// ```
    /// use http::{Request, StatusCode};
    /// use windrow_console::Console;
    ///
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let console = Console::new("shop").build();
    /// let request = Request::get("/text").body(())?;
    /// assert_eq!(console.respond(&request).await.status(), StatusCode::OK);
    /// let request = Request::get("/nothing").body(())?;
    /// assert_eq!(console.respond(&request).await.status(), StatusCode::NOT_FOUND);
    /// # Ok::<(), http::Error>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn respond<B>(&self, request: &Request<B>) -> Responding {
        let only_head = request.method() == Method::HEAD;
        let answer = self.answer(request);
        Box::pin(async move {
            let mut response = match answer {
                Ok(response) => response,
                Err(response) => response.await,
            };
            if only_head {
                *response.body_mut() = Body::whole("");
            }
            response
        })
    }

    /// Ends all streams, including those of this console's clones. Afterwards, requests for streams
    /// are refused; others are answered as before.
    ///
    /// Use it for a graceful shutdown, which would otherwise wait for the streams. The console's
    /// [own server](Self::serve) has streams of its own.
    ///
    /// ```
    /// windrow_console::Console::new("shop").build().close();
    /// ```
    pub fn close(&self) {
        self.hub.close();
    }

    /// Returns the answer to a request, or asks for it.
    fn answer<B>(&self, request: &Request<B>) -> Result<Response<Body>, Responding> {
        let path = request.uri().path().trim_start_matches('/');
        let refusal = match self.hosts {
            Hosts::Listed if path != "metrics" && !is_allowed(request, &self.shown.hosts) => {
                Some("This console does not answer under that name: add it by `Console::host`.\n")
            }
            Hosts::ThisMachine if !names_this_machine(request.headers()) => {
                Some("This console answers only to localhost.\n")
            }
            _ => None,
        };
        if let Some(refusal) = refusal {
            return Ok(plain(StatusCode::MISDIRECTED_REQUEST, refusal));
        }
        Ok(match path {
            "" | "events" | "snapshot.json" | "metrics" | "past" | "text"
                if !matches!(*request.method(), Method::GET | Method::HEAD) =>
            {
                let status = StatusCode::METHOD_NOT_ALLOWED;
                whole(status, TEXT, "Only GET and HEAD.\n", &[(ALLOW, "GET, HEAD")])
            }
            "" if wants_html(request.headers()) => page(),
            // A page of another site cannot read a stream, but it could hold all seats.
            "events" if is_from_elsewhere(request.headers()) => {
                plain(StatusCode::FORBIDDEN, "Streams are for the console's own page only.\n")
            }
            "events" => self.events(request.method() == Method::HEAD),
            "" | "text" => return Err(self.ask(Asked::Text)),
            "metrics" => return Err(self.ask(scrape(request.headers()))),
            "past" => return self.past(request),
            "snapshot.json" => {
                let asked = asked_series(request).map_or(Asked::Snapshot, Asked::Series);
                return Err(self.ask(asked));
            }
            _ => {
                let there = "There are /, /events, /snapshot.json, /metrics and /text.\n";
                plain(StatusCode::NOT_FOUND, there)
            }
        })
    }

    fn ask(&self, asked: Asked) -> Responding {
        // The same path returns the page, or another format, to other clients.
        let (kind, varies) = match asked {
            Asked::Text => (TEXT, Some("accept")),
            Asked::Metrics(format, _) => (format.content_type(), Some("accept, accept-encoding")),
            Asked::Snapshot | Asked::Series(_) => (JSON, None),
        };
        let answer = self.answers.ask(asked);
        Box::pin(async move { made(answer.await.ok(), kind, varies) })
    }

    /// Asks the log.
    #[cfg_attr(not(feature = "log"), allow(unused_variables, clippy::pedantic))]
    fn past<B>(&self, request: &Request<B>) -> Result<Response<Body>, Responding> {
        #[cfg(feature = "log")]
        if let Some(log) = &self.log {
            return match log.answer(request) {
                Ok(answer) => Err(Box::pin(async move { made(answer.await.ok(), JSON, None) })),
                Err((status, text)) => Ok(plain(status, text)),
            };
        }
        Ok(plain(StatusCode::NOT_FOUND, "This console has no log: see `Console::log`.\n"))
    }

    fn events(&self, only_head: bool) -> Response<Body> {
        if only_head {
            return events(Body::whole(""));
        }
        match self.hub.listen() {
            Some((listener, latest)) => events(Body::events(listener, latest)),
            None => plain(StatusCode::SERVICE_UNAVAILABLE, "There are too many streams.\n"),
        }
    }
}

/// The future of a console's response: from [`ConsoleService::respond`].
///
/// The future can be dropped like any other: the numbers read for it are then discarded.
pub type Responding = Pin<Box<dyn Future<Output = Response<Body>> + Send>>;

impl<B> tower_service::Service<Request<B>> for ConsoleService {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let responding = self.respond(&request);
        Box::pin(async { Ok(responding.await) })
    }
}

/// Shows the names of the metrics.
impl Debug for ConsoleService {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.shown.fmt(f)
    }
}

/// Returns whether the client asks for HTML by name. `curl` accepts anything, and gets the text.
fn wants_html(headers: &HeaderMap) -> bool {
    joined(headers, ACCEPT).contains("text/html")
}

/// Returns the scrape that the client asks for.
fn scrape(headers: &HeaderMap) -> Asked {
    let format = Format::negotiate(Some(&joined(headers, ACCEPT)));
    Asked::Metrics(format, prefers_gzip(Some(&joined(headers, ACCEPT_ENCODING))))
}

/// Returns the values of a header, joined by commas.
fn joined(headers: &HeaderMap, name: HeaderName) -> String {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.collect::<Vec<_>>().join(",")
}

/// Returns whether a browser says that a page of another site sent the request.
fn is_from_elsewhere(headers: &HeaderMap) -> bool {
    headers.get("sec-fetch-site").is_some_and(|site| site == "cross-site")
}

#[cfg(test)]
mod tests {
    use http::header::HeaderValue;

    use super::*;

    #[test]
    fn only_a_client_that_names_html_gets_the_page() {
        let wants = |accept: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, HeaderValue::from_static(accept));
            wants_html(&headers)
        };
        assert!(wants("text/html,application/xhtml+xml,*/*;q=0.8"));
        assert!(!wants("*/*"));
        assert!(!wants_html(&HeaderMap::new()));
    }
}
