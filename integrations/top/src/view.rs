//! The choices of the user: order, filter, selected row.

use std::cmp::Ordering;

use crate::model::{Model, Row};

/// Writes the columns: of each its name, its title, and its number of a row.
macro_rules! columns {
    ($($(#[$default:meta])? $name:ident, $title:literal, $number:expr;)+) => {
        /// A column by which rows are sorted; `Since` sorts by how unusual they are.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub(crate) enum Column {
            $($(#[$default])? $name),+
        }

        impl Column {
            pub(crate) const ALL: &[Column] = &[$(Column::$name),+];

            pub(crate) fn title(self) -> &'static str {
                match self {
                    $(Column::$name => $title),+
                }
            }

            /// Returns the number of a row in this column.
            pub(crate) fn number(self, row: &Row) -> Option<f64> {
                let number: fn(&Row) -> Option<f64> = match self {
                    $(Column::$name => $number),+
                };
                number(row)
            }
        }
    };
}

columns! {
    Series, "series", |_| None;
    #[default] Since, "since", |row| row.changes.first().map(|change| change.weight);
    Now, "now/s", |row| row.now;
    Rate, "rate/s", |row| row.cells.rate;
    Failing, "failing", |row| row.cells.failing;
    Refused, "refused", |row| row.cells.refused;
    P50, "p50", |row| row.cells.p50;
    P99, "p99", |row| row.cells.p99;
    Max, "max", |row| row.cells.max;
    Total, "total", |row| row.cells.total;
}

/// The use of the keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mode {
    #[default]
    Table,
    /// Typing the text of the filter, or of the search.
    Filter,
    Search,
    Help,
}

/// The choices.
#[derive(Clone, Debug, Default)]
pub(crate) struct View {
    pub(crate) sort: Column,
    /// True for the least number first.
    pub(crate) rises: bool,
    pub(crate) filter: String,
    pub(crate) search: String,
    pub(crate) mode: Mode,
    /// The selected row; `None` for the first one, whichever that is.
    pub(crate) selected: Option<u64>,
    /// The number of rows above the visible ones.
    pub(crate) top: usize,
    /// The number of visible rows, when they were last drawn.
    pub(crate) page: usize,
}

impl View {
    /// Returns the rows that the filter leaves, in their order.
    pub(crate) fn listed<'m>(&self, model: &'m Model) -> Vec<&'m Row> {
        let filter = self.filter.to_lowercase();
        let words: Vec<&str> = filter.split_whitespace().collect();
        let is_left = |row: &&Row| words.iter().all(|word| row.lower.contains(word));
        let mut listed: Vec<&Row> = model.rows.values().filter(is_left).collect();
        listed.sort_unstable_by(|one, other| self.order(one, other));
        listed
    }

    fn order(&self, one: &Row, other: &Row) -> Ordering {
        let [a, b] = [one, other].map(|row| self.sort.number(row));
        let order = match (a, b) {
            (Some(a), Some(b)) if self.rises => a.total_cmp(&b),
            (Some(a), Some(b)) => b.total_cmp(&a),
            // Rows without a number stand last, in either order.
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) if self.sort == Column::Series && !self.rises => other.key.cmp(&one.key),
            (None, None) => Ordering::Equal,
        };
        let by_rate = || {
            let [a, b] = [one, other].map(|row| row.cells.rate.unwrap_or(-1.0));
            if self.sort == Column::Since { b.total_cmp(&a) } else { Ordering::Equal }
        };
        order.then_with(by_rate).then_with(|| one.key.cmp(&other.key)).then(one.id.cmp(&other.id))
    }

    /// Sorts by the column that stands this many places to the right.
    pub(crate) fn sort_by_next(&mut self, places: isize) {
        let now = Column::ALL.iter().position(|column| *column == self.sort).unwrap_or(0);
        let count = Column::ALL.len().cast_signed();
        let next = (now.cast_signed() + places).rem_euclid(count).cast_unsigned();
        self.sort = Column::ALL[next];
        self.rises = self.sort == Column::Series;
        (self.selected, self.top) = (None, 0);
    }

    /// Returns the place of the selected row.
    pub(crate) fn place(&self, listed: &[&Row]) -> usize {
        let is_it = |row: &&Row| Some(row.id) == self.selected;
        listed.iter().position(is_it).unwrap_or(0)
    }

    /// Selects the row this many places below.
    pub(crate) fn go(&mut self, listed: &[&Row], places: isize) {
        let last = listed.len().saturating_sub(1);
        let place = self.place(listed).saturating_add_signed(places).min(last);
        self.select(listed, place);
    }

    pub(crate) fn select(&mut self, listed: &[&Row], place: usize) {
        self.selected = listed.get(place).filter(|_| place > 0).map(|row| row.id);
    }

    /// Selects the next row that has the text of the search: the selected one too, if it may stay.
    pub(crate) fn find(&mut self, listed: &[&Row], may_stay: bool) {
        let wanted = self.search.to_lowercase();
        let from = self.place(listed) + usize::from(!may_stay);
        let order = (from..listed.len()).chain(0..from.min(listed.len()));
        let found = order.into_iter().find(|place| listed[*place].lower.contains(&wanted));
        if let Some(place) = found.filter(|_| !wanted.is_empty()) {
            self.select(listed, place);
        }
    }

    /// Scrolls only as far as the selected row needs to be visible.
    pub(crate) fn scroll(&mut self, place: usize, count: usize, page: usize) {
        self.page = page.max(1);
        let least = (place + 1).saturating_sub(self.page);
        self.top = self.top.min(place).max(least).min(count.saturating_sub(1));
    }
}
