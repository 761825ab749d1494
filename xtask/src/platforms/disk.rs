//! The disk of a virtual machine: one archive in memory, of busybox, the C library, test programs,
//! and a script that is the first process.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::apt::Suite;
use super::builds;
use super::machines::{Architecture, Machine};
use super::programs::{Built, Program};
use crate::tools::succeeds;

/// The suite of the C library and of busybox, whatever the kernel's is.
const SUITE: &str = "trixie";

/// The beginning of the script's last line, behind which the runs stand with their exit codes.
pub(super) const ENDED: &str = "ended:";

/// The words before the number of processors that were taken off the machine and put back.
pub(super) const MOVED: &str = "processors off and on: ";

/// Packs the machine's disk; returns its file.
pub(super) fn make(machine: &Machine, folder: &Path, built: &Built) -> Result<PathBuf, String> {
    let place = folder.join("machines").join(machine.name.replace(' ', "-"));
    let tree = place.join("tree");
    let failed = |error: std::io::Error| format!("{}: {error}", tree.display());
    if tree.exists() {
        fs::remove_dir_all(&tree).map_err(failed)?;
    }
    for part in ["bin", "lib", "lib64", "proc", "sys", "dev", "tmp"] {
        fs::create_dir_all(tree.join(part)).map_err(failed)?;
    }
    let system = system(machine, folder)?;
    let copy = |from: PathBuf, to: PathBuf| {
        fs::copy(&from, to).map(drop).map_err(|error| format!("{}: {error}", from.display()))
    };
    copy(system.join("usr/bin/busybox"), tree.join("bin/busybox"))?;
    let Architecture { libraries, loader, .. } = *machine.architecture;
    for to in ["lib/libc.so.6", "lib/libm.so.6", "lib/libgcc_s.so.1", loader] {
        let (_, name) = to.rsplit_once('/').ok_or("a library is in a folder")?;
        copy(system.join("usr/lib").join(libraries).join(name), tree.join(to))?;
    }
    for (name, program) in built {
        builds::strip(machine.target, program, &tree.join(format!("bin/test-{name}")))?;
    }
    fs::write(tree.join("init"), script(machine)).map_err(failed)?;
    succeeds(Command::new("chmod").arg("+x").args([tree.join("init"), tree.join("bin/busybox")]))?;
    let pack = "find . -mindepth 1 | cpio --create --format=newc --quiet >../disk";
    succeeds(Command::new("sh").args(["-c", pack]).current_dir(&tree))?;
    Ok(place.join("disk"))
}

/// Unpacks busybox and the C library; returns their folder.
fn system(machine: &Machine, folder: &Path) -> Result<PathBuf, String> {
    let debian = machine.architecture.debian;
    let there = folder.join(format!("system-{debian}"));
    if !there.join("whole").exists() {
        let suite = Suite::open(folder, SUITE, debian)?;
        for package in ["busybox-static", "libc6", "libgcc-s1"] {
            suite.unpack(package, &there)?;
        }
        fs::write(there.join("whole"), "").map_err(|error| error.to_string())?;
    }
    Ok(there)
}

/// Returns the script that is the machine's first process.
fn script(machine: &Machine) -> String {
    let mut script = "#!/bin/busybox sh\n/bin/busybox --install -s /bin\n\
                      mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev\n\
                      cd /tmp; export LD_LIBRARY_PATH=/lib RUST_BACKTRACE=0\n\
                      echo; echo \"Linux $(uname -r), $(nproc) processors\"\n\
                      run() {\n  name=$1; shift; echo \"--- $name\"; \"$@\" 2>&1\n  \
                      code=$?; ended=\"$ended $name=$code\"; echo; echo \"exit $name $code\"\n}\n"
        .to_owned();
    if machine.hotplug {
        script.push_str(
            "while [ ! -e still ]; do for one in /sys/devices/system/cpu/cpu[1-9]*/online; do\n  \
             echo 0 > $one && echo 1 > $one && echo >> moved\ndone; done &\nmover=$!\n",
        );
    }
    // A `String` takes all.
    for program in machine.programs {
        let Program { test, arguments, variables } = program;
        let name = program.name();
        let _ = writeln!(script, "run {name} env {variables} /bin/test-{test} {arguments}");
    }
    if machine.hotplug {
        let _ = writeln!(script, "touch still; wait $mover; echo \"{MOVED}$(wc -l < moved)\"");
    }
    let _ = writeln!(script, "echo \"{ENDED}$ended\"\npoweroff -f");
    script
}

#[cfg(test)]
mod tests {
    use super::super::machines::{ARM64, HOTPLUG};
    use super::*;

    #[test]
    fn the_script_runs_each_program_and_tells_its_exit_code() {
        let script = script(&ARM64);
        for program in ARM64.programs {
            assert!(script.contains(&format!("run {} env ", program.name())), "{script}");
        }
        assert!(script.ends_with("echo \"ended:$ended\"\npoweroff -f\n"));
        assert!(!script.contains(MOVED));
    }

    #[test]
    fn processors_go_and_come_while_programs_run() {
        let script = script(&HOTPLUG);
        let places = ["echo 0 > $one", "run torture", "wait $mover", MOVED];
        let found = places.map(|text| script.find(text).expect(text));
        assert!(found.is_sorted(), "{found:?}");
    }
}
