//! Architectures of Debian's, by which its packages go.

/// An architecture.
pub(super) struct Architecture {
    /// The name in packages.
    pub(super) debian: &'static str,
    /// The folder of its libraries.
    pub(super) libraries: &'static str,
    /// The program that loads its libraries, below the root.
    pub(super) loader: &'static str,
}

const fn architecture(
    debian: &'static str,
    libraries: &'static str,
    loader: &'static str,
) -> Architecture {
    Architecture { debian, libraries, loader }
}

pub(super) const AMD64: Architecture =
    architecture("amd64", "x86_64-linux-gnu", "lib64/ld-linux-x86-64.so.2");
pub(super) const ARM64: Architecture =
    architecture("arm64", "aarch64-linux-gnu", "lib/ld-linux-aarch64.so.1");
pub(super) const ARMHF: Architecture =
    architecture("armhf", "arm-linux-gnueabihf", "lib/ld-linux-armhf.so.3");
pub(super) const I386: Architecture = architecture("i386", "i386-linux-gnu", "lib/ld-linux.so.2");
pub(super) const PPC64EL: Architecture =
    architecture("ppc64el", "powerpc64le-linux-gnu", "lib64/ld64.so.2");
pub(super) const RISCV64: Architecture =
    architecture("riscv64", "riscv64-linux-gnu", "lib/ld-linux-riscv64-lp64d.so.1");
pub(super) const S390X: Architecture = architecture("s390x", "s390x-linux-gnu", "lib/ld64.so.1");
