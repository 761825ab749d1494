//! Signals that end the program: the terminal is restored first. That may take for ever, as when a
//! terminal takes nothing that is written to it, so a second signal ends the program at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The signals that end the program. Elsewhere than on Unix there are none.
#[derive(Default)]
pub(crate) struct Signals {
    /// The signal's number; zero until it comes. (Relaxed: nothing else belongs to it.)
    come: Arc<AtomicUsize>,
}

impl Signals {
    /// Takes the signals from now on.
    pub(crate) fn take() -> io::Result<Signals> {
        let signals = Signals::default();
        #[cfg(unix)]
        {
            use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
            use signal_hook::flag;

            let has_come = Arc::default();
            for signal in [SIGHUP, SIGINT, SIGTERM] {
                let number = usize::try_from(signal).map_err(io::Error::other)?;
                // In this order: a signal that comes when `has_come` is set is the second one.
                flag::register_conditional_default(signal, Arc::clone(&has_come))?;
                flag::register_usize(signal, Arc::clone(&signals.come), number)?;
                flag::register(signal, Arc::clone(&has_come))?;
            }
        }
        Ok(signals)
    }

    pub(crate) fn have_come(&self) -> bool {
        self.come.load(Relaxed) != 0
    }

    /// Ends the program by the signal that has come, if one has.
    pub(crate) fn end(&self) -> io::Result<()> {
        match i32::try_from(self.come.load(Relaxed)) {
            #[cfg(unix)]
            Ok(signal) if signal != 0 => signal_hook::low_level::emulate_default_handler(signal),
            _ => Ok(()),
        }
    }
}
