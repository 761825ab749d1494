//! Signals that end the program: the terminal is restored first.

use std::io;

#[cfg(unix)]
use {
    signal_hook::consts::{SIGHUP, SIGINT, SIGTERM},
    std::sync::Arc,
    std::sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

/// The signals that end the program. Elsewhere than on Unix there are none.
#[derive(Default)]
pub(crate) struct Signals {
    /// The signal's number; zero until it comes. (Relaxed: nothing else belongs to it.)
    #[cfg(unix)]
    come: Arc<AtomicUsize>,
}

#[cfg(unix)]
impl Signals {
    /// Takes the signals from now on.
    pub(crate) fn take() -> io::Result<Signals> {
        let signals = Signals::default();
        for signal in [SIGHUP, SIGINT, SIGTERM] {
            let number = usize::try_from(signal).map_err(io::Error::other)?;
            signal_hook::flag::register_usize(signal, signals.come.clone(), number)?;
        }
        Ok(signals)
    }

    pub(crate) fn have_come(&self) -> bool {
        self.come.load(Relaxed) != 0
    }

    /// Ends the program by the signal that has come, if one has.
    pub(crate) fn end(&self) -> io::Result<()> {
        match i32::try_from(self.come.load(Relaxed)) {
            Ok(signal) if signal != 0 => signal_hook::low_level::emulate_default_handler(signal),
            _ => Ok(()),
        }
    }
}

#[cfg(not(unix))]
impl Signals {
    pub(crate) fn take() -> io::Result<Signals> {
        Ok(Signals::default())
    }

    pub(crate) fn have_come(&self) -> bool {
        false
    }

    pub(crate) fn end(&self) -> io::Result<()> {
        Ok(())
    }
}
