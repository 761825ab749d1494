//! A connection to an engine that was found fit: requests and answers.
//!
//! A connection that has failed once is dropped: a late answer of it would be taken for the next
//! request's. The client crate sends nothing again by itself. So each repetition is a decision of
//! the state machine, which gives it a stamp of its own.

use std::sync::Arc;

use redis::{Cmd, Value, cmd};

use crate::error::SharedError;
use crate::limit::Limit;
use crate::machine::{Answer, Attempt};
use crate::target::Target;

mod fit;

/// The script of one ask.
const LEASE: &str = include_str!("lease.lua");

/// A connection to an engine that was found fit.
pub(crate) struct Connection {
    inner: redis::Connection,
    /// The digest by which the engine knows the script.
    script: String,
}

/// One attempt at an ask of a limit.
pub(crate) struct Call {
    pub(crate) limit: Arc<Limit>,
    pub(crate) attempt: Attempt,
}

impl Call {
    /// Returns the command, for a script with this digest.
    fn command(&self, script: &str) -> Cmd {
        let keys = &self.limit.keys;
        let mut command = cmd("EVALSHA");
        command.arg(script).arg(2).arg(&*keys.ledger).arg(&*keys.epoch).arg(&self.limit.client);
        for number in self.attempt.arguments() {
            command.arg(number);
        }
        command
    }
}

/// An engine's answer to one request.
#[derive(Debug)]
pub(crate) enum Said {
    /// An answer of the script.
    Answered(Answer),
    /// The limit's keys hold what the script will not touch. Another attempt finds the same.
    Unusable(SharedError),
}

impl Connection {
    /// Connects, checks that the engine is fit, and gives it the script.
    pub(crate) fn open(target: &Target) -> Result<Connection, SharedError> {
        let mut inner = target.connect()?;
        let told = |error| target.told(&error);
        let info = cmd("INFO").query::<String>(&mut inner).map_err(told)?;
        fit::check(&info, &target.shown)?;
        let load = cmd("SCRIPT").arg("LOAD").arg(LEASE).query::<String>(&mut inner);
        let script = load.map_err(told)?;
        if script.len() == 40 {
            return Ok(Connection { inner, script });
        }
        Err(SharedError::Nonsense { expected: "digest of the script" })
    }

    /// Sends requests, all at once.
    pub(crate) fn send(&mut self, calls: &[Call], target: &Target) -> Result<(), SharedError> {
        let mut bytes = Vec::with_capacity(calls.len() * 320);
        for call in calls {
            call.command(&self.script).write_packed_command(&mut bytes);
        }
        self.inner.send_packed_command(&bytes).map_err(|error| target.told(&error))
    }

    /// Receives what the engine says to the next request, about the limit with this name.
    ///
    /// # Errors
    ///
    /// After an error the connection must be dropped.
    pub(crate) fn receive(&mut self, target: &Target, name: &str) -> Result<Said, SharedError> {
        let foreign = || Ok(Said::Unusable(SharedError::Foreign { name: name.to_owned() }));
        let said = self.inner.recv_response().map_err(|error| target.told(&error))?;
        match said {
            Value::ServerError(error) => match error.code() {
                "FOREIGN" | "WRONGTYPE" => foreign(),
                "GEOMETRY" => {
                    Ok(Said::Unusable(SharedError::OtherGeometry { name: name.to_owned() }))
                }
                _ if error.details().is_some_and(|text| text.contains("WRONGTYPE")) => foreign(),
                _ => Err(target.told(&error.into())),
            },
            said => Ok(Said::Answered(answer(&said)?)),
        }
    }
}

/// Reads an answer of the script.
fn answer(said: &Value) -> Result<Answer, SharedError> {
    let number = |value: &Value| match value {
        Value::Int(number) => Some(*number),
        _ => None,
    };
    let numbers = said.as_sequence().and_then(|said| said.iter().map(number).collect());
    let answer = numbers.and_then(|numbers: Vec<_>| Answer::read(&numbers));
    answer.ok_or(SharedError::Nonsense { expected: "answer of the script" })
}
