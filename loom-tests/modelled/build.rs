//! Turns this package's features into what the sources ask for: `checker` into `windrow_checker`,
//! and so on.
//!
//! They are features, not flags of the compiler: those would have everything built anew that is
//! below the library, for each set of them. And they mean something only under a model checker.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is_set = |variable: &str| std::env::var_os(variable).is_some();
    if !is_set("CARGO_CFG_LOOM") && !is_set("CARGO_CFG_SHUTTLE") {
        return;
    }
    for feature in ["checker", "per_core", "announced"] {
        if is_set(&format!("CARGO_FEATURE_{}", feature.to_uppercase())) {
            println!("cargo::rustc-cfg=windrow_{feature}");
        }
    }
}
