//! The builder of a console: its metrics and its settings, put together once.

use std::fmt::{self, Debug, Display, Formatter};
use std::ops::Deref;
use std::sync::Arc;

use windrow::Clock;
use windrow::export::{Catalog, Source, fields};
use windrow::heavy::{HeavyKeys, Key};
use windrow_prometheus::RegisterError;

#[cfg(feature = "log")]
use crate::sent::logged::Logged;
use crate::service::ConsoleService;
use crate::shown::heavy::Heavy;
use crate::shown::names::units_of;
use crate::shown::registry::{Named, Shown};
use crate::shown::unit::Unit;
use crate::unusual::evidence::Settings;

/// Builds a console: collects metrics, windows and families by name. [`build`](Self::build) makes
/// it a service.
///
/// ```
/// use windrow::Counter;
/// use windrow_console::Console;
///
/// static VISITS: Counter = Counter::new();
///
/// let mut console = Console::new("shop");
/// console.show("visits", "Visits since the start", &VISITS)?;
/// let console = console.build();
/// # Ok::<(), windrow_console::RegisterError>(())
/// ```
#[must_use = "it shows nothing before it is built"]
pub struct Console {
    shown: Shown,
    settings: Settings,
    /// The log that has the past.
    #[cfg(feature = "log")]
    log: Option<Arc<Logged>>,
}

impl Console {
    /// Creates a console without metrics, for a service with this name.
    ///
    /// ```
    /// let console = windrow_console::Console::new("shop").build();
    /// ```
    pub fn new(service: impl Into<String>) -> Console {
        Console {
            shown: Shown::new(service.into()),
            settings: Settings::default(),
            #[cfg(feature = "log")]
            log: None,
        }
    }

    /// Shows a metric, a window or a family: on the page, in `/snapshot.json` and `/text`, and in
    /// `/metrics` as
    /// [`Exposition::register`](windrow_prometheus::Exposition::register) shows it.
    ///
    /// # Errors
    ///
    /// Returns [`RegisterError`] if a scrape could not show it: because of its name, its help or
    /// its labels, or because the name is taken. Then it is shown nowhere.
    ///
    /// ```
    /// use windrow::Counter;
    /// use windrow_console::{Console, RegisterError};
    ///
    /// static VISITS: Counter = Counter::new();
    ///
    /// let mut console = Console::new("shop");
    /// console.show("visits", "Visits since the start", &VISITS)?;
    /// let error = console.show("visits", "The same again", &VISITS).unwrap_err();
    /// assert_eq!(error, RegisterError::NameTaken { name: "visits".to_owned() });
    /// # Ok::<(), RegisterError>(())
    /// ```
    pub fn show(
        &mut self,
        name: &str,
        help: &str,
        source: impl Source + 'static,
    ) -> Result<(), RegisterError> {
        self.show_in("", name, help, Arc::new(source))
    }

    /// Shows a source, of which each field is a row of its own, with its values in a unit.
    fn show_in(
        &mut self,
        unit: &str,
        name: &str,
        help: &str,
        source: Arc<dyn Source>,
    ) -> Result<(), RegisterError> {
        self.shown.scraped.register(name, help, Arc::clone(&source))?;
        for field in fields(source) {
            let (name, help) = (field.full_name(name, "_"), help.to_owned());
            let source = Arc::clone(&field.source);
            let outline = source.outline();
            let in_unit = if field.is_in_unit { unit } else { "" };
            if in_unit == "ns" {
                self.nanoseconds(&name);
            }
            for (event, unit) in units_of(outline.form) {
                if unit == "ns" || (unit.is_empty() && in_unit == "ns") {
                    self.nanoseconds(event);
                }
            }
            let unit = Unit::of(&name, outline.form, in_unit);
            self.shown.metrics.push(Named { name, help, outline, unit, source });
        }
        Ok(())
    }

    /// Shows heavy keys beside the rows: the ten keys with the most weight of the interval; of the
    /// last hour and the longest span, as far as [tiers](windrow::heavy::HeavyKeysBuilder::tier)
    /// reach; and of the last minute if the interval is longer and the buckets are at most a
    /// quarter of a minute long. Each has its weight and its share of the total, with the lower and
    /// the upper bound of both.
    ///
    /// They are on the page, in `/snapshot.json` and in `/text`. For `/metrics`, make a source of
    /// them: see [`export::top`](windrow::export::top). A key is shown as text, up to 120
    /// characters. `keys` is a `&'static`, an [`Arc`] or a `Box`.
    ///
    /// Each frame and each answer takes a [snapshot](HeavyKeys::snapshot_over) of each span, which
    /// costs a pass over all entries. Frames take a tenth of one core for it, or less: then the
    /// keys are some frames old.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::HeavyKeys;
    /// use windrow_console::Console;
    ///
    /// static CLIENTS: HeavyKeys<str> = HeavyKeys::of(100, Duration::from_secs(60), 6);
    ///
    /// let mut console = Console::new("shop");
    /// console.show_heavy("clients", "Requests by client", &CLIENTS);
    /// CLIENTS.increment("acme");
    /// ```
    pub fn show_heavy<H, K, C>(&mut self, name: &str, help: &str, keys: H)
    where
        H: Deref<Target = HeavyKeys<K, C>> + Send + Sync + 'static,
        K: Key<Owned: Display> + ?Sized + 'static,
        C: Clock + 'static,
    {
        self.shown.heavy.push(Heavy::new(name, help, keys));
    }

    /// Shows each source of a catalog under its name. Values in the unit `ns` are shown as
    /// durations, and numbers in the units `s` and `By` as times and bytes.
    ///
    /// # Errors
    ///
    /// Returns the error of [`show`](Self::show) for the first source that is refused. Those before
    /// it are shown.
    ///
    /// ```
    /// use windrow::Histogram;
    /// use windrow::export::Catalog;
    /// use windrow_console::Console;
    ///
    /// static RT: Histogram = Histogram::new();
    ///
    /// let mut catalog = Catalog::new();
    /// catalog.add("rt", "Response times", &RT)?.unit = "ns".into();
    /// let mut console = Console::new("shop");
    /// console.show_all(&catalog)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn show_all(&mut self, catalog: &Catalog) -> Result<(), RegisterError> {
        for listed in catalog {
            let source = Arc::clone(&listed.source);
            self.show_in(&listed.unit, &listed.name, &listed.help, source)?;
        }
        Ok(())
    }

    /// Shows the values of events with this name, in all metrics, or of a histogram of this name,
    /// as durations: they are nanoseconds, and the page and `/text` show them as `1.25 ms`. All
    /// other values are shown as they are. An event that declares its unit needs no such word, as
    /// `Rt: Histogram in "ns"` does.
    ///
    /// ```
    /// use windrow::Histogram;
    /// use windrow_console::Console;
    ///
    /// static SEARCH: Histogram = Histogram::new();
    ///
    /// let mut console = Console::new("shop");
    /// console.show("search", "Times of searches", &SEARCH)?;
    /// console.nanoseconds("search");
    /// # Ok::<(), windrow_console::RegisterError>(())
    /// ```
    pub fn nanoseconds(&mut self, event: &str) {
        self.shown.durations.push(event.to_owned());
    }

    /// Sets the name of this process among others of the service, such as a host's name; by
    /// default, the number of the process. The page shows it, and `/snapshot.json` has it.
    ///
    /// ```
    /// let mut console = windrow_console::Console::new("shop");
    /// console.instance("shop-2 in eu-west");
    /// ```
    pub fn instance(&mut self, name: impl Into<String>) {
        self.shown.instance = name.into();
    }

    /// Sets the version of the program, which the page and `/snapshot.json` show.
    ///
    /// ```
    /// let mut console = windrow_console::Console::new("shop");
    /// console.version(env!("CARGO_PKG_VERSION"));
    /// ```
    pub fn version(&mut self, version: impl Into<String>) {
        self.shown.version = version.into();
    }

    /// Lets the console answer requests for this host, where a service mounts it: `shop.example`,
    /// or `*` for any.
    ///
    /// Without this, it answers requests for `localhost`, for a name under it, for addresses
    /// (`10.1.2.3`), and those without a host. So no page of another site can read it under a name
    /// that was pointed at this machine. `/metrics` is answered under any name, because scrapers
    /// use their own names for a service. Ports and capital letters do not matter.
    ///
    /// ```
    /// let mut console = windrow_console::Console::new("shop");
    /// console.host("shop.example");
    /// ```
    pub fn host(&mut self, name: &str) {
        self.shown.hosts.push(name.to_owned());
    }

    /// Shows the past that the log in this directory has, across restarts: on the page, and in
    /// `/past`.
    ///
    /// The log is one of [`windrow_log`], which this process or another one writes; its windows
    /// and families have the names that they have here. It is read when a client first asks, on a
    /// thread of the console's own, which takes at most half a core: 1 GB takes some 20 seconds,
    /// during which the page shows what is read, and says so. After that, an answer takes some
    /// milliseconds. The sums take at most 64 MiB of memory.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let directory = directory.path();
    /// let log = windrow_log::Log::open(directory, windrow_log::Options::default())?;
    /// let mut console = windrow_console::Console::new("shop");
    /// console.log(directory);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "log")]
    pub fn log(&mut self, directory: impl AsRef<std::path::Path>) {
        self.shown.has_log = true;
        self.log = Some(Arc::new(Logged::new(directory.as_ref())));
    }

    /// Sets the factor from which a change of a window's numbers is unusual; 2 by default, and at
    /// least 1.1.
    ///
    /// It multiplies the end of the usual range. For example, if at most 3 % of the calls failed in
    /// nearly all minutes of the last two hours, a factor of 2 makes failures unusual above 6 %.
    /// Low counts need a greater change; see [`false_changes_a_day`](Self::false_changes_a_day).
    ///
    /// ```
    /// let mut console = windrow_console::Console::new("shop");
    /// console.change_factor(3.0); // only what is three times the usual range
    /// ```
    pub fn change_factor(&mut self, factor: f64) {
        self.settings.factor = factor.max(1.1);
    }

    /// Sets the number of changes of a window a day that may be called unusual although chance
    /// brings them; 0.2 by default.
    ///
    /// The lower it is, the more operations a change needs to be seen.
    ///
    /// ```
    /// let mut console = windrow_console::Console::new("shop");
    /// console.false_changes_a_day(0.01); // for a service with hundreds of routes
    /// ```
    pub fn false_changes_a_day(&mut self, number: f64) {
        self.settings.false_a_day = number.max(1e-9);
    }

    /// Builds the service that answers with all these metrics.
    ///
    /// ```
    /// use windrow_console::Console;
    ///
    /// let console = Console::new("shop").build();
    /// let app = axum::Router::<()>::new().nest_service("/console", console);
    /// ```
    pub fn build(self) -> ConsoleService {
        #[cfg_attr(not(feature = "log"), expect(unused_mut))]
        let mut service = ConsoleService::new(Arc::new(self.shown), self.settings);
        #[cfg(feature = "log")]
        {
            service.log = self.log;
        }
        service
    }
}

/// Shows the names.
impl Debug for Console {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.shown.fmt(f)
    }
}
