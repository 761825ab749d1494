//! Lists as text files: a paragraph for each entry, whose lines begin with a word or a sign for
//! their meaning. A paragraph that begins with `#` is a remark.

/// An entry of a list.
#[derive(Clone, Copy)]
pub(crate) struct Paragraph<'t>(&'t str);

/// Returns the entries of a list.
pub(crate) fn paragraphs(list: &str) -> impl Iterator<Item = Paragraph<'_>> {
    let all = list.split("\n\n").map(str::trim_start).map(Paragraph);
    all.filter(|paragraph| !paragraph.0.is_empty() && !paragraph.0.starts_with('#'))
}

impl<'t> Paragraph<'t> {
    /// Returns its lines.
    pub(crate) fn lines(self) -> impl Iterator<Item = &'t str> {
        self.0.lines().filter(|line| !line.starts_with('#'))
    }

    /// Returns the rest of each line that begins so.
    pub(crate) fn all(self, begin: &str) -> impl Iterator<Item = &'t str> {
        self.lines().filter_map(move |line| line.strip_prefix(begin))
    }

    /// Returns the rest of the one line that begins so.
    pub(crate) fn one(self, begin: &str) -> Result<&'t str, String> {
        let mut all = self.all(begin);
        match (all.next(), all.next()) {
            (Some(text), None) => Ok(text),
            _ => Err(format!("not one line that begins with `{begin}` in\n{}", self.0)),
        }
    }

    /// Returns a text of several lines, each behind a sign.
    pub(crate) fn text(self, sign: &str) -> String {
        self.all(sign).collect::<Vec<_>>().join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_read_by_the_beginnings_of_its_lines() {
        let list = "# a remark\n# of two lines\n\na b\n-c\n-\n- d\n# about the last\na e\n\nf g\n";
        let entries: Vec<_> = paragraphs(list).collect();
        assert_eq!((entries.len(), entries[0].text("-")), (2, "c\n\n d".to_owned()));
        assert_eq!(entries[0].all("a ").collect::<Vec<_>>(), ["b", "e"]);
        assert_eq!(entries[1].one("f "), Ok("g"));
        assert!(entries[0].one("a ").is_err() && entries[1].one("a ").is_err());
    }
}
