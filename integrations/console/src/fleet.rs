//! A fleet: the consoles of several processes as one.

use std::path::PathBuf;
use std::sync::Arc;

use crate::error::ServeError;
use crate::server::{self, Server};
use site::{FleetSite, Shared};
use targets::Target;

mod answer;
mod courses;
mod get;
mod heavy;
mod members;
mod merge;
mod part;
mod poll;
mod reading;
mod says;
mod site;
mod sparks;
mod sum;
mod targets;
#[cfg(test)]
mod tests;
mod view;

pub use targets::TargetError;

/// A fleet: reads the consoles of several processes once a second, and serves one page for all.
///
/// Counts, sums and levels are added up, and the cells of distributions one by one: percentiles are
/// those of all values. Needs the feature `fleet`. The program `windrow-console` is this, with
/// arguments.
///
/// ```no_run
/// use windrow_console::Fleet;
///
/// let mut fleet = Fleet::new("shop");
/// fleet.target("10.0.0.1:9090")?;
/// fleet.target("shop.internal:9090/console")?; // all addresses of that name
/// let server = fleet.serve("127.0.0.1:9000")?;
/// println!("http://{}/", server.address());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "it asks no console before it is served"]
pub struct Fleet {
    name: String,
    targets: Vec<Target>,
    file: Option<PathBuf>,
}

impl Fleet {
    /// Creates a fleet without members, with a name for its page.
    ///
    /// ```
    /// let fleet = windrow_console::Fleet::new("shop");
    /// # let _ = fleet;
    /// ```
    pub fn new(name: impl Into<String>) -> Fleet {
        Fleet { name: name.into(), targets: Vec::new(), file: None }
    }

    /// Adds a console: `host:port`, with the path at which it is mounted, if any. A name stands for
    /// all its addresses, and is looked up every ten seconds.
    ///
    /// A fleet has at most 512 addresses. Requests have the address as their `Host`, which a
    /// console answers, whatever [its names](crate::Console::host) are.
    ///
    /// # Errors
    ///
    /// Returns [`TargetError`] if there is no host, no port, or something else.
    ///
    /// ```
    /// let mut fleet = windrow_console::Fleet::new("shop");
    /// fleet.target("10.0.0.1:9090")?;
    /// fleet.target("shop.internal:8080/console")?;
    /// assert!(fleet.target("shop.internal").is_err()); // no port
    /// # Ok::<(), windrow_console::TargetError>(())
    /// ```
    pub fn target(&mut self, target: &str) -> Result<(), TargetError> {
        self.targets.push(Target::parse(target)?);
        Ok(())
    }

    /// Sets a file of further consoles: one a line, as [`target`](Self::target) takes it. Empty
    /// lines and those that begin with `#` are left out.
    ///
    /// The file is read every second, so a change needs no signal. If it cannot be read, or a line
    /// is no target, the consoles stay as they were, and the page says why.
    ///
    /// ```
    /// let mut fleet = windrow_console::Fleet::new("shop");
    /// fleet.targets_file("/etc/shop/consoles");
    /// ```
    pub fn targets_file(&mut self, path: impl Into<PathBuf>) {
        self.file = Some(path.into());
    }

    /// Serves the fleet on a thread of its own, at an address of this machine that other machines
    /// cannot reach, as [`ConsoleService::serve`](crate::ConsoleService::serve) does. The members
    /// are asked from then on, until the server is stopped.
    ///
    /// # Errors
    ///
    /// Returns [`ServeError`] if the address is invalid, can be reached from other machines, or is
    /// taken; or if no thread can be started.
    ///
    /// ```
    /// let server = windrow_console::Fleet::new("shop").serve("127.0.0.1:0")?;
    /// server.stop();
    /// # Ok::<(), windrow_console::ServeError>(())
    /// ```
    pub fn serve(&self, address: &str) -> Result<Server, ServeError> {
        server::serve(self.site(), address)
    }

    /// Serves the fleet as [`serve`](Self::serve) does, but at any address, and for any `Host`.
    ///
    /// Every client that reaches it sees all labels, rates and times. It has no password, and no
    /// encryption.
    ///
    /// # Errors
    ///
    /// Returns [`ServeError`] if the address is invalid or taken; or if no thread can be started.
    ///
    /// ```no_run
    /// let server = windrow_console::Fleet::new("shop").serve_beyond_loopback("0.0.0.0:9000")?;
    /// # Ok::<(), windrow_console::ServeError>(())
    /// ```
    pub fn serve_beyond_loopback(&self, address: &str) -> Result<Server, ServeError> {
        server::serve_beyond_loopback(self.site(), address)
    }

    fn site(&self) -> FleetSite {
        let Fleet { name, targets, file } = self.clone();
        FleetSite(Arc::new(Shared::new(name, targets, file)))
    }
}
