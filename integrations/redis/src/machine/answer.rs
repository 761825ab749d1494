//! The engine's answer to an ask: the numbers that the script `lease.lua` returns.

/// The state of an ask's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// The ledger has answered, if only that nothing is left.
    Answered,
    /// The engine's memory began anew, and it grants nothing yet.
    Cold,
    /// A later ask of the same client came first.
    Overtaken,
}

/// The engine's answer. Times are in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) state: State,
    /// The number of permits granted.
    pub(crate) granted: u64,
    /// The bucket in which they count.
    pub(crate) bucket: u64,
    /// The time since the beginning of that bucket.
    pub(crate) age: u64,
    /// The number of permits that are left for others.
    pub(crate) left: u64,
    /// The limit in force.
    pub(crate) limit: u64,
    /// The version of that limit.
    pub(crate) version: u64,
    /// The number of clients that ask in a bucket.
    pub(crate) clients: u64,
    /// The time until what was needed has left the ledger; zero if it was granted, `None`: never,
    /// since it is more than the limit.
    pub(crate) wait: Option<u64>,
    /// The epoch of the engine's memory.
    pub(crate) born: u64,
}

impl Answer {
    /// Reads what the script returned. Returns `None` if that cannot be an answer of it.
    pub(crate) fn read(numbers: &[i64]) -> Option<Answer> {
        let numbers: &[i64; 10] = numbers.try_into().ok()?;
        let [state, granted, bucket, age, left, limit, version, clients, wait, born] =
            numbers.map(|number| u64::try_from(number).ok());
        let state = match state? {
            0 => State::Answered,
            1 => State::Cold,
            2 => State::Overtaken,
            _ => return None,
        };
        if wait.is_none() && numbers[8] != -1 {
            return None;
        }
        Some(Answer {
            state,
            granted: granted?,
            bucket: bucket?,
            age: age?,
            left: left?,
            limit: limit?,
            version: version?,
            clients: clients?,
            wait,
            born: born?,
        })
    }
}
