//! All that is known of a console, after its last frame.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::cells::{Cells, Metric};
use crate::frame::{Change, Frame, NewRow, Numbers, Whole};
use crate::legible::Legible;

/// The greatest number of rows. Others are counted and not shown.
pub(crate) const MOST_ROWS: usize = 20_000;

/// The greatest number of characters of a row's name.
const LONGEST: usize = 300;

/// The span of the points of a row in milliseconds, and their greatest number: one a frame.
const MINUTE: f64 = 61_000.0;
const MOST_POINTS: usize = 120;

/// The greatest number of processes that are told apart.
const MOST_PROCESSES: usize = 64;

/// The greatest number of rows that are left out and told apart.
pub(crate) const MOST_LEFT_OUT: usize = 100_000;

/// The time in milliseconds for which news are shown, as on the console's page.
const FRESH: f64 = 600_000.0;

/// A console.
#[derive(Clone, Debug, Default)]
pub(crate) struct Model {
    /// The last whole frame, without the metrics.
    pub(crate) about: Whole,
    /// The last frame, without its rows.
    pub(crate) last: Frame,
    pub(crate) metrics: Vec<Metric>,
    pub(crate) rows: HashMap<u64, Row>,
    /// The numbers of the rows beyond the greatest number; at most [`MOST_LEFT_OUT`].
    pub(crate) left_out: HashSet<u64>,
    /// News of the processes, and the time of the machine until which they are shown.
    pub(crate) news: Option<(News, f64)>,
    /// The greatest difference between readings of a series, and the number of the row.
    pub(crate) failing: Option<(u64, f64)>,
    epoch: Option<String>,
    epochs: HashSet<String>,
}

/// Something about the processes that answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum News {
    /// A new process answers since this time, in milliseconds since 1970.
    Restarted(f64),
    TwoProcesses,
}

/// A series.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) id: u64,
    pub(crate) metric: usize,
    pub(crate) key: Legible,
    /// The key for searches.
    pub(crate) lower: String,
    /// The values of the labels; or the key, if there are none.
    pub(crate) name: Legible,
    pub(crate) cells: Cells,
    /// The rate between the last two frames.
    pub(crate) now: Option<f64>,
    /// The rates of the last minute, or the levels of a gauge, with the age of the console at each.
    pub(crate) points: VecDeque<(f64, f64)>,
    /// The changes that go on, the most urgent first.
    pub(crate) changes: Vec<Change>,
    /// In nanoseconds.
    pub(crate) span: f64,
    numbers: Numbers,
    before: (f64, Option<f64>),
}

/// The state of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Health {
    None,
    Good,
    Warn,
    Bad,
}

/// Returns the state that a share of failures means.
pub(crate) fn health_of(share: Option<f64>) -> Health {
    match share {
        None => Health::None,
        Some(share) if share < 0.01 => Health::Good,
        Some(share) if share < 0.05 => Health::Warn,
        Some(_) => Health::Bad,
    }
}

impl Row {
    pub(crate) fn health(&self) -> Health {
        let health = health_of(self.cells.failing);
        let is_wrong =
            |change: &Change| matches!(change.what.as_str(), "failing" | "slow" | "quiet");
        match health {
            Health::Bad => health,
            _ if self.changes.iter().any(is_wrong) => Health::Warn,
            _ => health,
        }
    }
}

impl Model {
    /// Takes a frame.
    pub(crate) fn take(&mut self, mut frame: Frame) {
        let is_whole = frame.whole.is_some();
        self.news.take_if(|(_, until)| *until < frame.time);
        let mut known = HashMap::new();
        if let Some(mut whole) = frame.whole.take() {
            self.metrics = whole.metrics.drain(..).map(Metric::of).collect();
            self.about = whole;
            self.left_out.clear();
            let rows = std::mem::take(&mut self.rows);
            if self.epoch.as_ref() == Some(&frame.epoch) {
                // A line that only this program has recorded goes on.
                known = rows.into_values().map(|row| (row.key, row.points)).collect();
            }
            self.note_process(&frame);
        }
        for id in &frame.gone {
            self.rows.remove(id);
            self.left_out.remove(id);
        }
        for (id, span) in &frame.spans {
            self.rows.entry(*id).and_modify(|row| row.span = *span);
        }
        for (id, numbers) in frame.changed.drain(..) {
            self.rows.entry(id).and_modify(|row| row.numbers = numbers);
        }
        if !is_whole {
            for row in self.rows.values_mut() {
                row.step(frame.age, &self.metrics);
            }
        }
        for new in frame.rows.drain(..) {
            self.add(new, frame.age, &mut known);
        }
        for row in self.rows.values_mut() {
            row.changes.clear();
            if let Some(metric) = self.metrics.get(row.metric) {
                row.cells = metric.cells(&row.numbers, row.span);
            }
        }
        for change in &frame.unusual.list {
            self.rows.entry(change.row).and_modify(|row| row.changes.push(change.clone()));
        }
        let failing = frame.failing.iter().copied();
        self.failing = failing.max_by(|one, other| one.1.total_cmp(&other.1));
        self.last = frame;
    }

    fn add(&mut self, new: NewRow, age: f64, known: &mut HashMap<Legible, VecDeque<(f64, f64)>>) {
        let Some(metric) = self.metrics.get(new.metric) else { return };
        if self.rows.len() >= MOST_ROWS {
            if self.left_out.len() < MOST_LEFT_OUT {
                self.left_out.insert(new.id);
            }
            return;
        }
        let key = Legible::of(&new.key, LONGEST);
        let points = past(&new.past, age).or_else(|| known.remove(&key)).unwrap_or_default();
        let row = Row {
            id: new.id,
            metric: new.metric,
            lower: key.as_str().to_lowercase(),
            name: name_of(&new.key),
            key,
            cells: Cells::default(),
            now: points.back().filter(|_| !metric.is_gauge()).map(|(_, rate)| *rate),
            points,
            changes: Vec::new(),
            span: new.span,
            before: (age, metric.ever(&new.numbers)),
            numbers: new.numbers,
        };
        self.rows.insert(new.id, row);
    }

    /// Tells a restarted process from a second one.
    fn note_process(&mut self, frame: &Frame) {
        if self.epoch.as_ref().is_some_and(|epoch| *epoch != frame.epoch) {
            // It answered before, or it is older than the last frame of the other.
            let is_other = self.epochs.contains(&frame.epoch)
                || frame.time - frame.age + 3_000.0 < self.last.time;
            let news =
                if is_other { News::TwoProcesses } else { News::Restarted(frame.time - frame.age) };
            self.news = Some((news, frame.time + FRESH));
        }
        if self.epochs.len() < MOST_PROCESSES {
            self.epochs.insert(frame.epoch.clone());
        }
        self.epoch = Some(frame.epoch.clone());
    }
}

impl Row {
    /// Adds the point between two frames, whether the frame named the row or not.
    fn step(&mut self, age: f64, metrics: &[Metric]) {
        let Some(metric) = metrics.get(self.metric) else { return };
        let ever = metric.ever(&self.numbers);
        let (then, before) = std::mem::replace(&mut self.before, (age, ever));
        if metric.is_gauge() {
            self.points.extend(ever.map(|level| (age, level)));
        } else if let (Some(ever), Some(before)) = (ever, before)
            && age > then
        {
            let rate = f64::max(0.0, (ever - before) * 1e3 / (age - then));
            self.now = Some(rate);
            self.points.push_back((age, rate));
        }
        while self.points.len() > MOST_POINTS
            || self.points.front().is_some_and(|(at, _)| *at < age - MINUTE)
        {
            self.points.pop_front();
        }
    }
}

/// Returns the points of a row's last minute, if a window has it.
fn past(past: &[f64], age: f64) -> Option<VecDeque<(f64, f64)>> {
    let [ago, step, counts @ ..] = past else { return None };
    if counts.is_empty() || *step <= 0.0 {
        return None;
    }
    let newest = counts.iter().rev().zip(0_u32..).take(MOST_POINTS);
    let points = newest.map(|(count, at)| (age - ago - step * f64::from(at), count * 1e3 / step));
    let mut points: VecDeque<_> = points.collect();
    points.make_contiguous().reverse();
    Some(points)
}

/// Returns the name of a series: the values of its labels, or the key if there are none.
fn name_of(key: &str) -> Legible {
    let labels = key.find('{').map_or("", |brace| &key[brace..]);
    let mut values: Vec<String> = Vec::new();
    let mut rest = labels;
    while let Some((_, from)) = rest.split_once("=\"") {
        let (mut value, mut characters) = (String::new(), from.char_indices());
        let mut end = from.len();
        while let Some((at, character)) = characters.next() {
            match character {
                '"' => {
                    end = at + 1;
                    break;
                }
                '\\' => match characters.next() {
                    Some((_, 'n')) => value.push('\n'),
                    escaped => value.extend(escaped.map(|(_, character)| character)),
                },
                other => value.push(other),
            }
        }
        values.push(value);
        rest = &from[end..];
    }
    let name = if values.is_empty() { key.to_owned() } else { values.join(" ") };
    Legible::of(&name, LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Event;

    fn frame(is_all: bool, json: &str) -> Frame {
        Frame::read(&Event { is_all, data: json.as_bytes().to_vec() }).unwrap()
    }

    fn all(epoch: &str, number: u64, time: u64, age: u64) -> Frame {
        frame(
            true,
            &format!(
                r#"{{"service":"shop","epoch":"{epoch}","frame":{number},"time":{time},"age":{age},
                "metrics":[["requests","","window",[["Pass","Count",""]],""]],
                "rows":[[4,0,"requests{{route=\"/a\"}}",10000000000,[70,50],[500,1000,5,7]],
                        [5,9,"of a metric that is not there",1,[1,2],[]]]}}"#
            ),
        )
    }

    #[test]
    fn frames_after_the_first_change_what_they_name() {
        let mut model = Model::default();
        model.take(all("a", 1, 100_000, 9_000));
        let row = &model.rows[&4];
        assert_eq!((row.name.as_str(), row.cells.rate, row.now), ("/a", Some(5.0), Some(7.0)));
        assert_eq!(row.points, [(7_500.0, 5.0), (8_500.0, 7.0)]);
        assert_eq!(model.rows.len(), 1);
        let more = r#"{"epoch":"a","frame":2,"age":10000,"rows":[[4,82,62],[77,1,1]],"gone":[9],
            "spans":[[4,20000000000]],"unusual":{"list":[[4,"slow",3.5,90000,"p99 ×40","worse"]]}}"#;
        model.take(frame(false, more));
        let row = &model.rows[&4];
        assert_eq!((row.cells.rate, row.now), (Some(3.1), Some(12.0)));
        assert_eq!((row.changes.len(), row.health()), (1, Health::Warn));
        model.take(frame(false, r#"{"epoch":"a","frame":3,"age":11000,"gone":[4]}"#));
        assert!(model.rows.is_empty());
    }

    #[test]
    fn a_restart_is_told_from_a_second_process() {
        let mut model = Model::default();
        model.take(all("a", 1, 100_000, 90_000));
        let news = |model: &Model| model.news.map(|(news, _)| news);
        assert_eq!(news(&model), None);
        model.take(all("b", 1, 120_000, 5_000));
        assert_eq!(news(&model), Some(News::Restarted(115_000.0)));
        model.take(all("c", 8, 121_000, 60_000));
        assert_eq!(news(&model), Some(News::TwoProcesses));
        // News end after ten minutes.
        model.take(frame(false, r#"{"epoch":"c","frame":9,"time":721000}"#));
        assert_eq!(news(&model), Some(News::TwoProcesses));
        model.take(frame(false, r#"{"epoch":"c","frame":10,"time":721001}"#));
        assert_eq!(news(&model), None);
    }

    #[test]
    fn rows_have_a_greatest_number() {
        let mut model = Model::default();
        let row = |id: usize| format!(r#"[{id},0,"requests{{route=\"{id}\"}}",1,[1,1],[]]"#);
        let rows: Vec<String> = (0..MOST_ROWS + 3).map(row).collect();
        let json = format!(
            r#"{{"epoch":"a","frame":1,"metrics":[["requests","","window",[["Pass","Count",""]],""]],
            "rows":[{}]}}"#,
            rows.join(",")
        );
        model.take(frame(true, &json));
        assert_eq!((model.rows.len(), model.left_out.len()), (MOST_ROWS, 3));
        // One that is shown has gone, and two that are not: one is left.
        let gone = r#"{"epoch":"a","frame":2,"gone":[0,20000,20002]}"#;
        model.take(frame(false, gone));
        assert_eq!((model.rows.len(), model.left_out.len()), (MOST_ROWS - 1, 1));
        model.take(frame(true, r#"{"epoch":"a","frame":3}"#));
        assert!(model.left_out.is_empty());
    }

    #[test]
    fn a_name_has_the_values_of_the_labels() {
        let of = |key| name_of(key).as_str().to_owned();
        assert_eq!(of(r#"requests{method="GET",route="/a,b=\"c\"\n"}"#), r#"GET /a,b="c"\n"#);
        assert_eq!(of("visits"), "visits");
        assert_eq!(of(r#"broken{a="\"#), "");
    }
}
