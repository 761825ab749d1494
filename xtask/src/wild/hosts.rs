//! Python and Node, each of which loads two copies of the shared object.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::builds::Made;
use crate::tools::needs;

/// A host: its program, its script, and what it wants an object's name to end in.
const HOSTS: [(&str, &str, &str); 2] =
    [("python3", "tests/wild/hosts/python.py", "so"), ("node", "tests/wild/hosts/node.js", "node")];

/// Returns a command for each host that is here, to which the number of adds is to be added. The
/// two copies are files of their own, so that the system loads both.
pub(super) fn commands(
    made: &Made,
    root: &Path,
    folder: &Path,
) -> Result<Vec<(&'static str, Command)>, String> {
    let mut commands = Vec::new();
    for (host, script, ending) in HOSTS {
        if let Err(why) = needs(host, &["--version"]) {
            println!("    {why}");
            continue;
        }
        let mut command = Command::new(host);
        command.arg(root.join(script));
        for copy in ["one", "other"] {
            let path = folder.join(format!("{copy}.{ending}"));
            let _ = fs::remove_file(&path); // there may be none
            fs::copy(&made.object, &path).map_err(|error| format!("{copy}: {error}"))?;
            command.arg(path);
        }
        commands.push((host, command));
    }
    Ok(commands)
}
