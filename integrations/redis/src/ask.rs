//! One ask as a command of the engine, and the engine's answer to it.

use std::sync::Arc;

use redis::{Cmd, Value, cmd};

use crate::error::SharedError;
use crate::limit::Limit;
use crate::machine::{Answer, Attempt};

/// One attempt at an ask of a limit.
pub(crate) struct Call {
    pub(crate) limit: Arc<Limit>,
    pub(crate) attempt: Attempt,
}

impl Call {
    /// Returns the command, for a script with this digest.
    pub(crate) fn command(&self, script: &str) -> Cmd {
        let keys = &self.limit.keys;
        let mut command = cmd("EVALSHA");
        command.arg(script).arg(2).arg(&*keys.ledger).arg(&*keys.epoch).arg(&self.limit.client);
        for number in self.attempt.arguments() {
            command.arg(number);
        }
        command
    }
}

/// Reads an answer of the script.
pub(crate) fn answer(said: &Value) -> Result<Answer, SharedError> {
    let number = |value: &Value| match value {
        Value::Int(number) => Some(*number),
        _ => None,
    };
    let numbers = said.as_sequence().and_then(|said| said.iter().map(number).collect());
    let answer = numbers.and_then(|numbers: Vec<_>| Answer::read(&numbers));
    answer.ok_or(SharedError::Nonsense { expected: "answer of the script" })
}
