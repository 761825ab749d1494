//! The addresses of a fleet: as they are given, from a file, and as names resolve.

use std::fmt::{self, Display, Formatter};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The greatest number of addresses.
pub(super) const MOST: usize = 512;

/// The greatest length of a file of targets.
const LONGEST: u64 = 256 * 1024;

/// A console: `host:port`, and the path at which it is mounted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Target {
    /// The host and the port.
    pub(super) host: String,
    /// The path, with a slash at its beginning and its end.
    pub(super) path: String,
}

/// The error of a target that is none: the text as given, and the rule that it breaks.
///
/// ```
/// let error = windrow_console::Fleet::new("shop").target("https://shop.example").unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "`https://shop.example` is no target: there is no encryption, only http"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetError {
    given: String,
    rule: &'static str,
}

impl Display for TargetError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let given: String = self.given.chars().take(100).collect();
        write!(f, "`{given}` is no target: {}", self.rule)
    }
}

impl std::error::Error for TargetError {}

impl Display for Target {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.host, self.path)
    }
}

impl Target {
    /// Reads `host:port`, `http://host:port` or `host:port/path`.
    pub(super) fn parse(given: &str) -> Result<Target, TargetError> {
        let fails = |rule| Err(TargetError { given: given.to_owned(), rule });
        if given.starts_with("https:") {
            return fails("there is no encryption, only http");
        }
        let bare = given.strip_prefix("http://").unwrap_or(given);
        let (host, path) = bare.split_once('/').unwrap_or((bare, ""));
        let is_plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_plain(bare) || path.contains(['?', '#']) {
            return fails("it has spaces, a query, or characters other than ASCII's");
        }
        let Some((name, port)) = host.rsplit_once(':') else {
            return fails("it has no port, as `host:9090` has");
        };
        if name.is_empty() || !matches!(port.parse::<u16>(), Ok(1..)) {
            return fails("it is not `host:port`, with a port from 1 to 65535");
        }
        let path = path.trim_matches('/');
        let path = if path.is_empty() { "/".to_owned() } else { format!("/{path}/") };
        Ok(Target { host: host.to_owned(), path })
    }

    /// Reads a file: a target a line. Empty lines, and those that begin with `#`, are left out.
    pub(super) fn all(text: &str) -> Result<Vec<Target>, TargetError> {
        let lines = text.lines().map(str::trim);
        let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        lines.map(Target::parse).collect()
    }
}

/// The error of reading a file of targets.
#[derive(Debug)]
pub(super) enum FileError {
    Read { path: PathBuf, error: io::Error },
    Long { path: PathBuf },
    Line { path: PathBuf, error: TargetError },
}

impl Display for FileError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            FileError::Read { path, error } => write!(f, "{}: {error}", path.display()),
            FileError::Long { path } => {
                write!(f, "{} is longer than {} KiB", path.display(), LONGEST >> 10)
            }
            FileError::Line { path, error } => write!(f, "{}: {error}", path.display()),
        }
    }
}

/// Reads a file of targets.
pub(super) fn read(path: &Path) -> Result<Vec<Target>, FileError> {
    let read = |error| FileError::Read { path: path.to_owned(), error };
    let mut text = String::new();
    let file = File::open(path).map_err(read)?;
    file.take(LONGEST + 1).read_to_string(&mut text).map_err(read)?;
    if text.len() as u64 > LONGEST {
        return Err(FileError::Long { path: path.to_owned() });
    }
    Target::all(&text).map_err(|error| FileError::Line { path: path.to_owned(), error })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_have_a_host_a_port_and_perhaps_a_path() {
        let parsed = |given| Target::parse(given).map(|target| (target.host, target.path));
        let made = |host: &str, path: &str| Ok((host.to_owned(), path.to_owned()));
        assert_eq!(parsed("10.0.0.1:9090"), made("10.0.0.1:9090", "/"));
        assert_eq!(parsed("http://shop:80/console/"), made("shop:80", "/console/"));
        assert_eq!(parsed("[::1]:9090/a/b"), made("[::1]:9090", "/a/b/"));
        for wrong in ["", "shop", "shop:", ":80", "shop:0", "shop:70000", "a b:80", "https://s:1"] {
            assert!(Target::parse(wrong).is_err(), "{wrong}");
        }
        assert!(Target::parse("shop:80/?series=x").is_err());
    }

    #[test]
    fn a_file_has_a_target_a_line() {
        let all = Target::all("# the shop\n\n 10.0.0.1:9090 \r\nshop:80/console\n").unwrap();
        let hosts: Vec<&str> = all.iter().map(|target| target.host.as_str()).collect();
        assert_eq!(hosts, ["10.0.0.1:9090", "shop:80"]);
        let error = Target::all("10.0.0.1:9090\nnonsense").unwrap_err();
        assert_eq!(
            error.to_string(),
            "`nonsense` is no target: it has no port, as `host:9090` has"
        );
    }
}
