//! The engine that a URL names, and what may be shown of it: never the password.

use std::fmt::{self, Debug, Formatter};
use std::time::Duration;

use redis::{Client, ConnectionAddr, IntoConnectionInfo, ProtocolVersion, RedisError};

use crate::error::SharedError;

/// The engine that a URL names.
#[derive(Clone)]
pub(crate) struct Target {
    client: Client,
    /// The host and the port, or the path of a socket.
    shown: String,
    /// The time that an answer may take.
    timeout: Duration,
}

impl Target {
    /// Reads a URL.
    pub(crate) fn of(url: &str, timeout: Duration) -> Result<Target, SharedError> {
        let wrong = |reason| SharedError::Url { reason };
        let unknown = "it is not of the form redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE]";
        if cfg!(not(feature = "tls")) && url.starts_with("rediss:") {
            return Err(wrong("rediss:// needs the feature `tls`"));
        }
        let info = url.into_connection_info().map_err(|_| wrong(unknown))?;
        // A `#` or `?` of a password ends the address, and the host would be what is before it.
        let behind = url.split_once(['#', '?']).map_or("", |(_, behind)| behind);
        if behind.contains('@') {
            return Err(wrong(
                "a password's `#`, `?`, `/` and `@` are written as %23, %3F, %2F, %40",
            ));
        }
        #[cfg(feature = "tls")]
        if matches!(info.addr(), ConnectionAddr::TcpTls { .. }) {
            // A program that has chosen another one keeps it. (Where several are built in and none
            // is chosen, a connection would panic.)
            let _ = rustls::crypto::ring::default_provider().install_default();
        }
        if matches!(info.addr(), ConnectionAddr::TcpTls { insecure: true, .. }) {
            return Err(wrong("a certificate that is not checked is refused"));
        }
        // Nothing that was not asked for comes between answers.
        let settings = info.redis_settings().clone().set_protocol(ProtocolVersion::RESP2);
        let settings = settings.set_lib_name("windrow-redis", env!("CARGO_PKG_VERSION"));
        let tcp = info.tcp_settings().clone().set_nodelay(true);
        let info = info.set_redis_settings(settings).set_tcp_settings(tcp);
        let shown = info.addr().to_string();
        let client = Client::open(info).map_err(|_| wrong(unknown))?;
        Ok(Target { client, shown, timeout })
    }

    /// Connects, within ten times the time of an answer, and sets that as the connection's.
    pub(crate) fn connect(&self) -> Result<redis::Connection, SharedError> {
        let connection = self
            .client
            .get_connection_with_timeout(self.timeout * 10)
            .map_err(|error| self.told(&error))?;
        let timeout = Some(self.timeout);
        let set = connection.set_read_timeout(timeout);
        set.and_then(|()| connection.set_write_timeout(timeout))
            .map_err(|error| self.told(&error))?;
        Ok(connection)
    }

    /// Returns the time that an answer may take.
    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Returns the host and the port, or the path of a socket.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    /// Returns the error of a connection as one of a limit. Of an engine's own text only the code
    /// is kept: the rest may repeat what was sent to it.
    pub(crate) fn told(&self, error: &RedisError) -> SharedError {
        use redis::{ErrorKind, ServerErrorKind};

        let engine = || self.shown.clone();
        match error.kind() {
            _ if error.is_timeout() => {
                SharedError::TimedOut { engine: engine(), after: self.timeout }
            }
            ErrorKind::Io => {
                SharedError::Unreachable { engine: engine(), reason: error.to_string() }
            }
            ErrorKind::Parse | ErrorKind::UnexpectedReturnType => {
                SharedError::Nonsense { expected: "answer of the protocol" }
            }
            ErrorKind::AuthenticationFailed => SharedError::NotAuthenticated { engine: engine() },
            ErrorKind::Server(ServerErrorKind::ReadOnly) => {
                SharedError::NotPrimary { engine: engine() }
            }
            ErrorKind::Server(ServerErrorKind::NoPerm) => {
                SharedError::NotPermitted { needs: permission(error.detail().unwrap_or_default()) }
            }
            ErrorKind::Server(ServerErrorKind::Moved | ServerErrorKind::Ask) => {
                let node = error.redirect_node();
                SharedError::OtherNode { at: node.map(|(at, _)| at.to_owned()).unwrap_or_default() }
            }
            _ => match error.code() {
                Some("NOAUTH" | "WRONGPASS") => SharedError::NotAuthenticated { engine: engine() },
                code => SharedError::Refused { code: code.unwrap_or("ERR").to_owned() },
            },
        }
    }
}

/// Returns the rule that lets a user do what an engine's message says that the user may not.
fn permission(message: &str) -> &'static str {
    let message = message.to_ascii_lowercase();
    if message.contains("key") && !message.contains("command") {
        return "the limits' keys, such as ~{orders}:*";
    }
    let commands: [(&str, &'static str); 3] =
        [("info", "+info"), ("script", "+script|load"), ("evalsha", "+evalsha")];
    let named = commands.iter().find(|(command, _)| message.contains(&format!("'{command}")));
    named.map_or("+info +evalsha +script|load +get +set +hmget +hset +time", |(_, rule)| rule)
}

/// Shows the host and the port, and no password.
impl Debug for Target {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Target").field(&self.shown).finish()
    }
}
