//! Libraries of other systems that Debian does not have as they are needed: for musl an unwinder
//! that a static program can have, for wine a library of random numbers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::targets::Target;
use crate::tools::succeeds;

/// Debian's unwinder was made for glibc, of which it calls a function.
const UNWINDER: &str = "/usr/lib/llvm-14/lib/libunwind.a";

const OF_GLIBC: &str = "\
#include <stdarg.h>
#include <stdio.h>
int __fprintf_chk(FILE *file, int flag, const char *format, ...) {
  va_list rest;
  va_start(rest, format);
  int written = vfprintf(file, format, rest);
  va_end(rest);
  return written;
}
";

/// Wine 8 lacks this library, from which std takes random numbers.
pub(super) const RANDOM: &str = "bcryptprimitives.dll";

const OF_WINDOWS: &str = "\
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T length) {
  return SystemFunction036(data, (ULONG)length);
}
";

/// Returns the folder of a target's own libraries.
pub(super) fn folder_of(target: &Target, folder: &Path) -> PathBuf {
    folder.join("libraries").join(target.triple)
}

/// Returns the compiler's flags for them.
pub(super) fn flags(target: &Target, folder: &Path) -> String {
    if target.triple.ends_with("-musl") {
        let folder = folder_of(target, folder);
        format!(
            "-C link-self-contained=no -C target-feature=+crt-static -L native={}",
            folder.display()
        )
    } else {
        String::new()
    }
}

/// Makes a target's libraries, unless they are there.
pub(super) fn make(target: &Target, folder: &Path) -> Result<(), String> {
    let there = folder_of(target, folder);
    let write = |name: &str, text: &str| {
        let made = fs::create_dir_all(&there).and_then(|()| fs::write(there.join(name), text));
        made.map_err(|error| format!("{}: {error}", there.display()))
    };
    let here = |program: &str| {
        let mut command = Command::new(program);
        command.current_dir(&there);
        command
    };
    if target.triple.ends_with("-musl") && !there.join("made").exists() {
        write("of_glibc.c", OF_GLIBC)?;
        succeeds(here("musl-gcc").args(["-O1", "-c", "of_glibc.c"]))?;
        succeeds(here("cp").args([UNWINDER, "libunwind.a"]))?;
        succeeds(here("ar").args(["r", "libunwind.a", "of_glibc.o"]))?;
        write("made", "")?;
    }
    if target.triple.contains("-windows-gnu") && !there.join(RANDOM).exists() {
        write("random.c", OF_WINDOWS)?;
        let arguments = ["-shared", "-o", RANDOM, "random.c", "-ladvapi32"];
        succeeds(here("x86_64-w64-mingw32-gcc-posix").args(arguments))?;
    }
    Ok(())
}
