//! How tools say what the kernel said. Written in small letters, compared without regard to case.

/// Something could not be changed.
pub(super) const WRITING: &[&str] = &[
    "read-only file system",
    "erofs",
    "permission denied",
    "eacces",
    "operation not permitted",
    "device or resource busy",
    "os error 30",
    "errno 30",
];

/// Something could not be read. What is hidden looks empty, so what was in it is missing.
pub(super) const READING: &[&str] = &["permission denied", "eacces", "no such file or directory", "enoent"];

/// Another machine could not be reached.
pub(super) const NETWORK: &[&str] = &[
    "could not resolve host",
    "couldn't resolve host",
    "could not resolve proxy",
    "name or service not known",
    "temporary failure in name resolution",
    "temporary failure resolving",
    "nodename nor servname provided",
    "no address associated with hostname",
    "network is unreachable",
    "network unreachable",
    "enetunreach",
    "enotfound",
    "eai_again",
    "econnrefused",
    "connection refused",
    "no such host",
    "unable to resolve host",
    "unknownhostexception",
    "address family not supported",
    "failed to lookup address information",
    "dns error",
];

/// No further process could be started.
pub(super) const PROCESSES: &[&str] = &[
    "fork: retry: resource temporarily unavailable",
    "fork: resource temporarily unavailable",
    "resource temporarily unavailable: fork",
    "cannot fork",
    "fork failed",
    "can't start new thread",
    "pthread_create failed: resource temporarily unavailable",
    "failed to spawn thread",
    "errno=11 (resource temporarily unavailable)",
    "spawn eagain",
];

/// A file system is full.
pub(super) const SPACE: &[&str] = &["no space left on device", "enospc", "disk quota exceeded"];

/// Programs and messages that name a call that is never allowed.
pub(super) const SYSTEM_CALLS: &[(&str, &str)] = &[
    ("mount: ", "mount"),
    ("umount: ", "umount"),
    ("unshare", "unshare"),
    ("nsenter", "setns"),
    ("setns", "setns"),
    ("no permissions to create new namespace", "unshare"),
    ("clone_newuser", "clone"),
    ("bpf(", "bpf"),
    ("perf_event_open", "perf_event_open"),
    ("io_uring", "io_uring_setup"),
    ("keyctl", "keyctl"),
    ("ptrace", "ptrace"),
    ("userfaultfd", "userfaultfd"),
    ("chroot", "chroot"),
    ("swapon", "swapon"),
    ("insmod", "init_module"),
    ("modprobe", "init_module"),
];
