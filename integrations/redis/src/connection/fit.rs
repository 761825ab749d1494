//! The check of an engine: a ledger needs a primary that evicts nothing.

use crate::error::SharedError;

/// Checks what an engine says about itself (`INFO`).
///
/// Grants that an engine forgets under pressure would be granted again, unseen. A limit without
/// memory is never under pressure; under `noeviction` the engine refuses to write instead.
pub(super) fn check(text: &str, engine: &str) -> Result<(), SharedError> {
    let nonsense = || SharedError::Nonsense { expected: "information about the engine" };
    let field = |name: &str| {
        text.lines().find_map(|line| line.trim_end().strip_prefix(name)?.strip_prefix(':'))
    };
    field("run_id").filter(|id| !id.is_empty()).ok_or_else(nonsense)?;
    if field("role").ok_or_else(nonsense)? != "master" {
        return Err(SharedError::NotPrimary { engine: engine.to_owned() });
    }
    let maxmemory = field("maxmemory").and_then(|bytes| bytes.parse().ok()).ok_or_else(nonsense)?;
    let policy = field("maxmemory_policy").ok_or_else(nonsense)?;
    if maxmemory > 0 && policy != "noeviction" {
        return Err(SharedError::MayEvict { maxmemory, policy: policy.to_owned() });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use redis::{Value, from_redis_value};

    use super::*;

    const FIT: &str = "# Server\r\nrun_id:5e1f\r\nrole:master\r\nmaxmemory:0\r\n\
                       maxmemory_human:0B\r\nmaxmemory_policy:allkeys-lru\r\n";

    fn judged(text: &str) -> Result<(), SharedError> {
        check(text, "here")
    }

    #[test]
    fn an_engine_is_fit_if_it_is_a_primary_that_evicts_nothing() {
        assert_eq!(judged(FIT), Ok(()));
        let bounded = FIT.replace("maxmemory:0", "maxmemory:9");
        let evicts = SharedError::MayEvict { maxmemory: 9, policy: "allkeys-lru".into() };
        assert_eq!(judged(&bounded), Err(evicts));
        assert_eq!(judged(&bounded.replace("allkeys-lru", "noeviction")), Ok(()));
        let replica = judged(&FIT.replace("master", "slave"));
        assert_eq!(replica, Err(SharedError::NotPrimary { engine: "here".into() }));
    }

    #[test]
    fn nonsense_is_no_information() {
        for text in ["", "hello", "7", "run_id:\r\n", &FIT.replace("role", "roll")] {
            assert!(matches!(judged(text), Err(SharedError::Nonsense { .. })), "{text}");
        }
        assert!(from_redis_value::<String>(Value::BulkString(vec![0xff, 0xfe])).is_err());
    }
}
