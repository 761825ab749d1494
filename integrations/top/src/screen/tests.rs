//! The screen of a real console, whose frames are recorded when the test begins.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use ratatui::style::Color;
use windrow::clock::Manual;
use windrow::{Counter, Family, HeavyKeys, SlidingWindow, events, labels};
use windrow_console::Console;

use super::{Theme, draw};
use crate::address::Address;
use crate::app::{App, Message};
use crate::client::Frames;
use crate::error::Error;
use crate::events::Event;
use crate::frame::Frame;
use crate::model::Model;
use crate::once;

events! { enum Web { Pass: Count, Block: Count, Failed: Count, Rt: Histogram } }

labels! { struct Path { path: str } }

type Window = SlidingWindow<Web, Manual>;
type Paths = Family<Path<'static>, Window, Box<dyn Fn() -> Window + Send + Sync>>;

const SECOND: Duration = Duration::from_secs(1);

/// A name that a terminal must not see.
const HOSTILE: &str = "/\x1b[2J\x1b]0;x\x07\u{202e}";

/// Returns a program that has taken the two frames.
fn app() -> App {
    static RECORDED: OnceLock<[Frame; 2]> = OnceLock::new();
    let mut app = App::new("127.0.0.1:9090".to_owned());
    for frame in RECORDED.get_or_init(record) {
        app.take(Message::Frame(Box::new(frame.clone())), Instant::now());
    }
    app
}

/// Returns two frames of a console, of which `/cart` has failed for ten minutes after a fine hour.
fn record() -> [Frame; 2] {
    let clock = Manual::default();
    let handle = clock.clone();
    let make = move || {
        let window = SlidingWindow::builder().interval(60 * SECOND).buckets(60);
        window.tier(60 * SECOND, 180).clock(handle.clone()).build().unwrap()
    };
    let make: Box<dyn Fn() -> Window + Send + Sync> = Box::new(make);
    let paths: &Paths = Box::leak(Box::new(Family::with_constructor(make)));
    let [cart, fine, hostile] = ["/cart", "/", HOSTILE].map(|path| paths.handle(Path { path }));
    hostile.add(Web::Pass, 1);
    for second in 0..4_200 {
        cart.add(Web::Pass, 99);
        cart.add(Web::Block, 1);
        cart.add(Web::Failed, if second < 3_600 { 0 } else { 90 });
        fine.add(Web::Pass, 200);
        for value in 0..20 {
            cart.record(Web::Rt, 2_000_000 + value * 10_000);
            fine.record(Web::Rt, 3_000_000 + value * 10_000);
        }
        clock.advance(SECOND);
    }
    let clients: Arc<HeavyKeys<str>> = Arc::new(HeavyKeys::of(100, 60 * SECOND, 60));
    clients.add("acme", 30);
    clients.add(HOSTILE, 10);
    let visits = Arc::new(Counter::new());
    visits.add(7);
    let mut console = Console::new("shop");
    console.show("requests", "Requests by path", paths).unwrap();
    console.show("visits", "Visits", visits).unwrap();
    console.show_heavy("clients", "Requests by client", clients);
    console.nanoseconds("Rt");
    console.version("1.2.3");
    let server = console.build().serve("127.0.0.1:0").unwrap();
    let address = Address::parse(&server.address().to_string()).unwrap();
    let mut frames = Frames::open(&address).unwrap();
    std::array::from_fn(|_| frames.next().unwrap())
}

/// Returns the lines of a screen.
fn lines(app: &mut App, (width, height): (u16, u16), now: Instant) -> Vec<String> {
    let (text, _) = drawn(app, (width, height), Theme::of(None), now);
    text
}

fn drawn(
    app: &mut App,
    (width, height): (u16, u16),
    theme: Theme,
    now: Instant,
) -> (Vec<String>, Vec<Color>) {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    let area = Rect::new(0, 0, width, height);
    terminal.draw(|frame| draw(frame.buffer_mut(), area, app, theme, now)).unwrap();
    let buffer = terminal.backend().buffer();
    let row = |row: u16| (0..width).map(|column| buffer[(column, row)].symbol()).collect();
    let colours = buffer.content.iter().flat_map(|cell| [cell.fg, cell.bg]).collect();
    let text: Vec<String> = (0..height).map(row).collect();
    assert_escaped(&text.join("\n"));
    (text, colours)
}

/// Asserts that the hostile name is escaped wherever it is shown.
///
/// (A buffer drops control characters: the text after them tells whether the name had them.)
fn assert_escaped(text: &str) {
    let [all, escaped] = ["[2J", "\\u{1b}[2J"].map(|part| text.matches(part).count());
    assert_eq!(all, escaped, "{text}");
}

fn press(app: &mut App, codes: &[KeyCode]) {
    for code in codes {
        assert!(app.press(KeyEvent::new(*code, KeyModifiers::NONE)));
    }
}

fn type_text(app: &mut App, text: &str) {
    let codes: Vec<KeyCode> = text.chars().map(KeyCode::Char).collect();
    press(app, &codes);
}

/// Returns the place of the first line that contains a text.
fn place(lines: &[String], text: &str) -> usize {
    let found = lines.iter().position(|line| line.contains(text));
    found.unwrap_or_else(|| panic!("{text:?} is not in:\n{}", lines.join("\n")))
}

#[test]
fn the_first_screen_says_what_is_wrong_and_where() {
    let mut app = app();
    let now = Instant::now();
    let shown = lines(&mut app, (80, 24), now);
    assert!(shown[0].starts_with("shop  live  up "), "{}", shown[0]);
    assert!(shown[0].contains("windows of 59 s, version 1.2.3, "), "{}", shown[0]);
    assert!(shown[1].starts_with("! /cart failures 0 % to 9"), "{}", shown[1]);
    assert!(shown[1].contains(" UTC (10 min)"), "{}", shown[1]);
    let sums = &shown[place(&shown, "/s now")];
    assert!(
        sums.starts_with("requests ") && sums.contains("30.0% failing 0.33% refused"),
        "{sums}"
    );
    let titles = &shown[place(&shown, "failing refused")];
    let order = ["series", "\u{2193}since", "rate/s", "failing", "refused", "p99", "last minute"];
    let at = order.map(|title| titles.find(title).unwrap_or_else(|| panic!("{title}: {titles}")));
    assert!(at.is_sorted(), "{titles}");
    let cart = &shown[place(&shown, "\u{25a0} /cart requests")];
    for cell in [" 99.0 ", " 90.0% ", " 59 ", "2.1", "ms ", "\u{2588}"] {
        assert!(cart.contains(cell), "{cell}: {cart}");
    }
    let fine = &shown[place(&shown, "\u{25cf} / requests")];
    assert!(fine.contains(" 200 ") && fine.contains(" 0% "), "{fine}");
    assert!(place(&shown, "\u{25a0} /cart") < place(&shown, "\u{25cf} / "), "the unusual is first");
    let heavy = &shown[place(&shown, "clients, last minute, 40 in all: ")];
    assert!(heavy.contains("acme 30 (75.0%), /\\u{1b}[2J"), "{heavy}");
    assert!(shown[21].starts_with("requests{path=\"/cart\"}"), "{}", shown[21]);
    assert!(shown[22].starts_with("failures 0 %"), "{}", shown[22]);
    assert!(shown[23].starts_with("F1 help  F3 search  / filter"), "{}", shown[23]);
}

#[test]
fn every_width_has_its_columns_and_no_size_is_too_small() {
    let mut app = app();
    let now = Instant::now();
    let titles = |app: &mut App, width| {
        let shown = lines(app, (width, 24), now);
        shown[place(&shown, "series ")].clone()
    };
    for (width, has, lacks) in [
        (40, "since  rate/s failing", "p99"),
        (50, "failing     p99", "refused"),
        (60, "failing refused     p99", "last minute"),
        (80, "p99 last minute", "max"),
        (140, "p99     max   total last minute", "unknown"),
    ] {
        let titles = titles(&mut app, width);
        assert!(titles.contains(has) && !titles.contains(lacks), "{width}: {titles}");
    }
    let narrow = lines(&mut app, (40, 24), now);
    assert!(narrow[1].starts_with("! /cart failures") && narrow[2].starts_with("  "), "{narrow:?}");
    for width in 0..60 {
        for height in 0..30 {
            lines(&mut app, (width, height), now);
        }
    }
}

#[test]
fn a_lost_connection_and_the_age_of_the_numbers_are_shown() {
    let mut app = app();
    let now = Instant::now();
    let later = now + 7 * SECOND;
    assert!(lines(&mut app, (80, 24), later)[0].starts_with("shop  lost, 7.0 s old  "));
    app.take(Message::Lost(Error::Closed, 3 * SECOND), now);
    let shown = lines(&mut app, (80, 24), now + SECOND);
    assert!(shown[0].starts_with("shop  lost, 1.0 s old  "), "{}", shown[0]);
    let says = "next attempt in 2 s: the server has closed the connection";
    assert_eq!(shown[1].trim_end(), says);
    place(&shown, "\u{25a0} /cart");

    let mut new = App::new("shop:9090".to_owned());
    let shown = lines(&mut new, (80, 24), now);
    assert_eq!([shown[0].trim_end(), shown[1].trim_end()], ["windrow-top shop:9090", "connecting"]);
    new.take(Message::Lost(Error::Closed, SECOND), now);
    place(&lines(&mut new, (80, 24), now), says.split_once(": ").unwrap().1);
}

/// A sentence has both ages: that of the change when the numbers came, and that of the numbers.
#[test]
fn of_old_numbers_the_sentences_say_when_they_were_true() {
    let mut app = app();
    let (now, size) = (Instant::now(), (120, 24));
    let says = " UTC (10 min)";
    let live = lines(&mut app, size, now);
    assert!(live[1].contains(says) && live[22].contains(says), "{live:?}");
    app.take(Message::Lost(Error::Closed, SECOND), now);
    let lost = lines(&mut app, size, now + 3_600 * SECOND);
    let says = " UTC (10 min, as of 60 min ago)";
    assert!(lost[2].contains(says) && lost[22].contains(says), "{lost:?}");
    press(&mut app, &[KeyCode::Char(' ')]);
    let paused = lines(&mut app, size, now + 90 * SECOND);
    assert!(paused[1].contains(" UTC (10 min, as of 90 s ago)"), "{paused:?}");
}

#[test]
fn keys_sort_filter_search_and_pause() {
    let mut app = app();
    let now = Instant::now();
    let size = (80, 24);
    let first = |app: &mut App| {
        let shown = lines(app, size, now);
        shown[place(&shown, "last minute ") + 1].clone()
    };
    // By the rate, from the highest on, and the other way round.
    press(&mut app, &[KeyCode::F(6), KeyCode::Char('>')]);
    assert!(first(&mut app).contains("\u{25cf} / "));
    press(&mut app, &[KeyCode::Char('I')]);
    assert!(!first(&mut app).contains("\u{25cf} / "));
    press(&mut app, &[KeyCode::Char('<'), KeyCode::Char('<')]);
    assert!(first(&mut app).contains("/cart"));

    type_text(&mut app, "/CART req");
    let shown = lines(&mut app, size, now);
    assert!(shown[23].starts_with("filter: CART req_  (1 of 4)"), "{}", shown[23]);
    press(&mut app, &[KeyCode::Enter]);
    assert!(lines(&mut app, size, now)[23].starts_with("filter: CART req (1 of 4)  F1"));
    press(&mut app, &[KeyCode::Esc, KeyCode::F(3)]);
    type_text(&mut app, "visit");
    assert!(lines(&mut app, size, now)[21].starts_with("visits "), "the found row is selected");
    press(&mut app, &[KeyCode::Esc, KeyCode::Home]);
    assert!(lines(&mut app, size, now)[21].starts_with("requests{path=\"/cart\"}"));
    press(&mut app, &[KeyCode::End]);
    assert!(!lines(&mut app, size, now)[21].starts_with("requests{path=\"/cart\"}"));
    press(&mut app, &[KeyCode::PageUp, KeyCode::Down, KeyCode::Up]);
    assert!(lines(&mut app, size, now)[21].starts_with("requests{path=\"/cart\"}"));
    // One line for rows: the selected one is in it.
    press(&mut app, &[KeyCode::Down]);
    let small = lines(&mut app, (80, 5), now);
    assert!(small[3].contains("\u{25cf} / "), "{small:?}");

    press(&mut app, &[KeyCode::Char(' ')]);
    app.take(Message::Lost(Error::Closed, SECOND), now);
    assert!(lines(&mut app, size, now + 9 * SECOND)[0].starts_with("shop  paused, 9"));
    press(&mut app, &[KeyCode::Char(' ')]);
    assert!(lines(&mut app, size, now)[0].starts_with("shop  lost, "));

    press(&mut app, &[KeyCode::F(1)]);
    place(&lines(&mut app, size, now), "Any key goes back.");
    press(&mut app, &[KeyCode::Char('h')]);
    assert!(lines(&mut app, size, now)[0].starts_with("shop"));
    for (code, modifiers) in [
        (KeyCode::Char('q'), KeyModifiers::NONE),
        (KeyCode::F(10), KeyModifiers::NONE),
        (KeyCode::Char('c'), KeyModifiers::CONTROL),
    ] {
        assert!(!app.press(KeyEvent::new(code, modifiers)), "{code:?} quits");
    }
}

#[test]
fn without_colours_no_cell_has_one() {
    let mut app = app();
    let now = Instant::now();
    let colours = |app: &mut App, no_color| drawn(app, (80, 24), Theme::of(no_color), now).1;
    for empty in [None, Some("")] {
        assert!(colours(&mut app, empty).contains(&Color::Red));
    }
    assert!(colours(&mut app, Some("1")).iter().all(|colour| *colour == Color::Reset));
}

#[test]
fn a_frame_as_text_has_the_same_words_and_all_rows() {
    let app = app();
    let text = once::text(app.model().unwrap(), 80);
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    assert!(lines[0].starts_with("shop  up "), "{text}");
    for part in ["! /cart failures", "\u{25a0} /cart", "\u{25cf} / ", "visits", "acme 30 (75.0%)"] {
        place(&lines, part);
    }
    assert!(text.contains("\\u{1b}[2J"), "{text}");
    assert_escaped(&text);
}

#[test]
fn three_changes_are_said_and_the_others_counted() {
    let row = |id: usize| format!(r#"[{id},0,"r{{p=\"\u4e2d{id}\"}}",0,[{id},0],[]]"#);
    let rows: Vec<String> = (0..5).map(row).collect();
    // At one o'clock: since half an hour, and since five minutes before midnight.
    let change = |id: usize, since: u64, course| {
        format!(r#"[{id},"slow",{id},{since},"p99 \u00d740","{course}"]"#)
    };
    let changes = [change(4, 88_200_000, "worse"), change(3, 86_100_000, "better")];
    let others = [2, 1, 0].map(|id| change(id, 88_200_000, "steady"));
    let json = format!(
        r#"{{"epoch":"a","frame":1,"time":90000000,"service":"\u4e2d\u6587",
        "metrics":[["requests","","window",[["Pass","Count",""]],""]],"rows":[{}],
        "unusual":{{"list":[{},{}],"changes":9,"windows":7,"compared":6}}}}"#,
        rows.join(","),
        changes.join(","),
        others.join(",")
    );
    let event = Event { is_all: true, data: json.into_bytes() };
    let mut model = Model::default();
    model.take(Frame::read(&event).unwrap());
    let text = once::text(&model, 60);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("\u{4e2d}\u{6587}  up "), "{text}");
    let said = [
        "! \u{4e2d}4 p99 \u{d7}40 since 00:30 UTC (30 min), getting worse",
        "! \u{4e2d}3 p99 \u{d7}40 since yesterday 23:55 UTC (65 min), getting",
        "  better",
        "! \u{4e2d}2 p99 \u{d7}40 since 00:30 UTC (30 min)",
        "and 6 more (6 of 7 windows have a past to compare with)",
    ];
    assert_eq!(lines[1..6], said, "{text}");
}

#[test]
fn a_calm_that_was_is_not_one_of_now() {
    let json = r#"{"epoch":"a","frame":1,"time":435600000,
        "unusual":{"calm":433800000,"changes":0,"windows":1,"compared":1}}"#;
    let mut app = App::new("shop:9090".to_owned());
    let event = Event { is_all: true, data: json.to_owned().into_bytes() };
    let now = Instant::now();
    app.take(Message::Frame(Box::new(Frame::read(&event).unwrap())), now);
    for (passed, says) in [
        (1, "Nothing unusual since 00:30 UTC."),
        (60, "Nothing unusual since 00:30 UTC, as of 60 s ago."),
        (86_400, "Nothing unusual since yesterday 00:30 UTC, as of 24 h ago."),
    ] {
        let shown = lines(&mut app, (80, 24), now + passed * SECOND);
        assert!(shown.iter().any(|line| line.trim_end() == says), "{shown:?}");
    }
}

#[test]
fn a_calm_of_days_says_how_many() {
    let calm = |calm: u64| {
        // At one o'clock of the sixth day.
        let json = format!(
            r#"{{"epoch":"a","frame":1,"time":435600000,
            "unusual":{{"calm":{calm},"changes":0,"windows":1,"compared":1}}}}"#
        );
        let mut model = Model::default();
        model.take(Frame::read(&Event { is_all: true, data: json.into_bytes() }).unwrap());
        once::text(&model, 60).lines().nth(1).unwrap().to_owned()
    };
    for (at, says) in [
        (433_800_000, "00:30 UTC"),
        (431_700_000, "yesterday 23:55 UTC"),
        (345_600_000, "yesterday 00:00 UTC"),
        (345_540_000, "23:59 UTC, 2 days ago"),
        (1_800_000, "00:30 UTC, 5 days ago"),
    ] {
        assert_eq!(calm(at), format!("Nothing unusual since {says}."));
    }
}
