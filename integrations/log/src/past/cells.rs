//! The sums of a file's lines by resource and bin, in bounded memory.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use crate::format::Sums;
use crate::past::grid::Grid;
use crate::total::Total;
use crate::wall::Wall;

/// The greatest number of events of a resource that have sums.
pub(super) const EVENTS: usize = 32;

/// The memory of a resource or a cell in bytes, besides its name or its numbers: an upper estimate.
const RESOURCE: usize = 256;
const CELL: usize = 96;

/// The sums of some lines.
#[derive(Debug)]
pub(super) struct Cells {
    grid: Grid,
    resources: HashMap<String, Resource>,
    /// The memory that they take.
    pub(super) bytes: usize,
    /// The memory that was too little even with the longest bins; then there are no sums.
    too_little: Option<usize>,
    /// The longest bucket of all resources.
    longest: Duration,
}

/// The sums of a resource.
#[derive(Debug, Default)]
pub(super) struct Resource {
    pub(super) events: Vec<Box<str>>,
    /// By bin: the sums of each event.
    bins: BTreeMap<i64, Vec<Total>>,
    longest: Duration,
    /// True if a line has an event more than [`EVENTS`].
    pub(super) has_more: bool,
}

impl Resource {
    /// Adds a bucket of some length to a bin. Returns the memory that this takes.
    fn add(&mut self, bin: i64, length: Duration, events: &[(&str, Total)]) -> usize {
        let mut bytes = 0;
        self.longest = self.longest.max(length);
        let totals = self.bins.entry(bin).or_insert_with(|| {
            bytes += CELL;
            Vec::new()
        });
        for (name, total) in events {
            let known = self.events.iter().position(|event| **event == **name);
            let at = match known {
                Some(at) => at,
                None if self.events.len() < EVENTS => {
                    bytes += name.len() + size_of::<Box<str>>();
                    self.events.push((*name).into());
                    self.events.len() - 1
                }
                None => {
                    self.has_more = true;
                    continue;
                }
            };
            bytes += grow(totals, at + 1);
            totals[at].add(total);
        }
        bytes
    }

    /// Returns the sums of bins from `first` to before `end`.
    fn bins(&self, first: i64, end: i64) -> impl Iterator<Item = (i64, &[Total])> {
        let range = (first < end).then(|| self.bins.range(first..end));
        range.into_iter().flatten().map(|(bin, totals)| (*bin, &totals[..]))
    }
}

impl Default for Cells {
    fn default() -> Cells {
        Cells {
            grid: Grid::MINUTE,
            resources: HashMap::new(),
            bytes: 0,
            too_little: None,
            longest: Duration::ZERO,
        }
    }
}

impl Cells {
    /// Adds a bucket that ended at `end`.
    pub(super) fn add(&mut self, Sums { resource, length, events }: &Sums<'_>, end: Wall) {
        self.longest = self.longest.max(*length);
        if self.is_over() {
            return;
        }
        let bin = self.grid.bin(end);
        if let Some(found) = self.resources.get_mut(*resource) {
            self.bytes += found.add(bin, *length, events);
            return;
        }
        let mut found = Resource::default();
        self.bytes += RESOURCE + resource.len() + found.add(bin, *length, events);
        self.resources.insert((*resource).to_owned(), found);
    }

    /// Makes bins longer, until they take no more than this memory.
    pub(super) fn fit(&mut self, memory: usize) {
        if self.bytes <= memory {
            return;
        }
        // To three quarters, so that this is seldom.
        while self.bytes > memory / 4 * 3 && self.grid < Grid::DAY {
            self.coarsen();
        }
        if self.bytes > memory {
            let (grid, longest) = (self.grid, self.longest);
            *self = Cells { grid, longest, too_little: Some(memory), ..Cells::default() };
        }
    }

    fn coarsen(&mut self) {
        let (finer, grid) = (self.grid, self.grid.next());
        let mut bytes = 0;
        for (name, resource) in &mut self.resources {
            let mut bins: BTreeMap<i64, Vec<Total>> = BTreeMap::new();
            for (bin, totals) in std::mem::take(&mut resource.bins) {
                let into = bins.entry(grid.bin_of(finer, bin)).or_default();
                grow(into, totals.len());
                into.iter_mut().zip(&totals).for_each(|(into, total)| into.add(total));
            }
            let cells: usize =
                bins.values().map(|totals| CELL + totals.len() * size_of::<Total>()).sum();
            let names = resource.events.iter().map(|name| name.len() + size_of::<Box<str>>());
            bytes += RESOURCE + name.len() + names.sum::<usize>() + cells;
            resource.bins = bins;
        }
        (self.grid, self.bytes) = (grid, bytes);
    }

    /// Returns the resource, if it has lines.
    pub(super) fn resource(&self, resource: &str) -> Option<&Resource> {
        self.resources.get(resource)
    }

    /// Returns whether bins of this grid can be made of these sums.
    pub(super) fn can_make(&self, grid: Grid) -> bool {
        !self.is_over() && grid.has(self.grid)
    }

    /// Returns whether there are too many resources for sums.
    pub(super) fn is_over(&self) -> bool {
        self.too_little.is_some()
    }

    /// Returns whether there are no sums, though there is twice the memory now.
    pub(super) fn has_too_little(&self, memory: usize) -> bool {
        self.too_little.is_some_and(|too_little| too_little < memory / 2)
    }

    /// Returns the longest bucket of a resource; of all resources, if there are no sums.
    pub(super) fn longest(&self, resource: &str) -> Duration {
        let of_it = || self.resource(resource).map_or(Duration::ZERO, |found| found.longest);
        if self.is_over() { self.longest } else { of_it() }
    }

    /// Calls `see` with the sums of a resource in each bin of a grid from `first` to before `end`:
    /// several times for a bin.
    pub(super) fn visit(
        &self,
        resource: &Resource,
        (grid, first, end): (Grid, i64, i64),
        mut see: impl FnMut(i64, &[Total]),
    ) {
        let (first, end) = (grid.first_of(self.grid, first), grid.first_of(self.grid, end));
        for (bin, totals) in resource.bins(first, end) {
            see(grid.bin_of(self.grid, bin), totals);
        }
    }
}

/// Makes room for this number of sums, if there are fewer. Returns the bytes that they take more.
fn grow(totals: &mut Vec<Total>, length: usize) -> usize {
    let more = length.saturating_sub(totals.len());
    totals.reserve_exact(more);
    totals.resize(totals.len() + more, Total::default());
    more * size_of::<Total>()
}
