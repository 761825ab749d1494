//! The engine that a URL names, and what may be shown of it: never the password.

use std::time::Duration;

use redis::{Client, ConnectionAddr, IntoConnectionInfo, ProtocolVersion, RedisError};

use crate::error::SharedError;

/// The engine that a URL names.
#[derive(Clone)]
pub(crate) struct Target {
    client: Client,
    /// The host and the port, or the path of a socket.
    pub(crate) shown: String,
    /// The time that an answer may take.
    pub(crate) timeout: Duration,
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
            let rule = "a password's `#`, `?`, `/` and `@` are written as %23, %3F, %2F, %40";
            return Err(wrong(rule));
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
        let (told, timeout) = (|error| self.told(&error), Some(self.timeout));
        let connection =
            self.client.get_connection_with_timeout(self.timeout * 10).map_err(told)?;
        connection.set_read_timeout(timeout).map_err(told)?;
        connection.set_write_timeout(timeout).map_err(told)?;
        Ok(connection)
    }

    /// Returns the error of a connection as one of a limit. Of an engine's own text only the code
    /// is kept: the rest may repeat what was sent to it.
    pub(crate) fn told(&self, error: &RedisError) -> SharedError {
        use redis::{ErrorKind, ServerErrorKind};

        let (engine, code) = (self.shown.clone(), error.code());
        match error.kind() {
            _ if error.is_timeout() => SharedError::TimedOut { engine, after: self.timeout },
            ErrorKind::Io => SharedError::Unreachable { engine, reason: error.to_string() },
            ErrorKind::Parse | ErrorKind::UnexpectedReturnType => {
                SharedError::Nonsense { expected: "answer of the protocol" }
            }
            ErrorKind::AuthenticationFailed => SharedError::NotAuthenticated { engine },
            ErrorKind::Server(ServerErrorKind::ReadOnly) => SharedError::NotPrimary { engine },
            ErrorKind::Server(ServerErrorKind::NoPerm) => {
                SharedError::NotPermitted { needs: permission(error.detail().unwrap_or_default()) }
            }
            ErrorKind::Server(ServerErrorKind::Moved | ServerErrorKind::Ask) => {
                let node = error.redirect_node();
                SharedError::OtherNode { at: node.map(|(at, _)| at.to_owned()).unwrap_or_default() }
            }
            _ if matches!(code, Some("NOAUTH" | "WRONGPASS")) => {
                SharedError::NotAuthenticated { engine }
            }
            _ => SharedError::Refused { code: code.unwrap_or("ERR").to_owned() },
        }
    }
}

/// Returns the rule that lets a user do what an engine's message says that the user may not.
fn permission(message: &str) -> &'static str {
    let message = message.to_ascii_lowercase();
    if message.contains("key") && !message.contains("command") {
        return "the limits' keys, such as ~{orders}:*";
    }
    let commands = [("info", "+info"), ("script", "+script|load"), ("evalsha", "+evalsha")];
    let named = commands.iter().find(|(command, _)| message.contains(&format!("'{command}")));
    named.map_or("+info +evalsha +script|load +get +set +hmget +hset +time", |(_, rule)| rule)
}

shown! {
    /// Shows the host and the port, and no password.
    Target(target) { at: target.shown }
}
