//! A kernel that refuses something, as a container may have it.

/// Makes the kernel refuse the call with that number to this thread and those that it will start,
/// by a seccomp filter.
pub(crate) fn refuse(call: libc::c_long) {
    let filter = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
    let number = u32::try_from(call).expect("a call's number");
    let refused = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
    let mut filters = [
        filter(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0), // the call's number
        filter(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, number),
        filter(libc::BPF_RET | libc::BPF_K, 0, 0, refused),
        filter(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: filters.len() as u16, filter: filters.as_mut_ptr() };
    // SAFETY: the program lives until the kernel has copied it; it refuses only that call.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        let set = libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program);
        assert_eq!(set, 0, "seccomp filters are not to be had");
    }
}
