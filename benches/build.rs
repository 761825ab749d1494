//! Hands the compiler's version to the captions of printed tables.

use std::env;
use std::process::Command;

fn main() {
    let compiler = env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let version = Command::new(compiler)
        .arg("--version")
        .output()
        .map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
        .unwrap_or_default();
    println!("cargo::rustc-env=BENCHES_RUSTC={version}");
    println!("cargo::rerun-if-changed=build.rs");
}
