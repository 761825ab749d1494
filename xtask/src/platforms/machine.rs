//! A virtual machine of arm64, with Debian's kernel, that runs the library's tests: per core, by
//! restartable sequences, and with the barriers of a real kernel.
//!
//! Its disk is one archive in memory: busybox, the C library, the tests, and a script.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{FOLDER, Target, download, install};
use crate::sanitizers::succeeds;
use crate::steps::{Failed, Steps};

/// The test programs, and the arguments and variables of each.
const PROGRAMS: [(&str, &str); 3] =
    [("windrow", ""), ("contract", ""), ("torture", "WINDROW_TORTURE_SECONDS=1")];

/// The seconds after which the machine is ended. An emulated processor is some thirty times slower.
const SECONDS: &str = "600";

/// The line that the machine's first process prints when all tests have run.
const END: &str = "every test has run";

/// Runs the tests in the machine.
pub(super) fn run(steps: &mut Steps, target: &Target) -> Result<(), Failed> {
    let root = steps.root().to_owned();
    let shown = "qemu-system-aarch64, Linux, 4 processors: unit, contract and torture tests";
    steps.step(&format!("{}, a machine", target.triple), shown, || {
        let folder = root.join(FOLDER).join("machine");
        install(&[("/usr/bin/qemu-system-aarch64", "qemu-system-arm"), ("/usr/bin/cpio", "cpio")])?;
        let kernel = kernel(&root.join(FOLDER), target)?;
        let disk = disk(&root, &folder, target)?;
        let printed = boot(&kernel, &disk)?;
        print!("{printed}");
        let passed = printed.matches("test result: ok").count();
        if printed.contains(END) && passed == PROGRAMS.len() {
            Ok(())
        } else {
            Err(format!("{passed} of {} programs passed", PROGRAMS.len()))
        }
    })
}

/// Unpacks the kernel, busybox and the C library; returns the kernel's file.
fn kernel(folder: &Path, target: &Target) -> Result<PathBuf, String> {
    let unpacked = folder.join("kernel");
    if !unpacked.join("boot").exists() {
        // The package without a version names the newest one.
        let list = newest_kernel(folder, target)?;
        for package in [list.as_str(), "busybox-static", "libc6", "libgcc-s1"] {
            let file = download(folder, target.debian, package)?;
            succeeds(Command::new("dpkg").arg("-x").arg(file).arg(&unpacked))?;
        }
    }
    let mut found = files(&unpacked.join("boot"))?;
    found.retain(|path| path.to_string_lossy().contains("/vmlinuz-"));
    found.pop().ok_or("the package has no kernel".to_owned())
}

/// Returns the name of the package with the newest kernel for virtual machines.
fn newest_kernel(folder: &Path, target: &Target) -> Result<String, String> {
    let package = "linux-image-cloud-arm64";
    let mut command = Command::new("apt-cache");
    command.args(["depends", package]);
    let settings = folder.join(format!("apt-{}", target.debian)).join("apt.conf");
    let output = command.env("APT_CONFIG", settings).output();
    let output = output.map_err(|error| format!("cannot run apt-cache: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let name = text.lines().find_map(|line| line.trim().strip_prefix("Depends: "));
    let name = name.filter(|name| name.starts_with("linux-image-"));
    name.map(str::to_owned).ok_or(format!("the lists have no {package}"))
}

/// Compiles the tests and packs the machine's disk; returns its file.
fn disk(root: &Path, folder: &Path, target: &Target) -> Result<PathBuf, String> {
    let tree = folder.join("tree");
    let failed = |error: std::io::Error| format!("{}: {error}", tree.display());
    if tree.exists() {
        fs::remove_dir_all(&tree).map_err(failed)?;
    }
    for part in ["bin", "lib", "proc", "sys", "dev", "tmp"] {
        fs::create_dir_all(tree.join(part)).map_err(failed)?;
    }
    let mut command = target.cargo(root);
    command.args(["test", "--no-run", "--package", "windrow", "--lib"]);
    command.args(["--test", "contract", "--test", "torture"]);
    let output = command.output().map_err(|error| format!("cannot run cargo: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    for (name, _) in PROGRAMS {
        let file = executable(&said, name).ok_or(format!("{name} was not built:\n{said}"))?;
        let strip = Command::new(format!("{}-strip", target.gnu))
            .arg("-o")
            .args([tree.join("bin").join(format!("test-{name}")), file])
            .status();
        if !strip.is_ok_and(|status| status.success()) {
            return Err(format!("{name} could not be stripped"));
        }
    }
    let unpacked = root.join(FOLDER).join("kernel/usr");
    let copy = |from: PathBuf, to: &str| fs::copy(from, tree.join(to)).map_err(failed);
    copy(unpacked.join("bin/busybox"), "bin/busybox")?;
    let libraries = unpacked.join("lib/aarch64-linux-gnu");
    for library in ["ld-linux-aarch64.so.1", "libc.so.6", "libm.so.6", "libgcc_s.so.1"] {
        copy(libraries.join(library), &format!("lib/{library}"))?;
    }
    fs::write(tree.join("init"), script()).map_err(failed)?;
    succeeds(Command::new("chmod").arg("+x").args([tree.join("init"), tree.join("bin/busybox")]))?;
    let disk = folder.join("disk");
    pack(&tree, &disk)?;
    Ok(disk)
}

/// Finds the file of a test program in what cargo says.
fn executable(built: &str, name: &str) -> Option<PathBuf> {
    let line = built.lines().find(|line| line.contains(&format!("/deps/{name}-")))?;
    let (_, file) = line.split_once('(')?;
    Some(PathBuf::from(file.trim_end_matches(')')))
}

/// Returns the script that is the machine's first process.
fn script() -> String {
    let mut script = "#!/bin/busybox sh\n/bin/busybox --install -s /bin\n\
                      mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev\n\
                      cd /tmp; export LD_LIBRARY_PATH=/lib\nuname -r\n"
        .to_owned();
    for (name, variables) in PROGRAMS {
        let run = format!("echo '--- {name}'; {variables} /bin/test-{name} --quiet 2>&1\n");
        script.push_str(&run);
    }
    script + "echo " + END + "\npoweroff -f\n"
}

/// Packs a tree into the archive that a kernel unpacks.
fn pack(tree: &Path, disk: &Path) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("cpio: {error}");
    let file = fs::File::create(disk).map_err(failed)?;
    let mut cpio = Command::new("cpio")
        .args(["--create", "--format=newc", "--quiet"])
        .current_dir(tree)
        .stdin(Stdio::piped())
        .stdout(file)
        .spawn()
        .map_err(failed)?;
    let mut names = Vec::new();
    for part in ["init", "bin", "lib", "proc", "sys", "dev", "tmp"] {
        names.push(part.to_owned());
        let folder = tree.join(part);
        let inside = if folder.is_dir() { files(&folder)? } else { Vec::new() };
        let name = |path: &PathBuf| Some(path.file_name()?.to_string_lossy().into_owned());
        names.extend(inside.iter().filter_map(name).map(|name| format!("{part}/{name}")));
    }
    let mut input = cpio.stdin.take().ok_or("cpio reads nothing")?;
    input.write_all(names.join("\n").as_bytes()).map_err(failed)?;
    drop(input);
    let status = cpio.wait().map_err(failed)?;
    if status.success() { Ok(()) } else { Err(format!("cpio: {status}")) }
}

/// Boots the machine, and returns what it printed.
fn boot(kernel: &Path, disk: &Path) -> Result<String, String> {
    let mut machine = Command::new("timeout");
    machine.args([SECONDS, "qemu-system-aarch64", "-M", "virt,gic-version=3"]);
    machine.args(["-cpu", "max,pauth-impdef=on", "-smp", "4", "-m", "2G"]);
    machine.arg("-kernel").arg(kernel).arg("-initrd").arg(disk);
    machine.args(["-append", "console=ttyAMA0 panic=-1 quiet"]);
    machine.args(["-nographic", "-no-reboot", "-nic", "none"]).stdin(Stdio::null());
    let output = machine.output().map_err(|error| format!("cannot boot: {error}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns the files of a folder, in the order of their names.
fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut all: Vec<PathBuf> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
    all.sort();
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_in_what_cargo_says() {
        let built = "   Compiling windrow v0.1.0\n  Executable unittests src/lib.rs (a/deps/windrow-1f)\n  \
                     Executable tests/contract.rs (a/deps/contract-2e)\n";
        assert_eq!(executable(built, "windrow"), Some(PathBuf::from("a/deps/windrow-1f")));
        assert_eq!(executable(built, "contract"), Some(PathBuf::from("a/deps/contract-2e")));
        assert_eq!(executable(built, "torture"), None);
    }

    #[test]
    fn the_script_runs_each_program_and_says_when_it_ends() {
        let script = script();
        for (name, _) in PROGRAMS {
            assert!(script.contains(&format!("/bin/test-{name} ")), "{script}");
        }
        assert!(script.trim_end().ends_with("poweroff -f") && script.contains(END));
    }
}
