//! The console's page as its tests see it: by the hooks that the head of the page lists.

use std::collections::BTreeMap;

use serde_json::json;

use crate::browser::Browser;
use crate::shop::Served;

/// The exact numbers of a row by the names of their columns.
pub(crate) type Cells = BTreeMap<String, String>;

/// A browser that shows the page.
pub(crate) struct Page {
    pub(crate) browser: Browser,
    /// The address of the page, up to its own path.
    pub(crate) origin: String,
}

impl Page {
    /// Opens the page in a window that has room for some sixty rows, and waits for its first frame.
    pub(crate) fn open(server: &Served) -> Page {
        let mut browser = Browser::start();
        browser.resize(1300, 3000, false);
        let mut page = Page { browser, origin: format!("http://{}/", server.address()) };
        page.go("");
        page
    }

    /// Loads the page anew with such a state, and waits for its first frame.
    pub(crate) fn go(&mut self, state: &str) {
        // A change behind the `#` alone would load nothing.
        self.browser.open("about:blank");
        self.browser.open(&format!("{}{state}", self.origin));
        self.wait_for_rows();
    }

    pub(crate) fn wait_for_rows(&mut self) {
        self.browser.wait_for("document.querySelector('tr[data-series]')");
    }

    /// Waits until it shows a frame that was made from now on.
    pub(crate) fn catch_up(&mut self, server: &Served) {
        self.browser.wait_for(&format!("document.body.dataset.age > {}", server.age()));
        self.draw();
    }

    /// Waits, at rest, until two frames in a row have shown so. (The first frame of a stream has a
    /// current rate from the last closed bucket.)
    pub(crate) fn come_to_rest(&mut self, server: &Served) {
        self.catch_up(server);
        self.browser.wait_for(
            "[...document.querySelectorAll('td[data-col=now]')].every(cell => Number(cell.dataset.value) === 0)",
        );
        self.draw();
    }

    /// Waits until the page has drawn everything.
    pub(crate) fn draw(&mut self) {
        self.browser
            .value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))");
    }

    /// Waits until it says so of its connection.
    pub(crate) fn wait_for_state(&mut self, state: &str) {
        self.browser.wait_for(&format!("document.body.dataset.state === '{state}'"));
    }

    /// Returns all rows that are there, in their order, each with its exact numbers.
    pub(crate) fn rows(&mut self) -> Vec<(String, Cells)> {
        let rows = self.browser.value(
            "[...document.querySelectorAll('tr[data-series]')].map(row => [row.dataset.series,
                Object.fromEntries([...row.querySelectorAll('[data-col][data-value]')]
                    .map(cell => [cell.dataset.col, cell.dataset.value]))])",
        );
        serde_json::from_value(rows).unwrap()
    }

    /// Returns a column of all rows, from above. Where there is no number, there is none.
    pub(crate) fn column(&mut self, name: &str) -> Vec<Option<f64>> {
        self.rows().iter().map(|(_, cells)| cells[name].parse().ok()).collect()
    }

    /// Returns the rows' names, from above.
    pub(crate) fn names(&mut self) -> Vec<String> {
        self.rows().into_iter().map(|(name, _)| name).collect()
    }

    /// Types into the search, replacing its text.
    pub(crate) fn search(&mut self, text: &str) {
        self.browser.click("#search");
        self.browser.value("document.activeElement.select()");
        self.browser.type_in(text);
        self.draw();
    }

    /// Clicks, and waits until what that changes is drawn.
    pub(crate) fn click(&mut self, selector: &str) {
        self.browser.click(selector);
        self.draw();
    }

    /// Returns an attribute of the first element that a selector finds.
    pub(crate) fn attribute(&mut self, selector: &str, name: &str) -> Option<String> {
        let asked =
            format!("document.querySelector({}).getAttribute({})", json!(selector), json!(name));
        self.browser.value(&asked).as_str().map(str::to_owned)
    }

    /// Asserts that it has only asked where it comes from, and that nothing is in its console.
    pub(crate) fn assert_well(&mut self) {
        self.assert_well_but_for(&[]);
    }

    /// Checks that the page is well except for complaints with one of these words.
    pub(crate) fn assert_well_but_for(&mut self, words: &[&str]) {
        let seen = self.browser.seen();
        let worse = |said: &&String| !words.iter().any(|word| said.contains(word));
        let worse: Vec<&String> = seen.complaints.iter().filter(worse).collect();
        assert!(worse.is_empty(), "{worse:#?}");
        assert!(!seen.requests.is_empty(), "nothing was watched");
        for asked in seen.requests {
            let own = asked.starts_with(&self.origin)
                || asked == "about:blank"
                || asked.starts_with("data:");
            assert!(own, "{asked} is asked for");
        }
    }
}
