//! The settings of a service that is deployed: from the environment, and from arguments, which
//! win.

use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, RangedU64ValueParser, TypedValueParser};
use tracing::Level;
use windrow_redis::Absence;

/// The beginning of the environment variables.
const PREFIX: &str = "SHOP_";

/// The settings. Their comments are the text for users, without a full stop at the end.
#[derive(clap::Args, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    /// Address and port; port 0 is a free one
    #[arg(long, env = "SHOP_LISTEN", default_value = "127.0.0.1:0", value_name = "ADDRESS:PORT")]
    #[arg(value_parser = address)]
    pub(crate) listen: SocketAddr,

    /// Connections at once; others wait; streams of the page have half of them
    #[arg(long, env = "SHOP_MAX_CONNECTIONS", default_value = "1024", value_name = "N")]
    #[arg(value_parser = RangedU64ValueParser::<usize>::new().range(1..=65_536))]
    pub(crate) max_connections: usize,

    /// From the moment at which a connection has no request to the end of the next one's header
    #[arg(long = "header-timeout-seconds", env = "SHOP_HEADER_TIMEOUT_SECONDS")]
    #[arg(default_value = "10", value_name = "N", value_parser = seconds(1..=600))]
    pub(crate) header_timeout: Duration,

    /// From the end of a request's header to the end of its body
    #[arg(long = "body-timeout-seconds", env = "SHOP_BODY_TIMEOUT_SECONDS")]
    #[arg(default_value = "10", value_name = "N", value_parser = seconds(1..=600))]
    pub(crate) body_timeout: Duration,

    /// For a client that takes no part of its answer
    #[arg(long = "write-timeout-seconds", env = "SHOP_WRITE_TIMEOUT_SECONDS")]
    #[arg(default_value = "30", value_name = "N", value_parser = seconds(1..=600))]
    pub(crate) write_timeout: Duration,

    /// From the signal to stop, when /readyz fails, to the end of listening
    #[arg(long = "drain-delay-seconds", env = "SHOP_DRAIN_DELAY_SECONDS")]
    #[arg(default_value = "0", value_name = "N", value_parser = seconds(0..=600))]
    pub(crate) drain_delay: Duration,

    // The slowest request of the shop takes 5 s.
    /// For the requests in flight then
    #[arg(long = "drain-limit-seconds", env = "SHOP_DRAIN_LIMIT_SECONDS")]
    #[arg(default_value = "6", value_name = "N", value_parser = seconds(1..=600))]
    pub(crate) drain_limit: Duration,

    // Its value may have a password in it, and is not shown.
    /// URL of Redis or Valkey, which keeps one limit of all processes
    #[arg(long, env = "SHOP_LIMIT_REDIS", hide_env_values = true, value_name = "URL")]
    pub(crate) limit_redis: Option<String>,

    /// Requests a second, of all processes together
    #[arg(long, env = "SHOP_LIMIT_REQUESTS", default_value = "1000", value_name = "N")]
    #[arg(value_parser = RangedU64ValueParser::<u64>::new().range(1..=1_000_000))]
    pub(crate) limit_requests: u64,

    /// While that engine is away: `refuse` keeps the limit, `admit` answers all
    #[arg(long, env = "SHOP_LIMIT_ABSENCE", default_value = "refuse", value_name = "POLICY")]
    #[arg(value_parser = absence())]
    pub(crate) limit_absence: Absence,

    /// The least severe level that is logged [default: info, or warn where counts are drawn]
    #[arg(long, env = "SHOP_LOG", value_name = "LEVEL", value_parser = level())]
    pub(crate) log: Option<Level>,
}

fn address(value: &str) -> Result<SocketAddr, &'static str> {
    value.parse().map_err(|_| "it must be an address and a port, such as 127.0.0.1:8080")
}

fn seconds(allowed: RangeInclusive<u64>) -> impl TypedValueParser<Value = Duration> {
    RangedU64ValueParser::<u64>::new().range(allowed).map(Duration::from_secs)
}

fn absence() -> impl TypedValueParser<Value = Absence> {
    let names = PossibleValuesParser::new(["refuse", "admit"]);
    names.map(|name| if name == "admit" { Absence::Admit } else { Absence::Refuse })
}

/// Reads a level by its name. (`Level` would take numbers too.)
fn level() -> impl TypedValueParser<Value = Level> {
    let names = PossibleValuesParser::new(["error", "warn", "info", "debug", "trace"]);
    names.try_map(|name| name.parse::<Level>())
}

impl Settings {
    /// Returns what is wrong with the settings that are read, or with the names of variables: one
    /// that begins as those of settings do must be one of the `known`.
    pub(crate) fn wrong(
        &self,
        names: impl IntoIterator<Item = String>,
        known: &[String],
    ) -> Option<String> {
        let is_url = |url: &str| url.starts_with("redis://") || url.starts_with("unix://");
        if self.limit_redis.as_deref().is_some_and(|url| !is_url(url)) {
            return Some(
                "--limit-redis (not shown): it must be a URL: redis://... or unix://...".into(),
            );
        }
        let mut names = names.into_iter();
        let unknown = names.find(|name| name.starts_with(PREFIX) && !known.contains(name))?;
        Some(format!("the environment's {unknown} is no setting; there are {}", known.join(", ")))
    }
}
