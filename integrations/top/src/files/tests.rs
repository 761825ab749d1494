//! The screen of a file whose process counts, is stopped, and is killed.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Instant;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use windrow_mapped::File;

use super::*;
use crate::app::App;
use crate::follow::follow;
use crate::model::{Model, News};
use crate::screen::{self, Theme};
use crate::source::Source;

const CHILD: &str = "files::tests::the_child_counts";
const PATH: &str = "WINDROW_TOP_TEST_FILE";

/// Runs in a child: counts until it is killed.
#[test]
fn the_child_counts() {
    let Some(path) = env::var_os(PATH) else { return };
    let file = File::open(PathBuf::from(path)).unwrap();
    file.take_slot().unwrap();
    let [cart, pay] = ["/cart", "/pay"]
        .map(|route| file.counter("requests", &[("route", route), ("code", "200")]).unwrap());
    let largest = file.maximum("largest_body", &[]).unwrap();
    for step in 0_u64.. {
        cart.add(3);
        pay.add(1);
        largest.record(step % 4_096);
        thread::sleep(Duration::from_millis(10));
    }
}

/// A child that is killed at the latest when the test is over.
struct Counting(Child);

impl Counting {
    fn start(path: &Path) -> Counting {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", CHILD]).env(PATH, path).stdout(Stdio::null());
        Counting(command.spawn().unwrap())
    }

    fn send(&self, signal: libc::c_int) {
        // SAFETY: the process is the test's own, and was not waited for.
        assert_eq!(unsafe { libc::kill(self.0.id().cast_signed(), signal) }, 0);
    }
}

impl Drop for Counting {
    fn drop(&mut self) {
        let _ = self.0.kill(); // it may have ended
        let _ = self.0.wait();
    }
}

/// The program without a terminal.
struct Program {
    app: App,
    messages: mpsc::Receiver<crate::app::Message>,
}

impl Program {
    fn start(source: Source) -> Program {
        let (sender, messages) = mpsc::channel();
        let app = App::new(source.shown());
        thread::spawn(move || follow(&source, |message| sender.send(message).is_ok(), |_| ()));
        Program { app, messages }
    }

    /// Waits for a screen whose text is as wanted, and returns that.
    fn wait_for(&mut self, is_wanted: impl Fn(&App, &str) -> bool) -> String {
        let begun = Instant::now();
        loop {
            let shown = self.shown();
            if is_wanted(&self.app, &shown) {
                return shown;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "{shown}");
            let message = self.messages.recv_timeout(Duration::from_secs(60)).unwrap();
            self.app.take(message, Instant::now());
        }
    }

    /// Returns the screen as text.
    fn shown(&mut self) -> String {
        let area = Rect::new(0, 0, 90, 9);
        let mut buffer = Buffer::empty(area);
        screen::draw(&mut buffer, area, &mut self.app, Theme::plain(), Instant::now());
        let lines = buffer.content.chunks(usize::from(area.width));
        let line = |cells: &[ratatui::buffer::Cell]| {
            let text: String = cells.iter().map(ratatui::buffer::Cell::symbol).collect();
            text.trim_end().to_owned() + "\n"
        };
        lines.map(line).collect()
    }
}

/// Returns the totals of the rows, and of the counters' rows what came in the last second.
fn of_rows(app: &App) -> Vec<(String, f64, Option<f64>)> {
    let rows = app.model().unwrap().rows.values();
    let mut rows: Vec<_> = rows
        .map(|row| (row.key.as_str().to_owned(), row.cells.total.unwrap_or(0.0), row.now))
        .collect();
    rows.sort_by(|one, other| one.0.cmp(&other.0));
    rows
}

/// The recording in the README is what this prints:
/// `cargo test -p windrow-top --lib recording -- --nocapture`
#[test]
fn recording_of_a_process_that_counts_is_stopped_and_is_killed() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("shop.windrow");
    File::open(&path).unwrap();
    let child = Counting::start(&path);
    let mut program = Program::start(Source::Files(vec![path.to_str().unwrap().to_owned()]));

    let counts = |row: &(String, f64, Option<f64>)| row.2.is_some_and(|now| now > 0.0);
    let live = program.wait_for(|app, _| {
        let is_minute_begun = app.model().is_some_and(|model| model.last.age > 3_500.0);
        is_minute_begun && of_rows(app).iter().filter(|row| counts(row)).count() == 2
    });
    print!("counting:\n{live}");
    assert!(live.contains("shop.windrow  live  watched for"), "{live}");
    assert!(live.contains("200 /cart") && live.contains("200 /pay"), "{live}");
    let keys = of_rows(&program.app).into_iter().map(|(key, ..)| key);
    let [largest, cart, pay] = [
        "largest_body",
        "requests{code=\"200\",route=\"/cart\"}",
        "requests{code=\"200\",route=\"/pay\"}",
    ];
    assert_eq!(keys.collect::<Vec<_>>(), [largest, cart, pay]);

    child.send(libc::SIGSTOP);
    let hung = program.wait_for(|_, shown| shown.contains("Nothing was added for"));
    print!("\nafter SIGSTOP:\n{hung}");
    let [says, counted] = ["lives, and rests or hangs", ", 1 process lives"];
    assert!(hung.contains(says) && hung.contains(counted), "{hung}");
    let stopped = of_rows(&program.app);
    assert!(stopped[1].1 > 0.0 && stopped[1].2 == Some(0.0), "{stopped:?}");

    child.send(libc::SIGKILL);
    drop(child);
    let still = |app: &App| app.model().unwrap().last.still;
    let before = still(&program.app);
    let killed = program.wait_for(|app, _| still(app) > before + 1_500.0);
    print!("\nafter kill -9:\n{killed}");
    assert!(killed.contains("Nothing was added for") && killed.contains("  live  "), "{killed}");
    let [says, counted] =
        ["all processes that had a slot have ended", "no process lives, 1 has ended"];
    assert!(killed.contains(says) && killed.contains(counted), "{killed}");
    // What it has counted is there, to the unit.
    let totals = |rows: &[(String, f64, Option<f64>)]| rows.iter().map(|row| row.1).collect();
    let [left, was]: [Vec<f64>; 2] = [&of_rows(&program.app), &stopped].map(|rows| totals(rows));
    assert_eq!(left, was);
    let reading = Reader::open(&path).unwrap().read().unwrap();
    let labels = [("route", "/cart"), ("code", "200")];
    let sum = reading.get("requests", &labels).unwrap().unwrap().sum().unwrap();
    assert!(sum > 0);
    assert_eq!(left.get(1), Some(&(sum as f64)));
    // The next process goes on with the same numbers.
    let next = Counting::start(&path);
    program.wait_for(|_, shown| !shown.contains("Nothing was added for"));
    assert!(of_rows(&program.app)[1].1 > left[1]);
    drop(next);
}

#[test]
fn several_files_have_their_paths_in_their_rows_and_a_replaced_one_begins_anew() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let paths = ["one", "two"].map(|name| folder.path().join(name).to_str().unwrap().to_owned());
    for (path, count) in paths.iter().zip([3, 4]) {
        let hostile = [("route", "\"a\\\n\x1b")];
        File::open(path).unwrap().counter("calls", &hostile).unwrap().add(count);
    }
    let mut frames = Frames::open(&paths).unwrap();
    let first = frames.next().unwrap();
    let keys: Vec<&str> = first.rows.iter().map(|row| &*row.key).collect();
    let expected =
        [0, 1].map(|at| format!("calls{{file=\"{}\",route=\"\\\"a\\\\\\n\x1b\"}}", paths[at]));
    assert_eq!(keys, expected);
    assert_eq!(first.rows[1].numbers, [Some(4.0), None]);
    assert_ne!(first.rows[0].id, first.rows[1].id);

    fs::remove_file(&paths[1]).unwrap();
    let again = File::open(&paths[1]).unwrap();
    again.counter("others", &[]).unwrap().add(5);
    let second = frames.next().unwrap();
    assert!(second.whole.is_some() && second.epoch != first.epoch);
    let mut model = Model::default();
    model.take(first);
    model.take(second.clone());
    assert!(matches!(model.news, Some((News::Restarted(_), _))), "{:?}", model.news);
    let numbers: Vec<_> = second.rows.iter().map(|row| row.numbers[0]).collect();
    assert_eq!(numbers, [Some(3.0), Some(5.0)]);

    // New series of a known name come by themselves.
    again.counter("others", &[("route", "b")]).unwrap().add(6);
    let third = frames.next().unwrap();
    assert!(third.whole.is_none());
    assert_eq!((third.rows.len(), third.changed.len()), (1, 2));
    assert_eq!(third.changed[1].1, [Some(5.0), Some(0.0)]);
}

#[test]
fn levels_and_histograms_have_rows_and_what_the_dead_have_left_has_one_of_its_own() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("f").to_str().unwrap().to_owned();
    let file = File::builder().owners(2).open(&path).unwrap();
    let open = file.gauge("open", &[("of", "a")]).unwrap();
    open.add(3);
    let latency = file.histogram("latency", windrow_mapped::Scale::DEFAULT, &[]).unwrap();
    (0..4).for_each(|_| latency.record(5_000));
    let leave = |level| {
        // SAFETY: the child calls the crate and `_exit` alone.
        match unsafe { libc::fork() } {
            0 => {
                open.add(level);
                // SAFETY: ends the child.
                unsafe { libc::_exit(0) }
            }
            // SAFETY: waits for the child.
            child => assert_eq!(unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) }, child),
        }
    };
    let mut frames = Frames::open(&[path]).unwrap();
    assert_eq!(frames.next().unwrap().rows.len(), 2);
    leave(9);
    let frame = frames.next().unwrap();
    let forms = frame.whole.as_ref().unwrap().metrics.iter().map(|metric| &*metric.form);
    assert_eq!(forms.collect::<Vec<_>>(), ["gauge", "gauge", "histogram"]);
    let rows: Vec<_> = frame.rows.iter().map(|row| (&*row.key, row.numbers[0])).collect();
    let [live, dead] = ["open{of=\"a\"}", "open_dead{of=\"a\"}"];
    assert_eq!(rows, [(dead, Some(9.0)), (live, Some(3.0)), ("latency", Some(4.0))]);
    let mut model = Model::default();
    model.take(frame.clone());
    let of_latency = model.rows[&frame.rows[2].id].cells;
    assert!(of_latency.p99.is_some_and(|p99| (4_500.0..5_500.0).contains(&p99)), "{of_latency:?}");

    // The next process takes the slot of the dead one, and leaves nothing in it.
    leave(0);
    let last = frames.next().unwrap();
    assert!(last.whole.is_some());
    model.take(last);
    assert_eq!(model.rows.len(), 2);
}

#[test]
fn processes_that_live_are_told_from_those_that_have_ended() {
    let says = |live, ended| {
        let mut model = Model::default();
        (model.about.is_of_files, model.last.still) = (true, 4_000.0);
        model.last.owners = Owners { live, ended };
        let text = crate::once::text(&model, 100);
        text.lines().take(2).map(|line| line.trim().to_owned()).collect::<Vec<_>>()
    };
    let [head, reason] = ["watched for 0.0 s", "Nothing was added for 4.0 s: "];
    for (live, ended, counted, why) in [
        (0, 0, "", "all processes rest, hang or have ended"),
        (0, 1, ", no process lives, 1 has ended", "all processes that had a slot have ended"),
        (1, 0, ", 1 process lives", "the process that has a slot lives, and rests or hangs"),
        (
            3,
            2,
            ", 3 processes live, 2 have ended",
            "3 processes that have slots live, and rest or hang",
        ),
    ] {
        assert_eq!(says(live, ended), [format!("{head}{counted}"), format!("{reason}{why}.")]);
    }
}
