//! The program between two frames of the screen: the console, the connection, and the user's view.

use std::time::{Duration, Instant};

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use crate::error::Error;
use crate::frame::Frame;
use crate::legible::Legible;
use crate::model::Model;
use crate::view::{Mode, View};

/// The age of a frame from which the connection counts as lost.
const OLD: Duration = Duration::from_secs(4);

/// The greatest number of characters of a filter or a search.
const LONGEST: usize = 200;

/// The greatest number of characters of the reason for a lost connection.
const LONGEST_REASON: usize = 400;

/// A message of the thread that reads the stream.
#[derive(Debug)]
pub(crate) enum Message {
    Frame(Box<Frame>),
    /// The connection failed; the next attempt comes after the time.
    Lost(Error, Duration),
}

/// The state of the program.
#[derive(Debug, Default)]
pub(crate) struct App {
    /// The address as given.
    pub(crate) address: String,
    model: Option<Model>,
    /// The console as it was when the user paused.
    paused: Option<(Model, Instant)>,
    /// The time of the last frame.
    seen: Option<Instant>,
    lost: Option<Lost>,
    pub(crate) view: View,
}

/// A lost connection.
#[derive(Clone, Debug)]
pub(crate) struct Lost {
    pub(crate) why: Legible,
    pub(crate) next: Instant,
}

/// The state of what is shown.
#[derive(Clone, Debug)]
pub(crate) enum State {
    Connecting,
    Live,
    Paused(Duration),
    /// The age of the last frame, if there was any, and the reason, if it is known.
    Lost(Option<Duration>, Option<Lost>),
}

impl State {
    /// Returns the age of the numbers that are shown, if no newer ones come.
    pub(crate) fn age(&self) -> Option<Duration> {
        match self {
            State::Paused(age) | State::Lost(Some(age), _) => Some(*age),
            State::Connecting | State::Live | State::Lost(None, _) => None,
        }
    }
}

impl App {
    pub(crate) fn new(address: String) -> App {
        App { address, ..App::default() }
    }

    pub(crate) fn take(&mut self, message: Message, now: Instant) {
        match message {
            Message::Frame(frame) => {
                self.model.get_or_insert_default().take(*frame);
                (self.seen, self.lost) = (Some(now), None);
            }
            Message::Lost(error, pause) => {
                let why = Legible::of(&error.to_string(), LONGEST_REASON);
                self.lost = Some(Lost { why, next: now + pause });
            }
        }
    }

    /// Returns the console that is shown, once there is one.
    pub(crate) fn model(&self) -> Option<&Model> {
        self.paused.as_ref().map(|(model, _)| model).or(self.model.as_ref())
    }

    pub(crate) fn state(&self, now: Instant) -> State {
        let age = |seen: Instant| now.saturating_duration_since(seen);
        if let Some((_, at)) = &self.paused {
            return State::Paused(age(*at));
        }
        match (self.seen.map(age), &self.lost) {
            (seen, Some(lost)) => State::Lost(seen, Some(lost.clone())),
            (Some(seen), None) if seen > OLD => State::Lost(Some(seen), None),
            (Some(_), None) => State::Live,
            (None, None) => State::Connecting,
        }
    }

    /// Takes a key. Returns whether the program goes on.
    pub(crate) fn press(&mut self, key: KeyEvent) -> bool {
        if key.kind == KeyEventKind::Release {
            return true;
        }
        let with_control = key.modifiers.contains(KeyModifiers::CONTROL);
        if key.code == KeyCode::F(10) || with_control && key.code == KeyCode::Char('c') {
            return false;
        }
        match self.view.mode {
            Mode::Table if key.code == KeyCode::Char('q') => return false,
            Mode::Table => self.press_in_table(key.code),
            Mode::Filter | Mode::Search if !with_control => self.type_in(key.code),
            Mode::Filter | Mode::Search => {}
            Mode::Help => self.view.mode = Mode::Table,
        }
        true
    }

    fn press_in_table(&mut self, code: KeyCode) {
        let page = self.view.page.cast_signed();
        match code {
            KeyCode::F(1) | KeyCode::Char('h' | '?') => self.view.mode = Mode::Help,
            KeyCode::F(3) => {
                self.view.search.clear();
                self.view.mode = Mode::Search;
            }
            KeyCode::F(4) | KeyCode::Char('/' | '\\') => self.view.mode = Mode::Filter,
            KeyCode::F(6) | KeyCode::Char('>' | '.') => self.view.sort_by_next(1),
            KeyCode::Char('<' | ',') => self.view.sort_by_next(-1),
            KeyCode::Char('I') => self.view.rises ^= true,
            KeyCode::Char(' ') => self.pause(),
            KeyCode::Char('n') => self.find(false),
            KeyCode::Up | KeyCode::Char('k') => self.go(-1),
            KeyCode::Down | KeyCode::Char('j') => self.go(1),
            KeyCode::PageUp => self.go(-page),
            KeyCode::PageDown => self.go(page),
            KeyCode::Home => self.view.selected = None,
            KeyCode::End => self.go(isize::MAX),
            KeyCode::Esc => self.view.filter.clear(),
            _ => {}
        }
    }

    fn type_in(&mut self, code: KeyCode) {
        let is_search = self.view.mode == Mode::Search;
        let text = if is_search { &mut self.view.search } else { &mut self.view.filter };
        match code {
            KeyCode::Enter => self.view.mode = Mode::Table,
            KeyCode::Esc => {
                text.clear();
                self.view.mode = Mode::Table;
            }
            KeyCode::F(3) => self.find(false),
            KeyCode::Backspace => {
                text.pop();
            }
            KeyCode::Char(character) if text.chars().count() < LONGEST => {
                text.push(character);
                if is_search {
                    self.find(true);
                }
            }
            KeyCode::Up => self.go(-1),
            KeyCode::Down => self.go(1),
            _ => {}
        }
    }

    fn pause(&mut self) {
        self.paused = match (self.paused.take(), &self.model, self.seen) {
            (None, Some(model), Some(seen)) => Some((model.clone(), seen)),
            _ => None,
        };
    }

    fn go(&mut self, places: isize) {
        self.with_listed(|view, listed| view.go(listed, places));
    }

    fn find(&mut self, may_stay: bool) {
        self.with_listed(|view, listed| view.find(listed, may_stay));
    }

    fn with_listed(&mut self, act: impl FnOnce(&mut View, &[&crate::model::Row])) {
        let mut view = self.view.clone();
        if let Some(model) = self.model() {
            let listed = view.listed(model);
            act(&mut view, &listed);
        }
        self.view = view;
    }
}
