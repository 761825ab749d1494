//! Paces by key, for keys that come at run time.

use windrow::pace::Terms;

use crate::error::MappedError;
use crate::pace::Pace;
use crate::shared::Shared;
use crate::system::time::Boot;
use crate::text;

/// A rate limit by key for the processes of one machine: a [`Pace`] of the same terms for each
/// client, tenant or partner.
///
/// Returned by [`File::keyed_pace`](crate::File::keyed_pace). The key is the value of a label, so
/// [`File::pace`](crate::File::pace) with that label is the same pace.
///
/// ```
/// use std::time::Duration;
/// use windrow_mapped::{File, MappedError};
///
/// let file = File::builder().sealed()?;
/// // 10 a second for each client, and 2 at once, over all processes.
/// let clients = file.keyed_pace("requests", "client", Duration::from_millis(100), 2)?;
/// // Of all clients together that come when the file is full.
/// let others = file.pace("other_requests", &[], Duration::from_millis(10), 20)?;
/// let admit = |client: &str| clients.of(client).unwrap_or(others).try_admit(1);
/// assert!(admit("a") && admit("a") && !admit("a"));
/// assert!(admit("b"));
/// # Ok::<(), MappedError>(())
/// ```
///
/// # The number of keys
///
/// A key is registered with its first call, and stays: a file has at most 16 384 paces of all
/// names, of 64 bytes each, and their texts take a part of the names' bytes. Further keys are typed
/// errors, for as long as there is the file. So bound what becomes a key: strangers that choose
/// keys can fill it, and all clients that come later then share one pace, or have none.
///
/// # Cost
///
/// A look for a key that this process knows takes a lock of this process, and somewhat less than a
/// microsecond; a new key some microseconds. A pace that is kept costs neither.
#[derive(Clone)]
pub struct KeyedPace {
    shared: &'static Shared,
    name: String,
    label: String,
    terms: Terms,
    boot: Boot,
}

impl KeyedPace {
    pub(crate) fn new(
        shared: &'static Shared,
        name: &str,
        label: &str,
        terms: Terms,
    ) -> Result<KeyedPace, MappedError> {
        text::join(name, &[(label, "")])?;
        let (name, label) = (name.to_owned(), label.to_owned());
        Ok(KeyedPace { shared, name, label, terms, boot: Boot::of_this_process()? })
    }

    /// Returns the pace of a key, which is registered if it is not there.
    ///
    /// # Errors
    ///
    /// [`MappedError::Full`] if there are too many keys;
    /// [`OtherTerms`](MappedError::OtherTerms) if the key's pace is there with another period or
    /// burst; and those of [`File::counter`](crate::File::counter).
    pub fn of(&self, key: &str) -> Result<Pace, MappedError> {
        let text = text::join(&self.name, &[(&self.label, key)])?;
        Ok(Pace { word: self.shared.pace(&text, self.terms, self.boot)? })
    }
}

shown! {
    /// Shows the name and the label.
    KeyedPace(pace) { name: pace.name, label: pace.label }
}
