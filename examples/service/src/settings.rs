//! The settings of a service that is deployed: from the environment, and from arguments, which
//! win.

use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::time::Duration;

use tracing::Level;
use windrow_redis::Absence;

/// The error of a setting: its place, which is an environment variable or an argument; its key and
/// value; and the rule.
pub(crate) type SettingError = String;

/// The beginning of the environment variables.
const PREFIX: &str = "SHOP_";

/// The setting whose value may have a password in it, and is not shown.
const LIMIT_REDIS: &str = "limit_redis";

/// The settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) listen: SocketAddr,
    /// The number of connections at once.
    pub(crate) max_connections: usize,
    /// The longest time from the moment at which a connection has no request to the end of the next
    /// request's header.
    pub(crate) header_timeout: Duration,
    /// The longest time from the end of a request's header to the end of its body.
    pub(crate) body_timeout: Duration,
    /// The longest time for which a client takes no part of its answer.
    pub(crate) write_timeout: Duration,
    /// The time for which requests are admitted after the signal to stop, so that balancers learn
    /// of it.
    pub(crate) drain_delay: Duration,
    /// The longest time that requests in flight have after that.
    pub(crate) drain_limit: Duration,
    /// The URL of the engine that keeps the limit of requests; `None` without a limit.
    pub(crate) limit_redis: Option<String>,
    /// The requests a second of all processes together.
    pub(crate) limit_requests: u64,
    /// The policy for the time in which the engine is away.
    pub(crate) limit_absence: Absence,
    /// The least severe level that is logged; `None` is chosen by what is drawn.
    pub(crate) log: Option<Level>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            max_connections: 1024,
            header_timeout: Duration::from_secs(10),
            body_timeout: Duration::from_secs(10),
            write_timeout: Duration::from_secs(30),
            drain_delay: Duration::ZERO,
            // The slowest request of the shop takes 5 s.
            drain_limit: Duration::from_secs(6),
            limit_redis: None,
            limit_requests: 1_000,
            limit_absence: Absence::Refuse,
            log: None,
        }
    }
}

/// A setting.
struct Setting {
    key: &'static str,
    rule: &'static str,
    /// Takes a value. Returns false if it is not valid.
    set: fn(&mut Settings, &str) -> bool,
}

/// Writes the settings: of each its key, its field, its rule, and how its value is read.
macro_rules! settings {
    ($($key:literal $field:ident: $rule:literal, $read:expr;)+) => {
        const SETTINGS: &[Setting] = &[$(Setting {
            key: $key,
            rule: $rule,
            set: |settings, value| put(&mut settings.$field, value, $read),
        }),+];
    };
}

settings! {
    "listen" listen: "an address and a port, such as 127.0.0.1:8080; port 0 is a free one",
        |value| value.parse().ok();
    "max_connections" max_connections: "a whole number from 1 to 65536",
        |value| number(value, 1..=65_536).map(|number| number as usize);
    "header_timeout_seconds" header_timeout: "a whole number from 1 to 600",
        |value| seconds(value, 1..=600);
    "body_timeout_seconds" body_timeout: "a whole number from 1 to 600",
        |value| seconds(value, 1..=600);
    "write_timeout_seconds" write_timeout: "a whole number from 1 to 600",
        |value| seconds(value, 1..=600);
    "drain_delay_seconds" drain_delay: "a whole number from 0 to 600",
        |value| seconds(value, 0..=600);
    "drain_limit_seconds" drain_limit: "a whole number from 1 to 600",
        |value| seconds(value, 1..=600);
    "limit_redis" limit_redis: "a URL, such as redis://127.0.0.1:6379/",
        |value| url(value).map(Some);
    "limit_requests" limit_requests: "a whole number from 1 to 1000000, of requests a second",
        |value| number(value, 1..=1_000_000);
    "limit_absence" limit_absence: "refuse or admit", absence;
    "log" log: "error, warn, info, debug or trace", |value| level(value).map(Some);
}

fn put<T>(place: &mut T, value: &str, read: impl FnOnce(&str) -> Option<T>) -> bool {
    read(value).map(|value| *place = value).is_some()
}

/// Reads a number of a range.
fn number(value: &str, allowed: RangeInclusive<u64>) -> Option<u64> {
    value.parse().ok().filter(|number| allowed.contains(number))
}

/// Reads seconds of a range.
fn seconds(value: &str, allowed: RangeInclusive<u64>) -> Option<Duration> {
    number(value, allowed).map(Duration::from_secs)
}

/// Reads the URL of an engine.
fn url(value: &str) -> Option<String> {
    let is_url = value.starts_with("redis://") || value.starts_with("unix://");
    is_url.then(|| value.to_owned())
}

/// Reads a policy by its name.
fn absence(value: &str) -> Option<Absence> {
    match value {
        "refuse" => Some(Absence::Refuse),
        "admit" => Some(Absence::Admit),
        _ => None,
    }
}

/// Reads a level by its name. (`Level` would take numbers too.)
fn level(value: &str) -> Option<Level> {
    ["error", "warn", "info", "debug", "trace"].contains(&value).then(|| value.parse().ok())?
}

impl Settings {
    /// Takes the environment variables that begin with `SHOP_`.
    pub(crate) fn read_environment(
        &mut self,
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> Result<(), SettingError> {
        for (name, value) in variables {
            if let Some(key) = name.strip_prefix(PREFIX) {
                let place = format!("the environment's {name}");
                if key.chars().any(char::is_lowercase) {
                    return Err(format!("{place}: it must be in upper case"));
                }
                self.set(&place, &key.to_lowercase(), value.trim())?;
            }
        }
        Ok(())
    }

    /// Takes arguments without their dashes: `drain-limit-seconds`.
    pub(crate) fn read_arguments(
        &mut self,
        arguments: &[(String, String)],
    ) -> Result<(), SettingError> {
        for (at, (name, value)) in arguments.iter().enumerate() {
            let (place, key) = (format!("--{name}"), name.replace('-', "_"));
            if arguments[..at].iter().any(|(seen, _)| seen == name) {
                return Err(format!("{place}: {key} is set twice"));
            }
            self.set(&place, &key, value)?;
        }
        Ok(())
    }

    fn set(&mut self, place: &str, key: &str, value: &str) -> Result<(), SettingError> {
        let Some(setting) = SETTINGS.iter().find(|setting| setting.key == key) else {
            let keys: Vec<&str> = SETTINGS.iter().map(|setting| setting.key).collect();
            let keys = keys.join(", ");
            return Err(format!("{place}: there is no setting {key}; there are {keys}"));
        };
        if (setting.set)(self, value) {
            return Ok(());
        }
        let value = if key == LIMIT_REDIS { "(not shown)" } else { value };
        Err(format!("{place}: {key} is {value:?}: it must be {}", setting.rule))
    }
}

/// Returns whether an argument, without its dashes, is a setting.
pub(crate) fn is_setting(argument: &str) -> bool {
    SETTINGS.iter().any(|setting| setting.key.replace('_', "-") == argument)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(line: &str) -> Vec<(String, String)> {
        let pairs = line.split_whitespace().filter_map(|pair| pair.split_once('='));
        pairs.map(|(name, value)| pair(name, value)).collect()
    }

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn an_argument_wins_over_the_environment() {
        let mut settings = Settings::default();
        let environment =
            "SHOP_LOG=warn SHOP_DRAIN_LIMIT_SECONDS=30 PATH=/bin SHOP_MAX_CONNECTIONS=8";
        settings.read_environment(variables(environment)).unwrap();
        settings.read_arguments(&[pair("drain-limit-seconds", "40")]).unwrap();
        let expected = Settings {
            drain_limit: Duration::from_secs(40),
            max_connections: 8,
            log: Some(Level::WARN),
            ..Settings::default()
        };
        assert_eq!(settings, expected);
    }

    #[test]
    fn an_error_names_the_place_the_key_the_value_and_the_rule() {
        for (key, value, rule) in [
            ("LISTEN", "80", "an address and a port, such as 127.0.0.1:8080; port 0 is a free one"),
            ("MAX_CONNECTIONS", "0", "a whole number from 1 to 65536"),
            ("HEADER_TIMEOUT_SECONDS", "0", "a whole number from 1 to 600"),
            ("BODY_TIMEOUT_SECONDS", "601", "a whole number from 1 to 600"),
            ("WRITE_TIMEOUT_SECONDS", "0", "a whole number from 1 to 600"),
            ("DRAIN_DELAY_SECONDS", "-1", "a whole number from 0 to 600"),
            ("DRAIN_LIMIT_SECONDS", "1.5", "a whole number from 1 to 600"),
            ("LIMIT_REQUESTS", "0", "a whole number from 1 to 1000000, of requests a second"),
            ("LIMIT_ABSENCE", "hope", "refuse or admit"),
            ("LOG", "3", "error, warn, info, debug or trace"),
            ("LOG", "loud", "error, warn, info, debug or trace"),
        ] {
            let pairs = variables(&format!("SHOP_{key}={value}"));
            let error = Settings::default().read_environment(pairs).unwrap_err();
            let says = format!(
                "the environment's SHOP_{key}: {} is \"{value}\": it must be {rule}",
                key.to_lowercase()
            );
            assert_eq!(error, says);
        }
        let error = Settings::default().read_environment(variables("SHOP_DRAIN=3")).unwrap_err();
        let says = "the environment's SHOP_DRAIN: there is no setting drain; there are listen, \
                    max_connections, header_timeout_seconds, body_timeout_seconds, \
                    write_timeout_seconds, drain_delay_seconds, drain_limit_seconds, limit_redis, \
                    limit_requests, limit_absence, log";
        assert_eq!(error, says);
        let error = Settings::default().read_environment(variables("SHOP_log=info")).unwrap_err();
        assert_eq!(error, "the environment's SHOP_log: it must be in upper case");
        let secret = variables("SHOP_LIMIT_REDIS=http://:secret@host");
        let error = Settings::default().read_environment(secret).unwrap_err();
        assert!(error.contains("limit_redis is \"(not shown)\": it must be a URL"), "{error}");
        let twice = [pair("log", "info"), pair("listen", "[::1]:0"), pair("log", "info")];
        let error = Settings::default().read_arguments(&twice).unwrap_err();
        assert_eq!(error, "--log: log is set twice");
        let error = Settings::default().read_arguments(&[pair("log", "")]).unwrap_err();
        assert!(error.starts_with("--log: log is \"\": "), "{error}");
    }
}
