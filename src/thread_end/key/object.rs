//! The object that holds the library's code: the program itself, or what was loaded by `dlopen`.

/// Keeps the object loaded for the life of the process. Code and data whose address the kernel or
/// the C library has must not be unmapped while a thread lives.
pub(crate) fn pin() {
    // SAFETY: all zeros are a valid `Dl_info`, and the first argument is an address in this object.
    unsafe {
        let mut found: libc::Dl_info = std::mem::zeroed();
        let here = pin as *const libc::c_void;
        if libc::dladdr(here, &raw mut found) != 0 && !found.dli_fname.is_null() {
            let flags = libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE;
            libc::dlopen(found.dli_fname, flags); // null for the program itself, which stays anyway
        }
    }
}
