//! The families in a scrape.

/// A scrape.
pub(super) struct Served<'s>(&'s str);

impl<'s> Served<'s> {
    pub(super) fn of(scrape: &'s str) -> Served<'s> {
        Served(scrape)
    }

    /// Returns the names of the families.
    pub(super) fn families(&self) -> impl Iterator<Item = &'s str> + use<'s> {
        self.0.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next())
    }

    /// Returns the name of a family.
    ///
    /// # Panics
    ///
    /// Panics if it is not served.
    pub(super) fn name(&self, name: &str) -> &'s str {
        self.families().find(|family| *family == name).unwrap_or_else(|| panic!("no {name}"))
    }

    /// Returns the name of a family that has a series with an event.
    ///
    /// # Panics
    ///
    /// Panics if there is none.
    pub(super) fn with_event(&self, name: &str, event: &str) -> &'s str {
        let name = self.name(name);
        let label = format!("event=\"{event}\"");
        let is_of = |line: &str| line.starts_with(name) && line.contains(&label);
        assert!(self.0.lines().any(is_of), "no {name} with {label}");
        name
    }
}
