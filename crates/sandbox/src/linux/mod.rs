//! The walls of Linux: namespaces and mounts, capabilities, Landlock, the filter of system calls.
//!
//! Each module builds one wall and knows nothing of the others. They are called
//! by the helper only, in a process with one thread, before the program runs.

pub(crate) mod calls;
pub(crate) mod capabilities;
pub(crate) mod devices;
pub(crate) mod landlock;
pub(crate) mod mounts;
pub(crate) mod namespaces;
pub(crate) mod seccomp;
