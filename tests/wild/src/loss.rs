//! The add that is left out on purpose, so that a check can be seen to fail.

/// The names of the adds that can be left out, each of which one check must notice.
pub const PARTS: [&str; 13] = [
    "counter",
    "gauge",
    "maximum",
    "histogram",
    "window",
    "value",
    "rations",
    "level",
    "exit",
    "coroutine",
    "guard",
    "task",
    "fork",
];

/// The add that is left out, if any.
#[derive(Clone, Copy, Debug, Default)]
pub struct Loss(Option<&'static str>);

impl Loss {
    /// Returns the loss that the environment variable `WILD_LOSE` names; none without it.
    ///
    /// # Errors
    /// If there is no such name.
    pub fn from_environment() -> Result<Loss, String> {
        let Ok(name) = std::env::var("WILD_LOSE") else { return Ok(Loss(None)) };
        match PARTS.iter().find(|part| **part == name) {
            Some(part) => Ok(Loss(Some(part))),
            None => Err(format!("WILD_LOSE must be one of {}, and is `{name}`", PARTS.join(", "))),
        }
    }

    /// Returns the number of adds of this name that are left out: one or none.
    #[must_use]
    pub fn of(self, part: &str) -> u64 {
        u64::from(self.0 == Some(part))
    }
}
