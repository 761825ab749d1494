//! The site of a fleet: its members as they are now, and the answers to requests.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{ALLOW, HeaderValue, VARY};
use http::{Method, Request, Response, StatusCode};

use super::answer::{self, Head};
use super::courses::{Courses, ROUNDS};
use super::members::{Members, Miss};
use super::poll;
use super::reading::Reading;
use super::says::Beginnings;
use super::sparks::FURTHER;
use super::targets::Target;
use super::view::View;
use crate::body::Body;
use crate::page;
use crate::server::Site;
use crate::service::{JSON, Responding, TEXT, asked_after, asked_series, plain, wants_html, whole};

/// The least time for which answers are made of one view.
const LEAST: Duration = Duration::from_millis(250);

/// The time after which a view is made even if no client asks for one, so that it is known since
/// when a process is unlike the others.
const LOOK: Duration = Duration::from_secs(10);

/// A view is used for this many times as long as it took to make.
const REST: u32 = 9;

/// The state that the rounds and the answers share.
pub(super) struct Shared {
    pub(super) name: String,
    pub(super) targets: Vec<Target>,
    pub(super) file: Option<PathBuf>,
    begun: Instant,
    begun_wall: u64,
    members: Mutex<Members>,
    troubles: Mutex<Vec<String>>,
    latest: Mutex<Option<Arc<Latest>>>,
    courses: Mutex<Courses>,
    beginnings: Mutex<Beginnings>,
}

/// A view, and the answers that were made of it.
struct Latest {
    head: Head,
    view: View,
    until: Instant,
    json: OnceLock<String>,
    /// The answers with all points, and with the last ones.
    whole: OnceLock<Bytes>,
    further: OnceLock<Bytes>,
    text: OnceLock<Bytes>,
}

impl Shared {
    pub(super) fn new(name: String, targets: Vec<Target>, file: Option<PathBuf>) -> Shared {
        Shared {
            name,
            targets,
            file,
            begun: Instant::now(),
            begun_wall: crate::unusual::wall(),
            members: Mutex::default(),
            troubles: Mutex::default(),
            latest: Mutex::default(),
            courses: Mutex::default(),
            beginnings: Mutex::default(),
        }
    }

    /// Sets the addresses that are asked, each with its target, and the faults of their list.
    pub(super) fn set(
        &self,
        addresses: impl Iterator<Item = (String, String)>,
        troubles: Vec<String>,
    ) {
        lock(&self.members).set_places(addresses);
        *lock(&self.troubles) = troubles;
    }

    pub(super) fn questions(&self, address: &str) -> usize {
        lock(&self.members).questions(address, self.begun.elapsed())
    }

    pub(super) fn note(&self, address: &str, answer: Result<Reading, Miss>) {
        lock(&self.members).note(address, self.begun.elapsed(), answer);
    }

    /// Ends a round of answers.
    pub(super) fn end_round(&self) {
        let now = self.begun.elapsed();
        let there = lock(&self.members).there(now);
        lock(&self.courses).end_round(now, &there);
        let is_old = |latest: &Arc<Latest>| now.saturating_sub(latest.view.now) >= LOOK;
        if lock(&self.latest).as_ref().is_none_or(is_old) {
            self.latest();
        }
    }

    fn latest(&self) -> Arc<Latest> {
        let mut latest = lock(&self.latest);
        let begun = Instant::now();
        if let Some(latest) = latest.as_ref().filter(|latest| begun < latest.until) {
            return Arc::clone(latest);
        }
        let mut view = View::of(&lock(&self.members), self.begun.elapsed());
        view.note(&mut lock(&self.beginnings));
        let troubles = lock(&self.troubles).clone();
        let head = Head { name: self.name.clone(), begun: self.begun_wall, troubles };
        let until = begun + (begun.elapsed() * REST).max(LEAST);
        let made = Arc::new(Latest {
            head,
            view,
            until,
            json: OnceLock::new(),
            whole: OnceLock::new(),
            further: OnceLock::new(),
            text: OnceLock::new(),
        });
        *latest = Some(Arc::clone(&made));
        made
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing panics under the locks.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The site of a fleet, for a server.
#[derive(Clone)]
pub(super) struct FleetSite(pub(super) Arc<Shared>);

impl Site for FleetSite {
    fn begin(&self) {
        tokio::spawn(poll::rounds(Arc::clone(&self.0)));
    }

    fn respond<B>(&self, request: &Request<B>) -> Responding {
        let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
        let path = request.uri().path().trim_start_matches('/');
        let response = match path {
            "" | "text" | "snapshot.json" if !is_read => {
                let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, "Only GET and HEAD.\n");
                response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
                response
            }
            "" if wants_html(request.headers()) => page::fleet(),
            "" | "text" => self.text(),
            "snapshot.json" => match asked_series(request) {
                Some(key) => self.series(&key),
                None => self.json(asked_after(request)),
            },
            _ => plain(StatusCode::NOT_FOUND, "There are /, /snapshot.json and /text.\n"),
        };
        Responding::to(request, response)
    }

    fn close(&self) {}
}

impl FleetSite {
    fn text(&self) -> Response<Body> {
        let latest = self.0.latest();
        let text = latest.text.get_or_init(|| {
            answer::text(&latest.head, &latest.view, &lock(&self.0.courses)).into()
        });
        let mut response = whole(StatusCode::OK, TEXT, text.clone());
        response.headers_mut().insert(VARY, HeaderValue::from_static("accept"));
        response
    }

    /// Returns all numbers: with all points of the courses, or if the client has those up to a
    /// time, perhaps with the last ones alone.
    fn json(&self, after: Option<u64>) -> Response<Body> {
        let latest = self.0.latest();
        let courses = lock(&self.0.courses);
        let before = courses.ends(FURTHER).next().map(|end| latest.head.wall(end));
        let is_further = after.zip(before).is_some_and(|(after, before)| after >= before);
        let (made, most) =
            if is_further { (&latest.further, FURTHER) } else { (&latest.whole, ROUNDS) };
        let json = made.get_or_init(|| {
            let json = latest.json.get_or_init(|| answer::json(&latest.head, &latest.view));
            answer::with_courses(json, &latest.head, &courses, most).into()
        });
        whole(StatusCode::OK, JSON, json.clone())
    }

    fn series(&self, key: &str) -> Response<Body> {
        let latest = self.0.latest();
        match answer::series(&latest.head, &latest.view, &lock(&self.0.courses), key) {
            Some(series) => whole(StatusCode::OK, JSON, series),
            None => plain(StatusCode::NOT_FOUND, "There is no series of that name.\n"),
        }
    }
}
