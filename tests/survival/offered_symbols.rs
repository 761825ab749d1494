//! A program that offers its symbols opens a shared object with the same library.
//!
//! The object's copy of the library then calls the functions of the program's, which make its
//! columns and windows. Its adds are its own.

use std::path::PathBuf;
use std::process::Command;

/// Builds a part of the package of plugins, by a command of cargo's, with symbols that are offered.
fn build(target: &PathBuf, arguments: &[&str]) {
    let status = Command::new(env!("CARGO"))
        .args(arguments)
        .args(["--quiet", "--package=windrow-plugin", "--profile=mutants", "--target-dir"])
        .arg(target)
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env("RUSTFLAGS", "-C link-arg=-rdynamic")
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()
        .unwrap();
    assert!(status.success(), "{arguments:?}");
}

#[test]
fn both_count() {
    let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("offered");
    build(&target, &["build", "--bin=host"]);
    // An object of C functions offers nothing else; one for Rust offers all. (It comes last, as
    // both have one name.)
    build(&target, &["rustc", "--lib", "--crate-type=dylib"]);
    for strategy in ["", "cpu-id", "portable"] {
        let status = Command::new(target.join("mutants/host"))
            .arg(target.join("mutants/libwindrow_plugin.so"))
            .env("WINDROW_STRATEGY", strategy)
            .status()
            .unwrap();
        assert!(status.success(), "{strategy:?}: {status}");
    }
}
