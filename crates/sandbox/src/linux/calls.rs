//! System calls for which there is no safe wrapper at hand.
#![allow(unsafe_code)]

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

use rustix::process::Pid;

/// Which of the two processes one is after a fork.
pub(crate) enum Fork {
    Child,
    Parent(Pid),
}

/// Forks into new namespaces. For a process with one thread: the child may then do whatever it likes.
pub(crate) fn clone(namespaces: libc::c_int) -> io::Result<Fork> {
    let flags = libc::c_long::from(namespaces | libc::SIGCHLD);
    // SAFETY: without a stack of its own the child goes on with a copy of everything, like after `fork`.
    // The order of the last two arguments differs between architectures; both are zero.
    let answer = unsafe { libc::syscall(libc::SYS_clone, flags, 0_usize, 0_usize, 0_usize, 0_usize) };
    match i32::try_from(answer).ok().map(Pid::from_raw) {
        Some(Some(pid)) if answer > 0 => Ok(Fork::Parent(pid)),
        Some(None) => Ok(Fork::Child),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Sets and clears attributes of a mount and of those below it.
pub(crate) fn mount_setattr(
    mount: impl AsFd,
    path: &CStr,
    depth: Depth,
    set: u64,
    clear: u64,
    propagation: u64,
) -> io::Result<()> {
    let attributes = [set, clear, propagation, 0_u64];
    let flags = libc::AT_EMPTY_PATH
        | match depth {
            Depth::Tree => libc::AT_RECURSIVE,
            Depth::One => 0,
        };
    // SAFETY: the path ends with a NUL, and the array is the structure `mount_attr`: four numbers of
    // 64 bits. Both outlive the call.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_fd().as_raw_fd(),
            path.as_ptr(),
            flags,
            attributes.as_ptr(),
            size_of_val(&attributes),
        )
    };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// How far an attribute reaches.
#[derive(Clone, Copy)]
pub(crate) enum Depth {
    One,
    Tree,
}

/// Blocks SIGCHLD and returns a descriptor that can be read when one has come.
pub(crate) fn child_signals() -> io::Result<OwnedFd> {
    // SAFETY: the set is initialised by `sigemptyset` before it is read; a new descriptor is owned by nobody else.
    unsafe {
        let mut set = std::mem::zeroed::<libc::sigset_t>();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, libc::SIGCHLD);
        if libc::sigprocmask(libc::SIG_BLOCK, &set, std::ptr::null_mut()) != 0 {
            return Err(io::Error::last_os_error());
        }
        match libc::signalfd(-1, &set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) {
            -1 => Err(io::Error::last_os_error()),
            fd => Ok(OwnedFd::from_raw_fd(fd)),
        }
    }
}

/// Lets every signal through again.
pub(crate) fn unblock_signals() {
    // SAFETY: as above; the mask of this thread is set and no old one is asked for.
    unsafe {
        let mut set = std::mem::zeroed::<libc::sigset_t>();
        libc::sigemptyset(&mut set);
        libc::sigprocmask(libc::SIG_SETMASK, &set, std::ptr::null_mut());
    }
}

/// Takes over a descriptor that this process was started with.
pub(crate) fn inherited(number: i32) -> io::Result<OwnedFd> {
    // SAFETY: asks about a number only.
    if number < 3 || unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) } == -1 {
        return Err(io::Error::from_raw_os_error(libc::EBADF));
    }
    // SAFETY: it is open, as the call above has shown, and the helper takes over each number once, at its
    // start, when it has opened nothing itself.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// Brings up the loopback of a new network namespace.
pub(crate) fn loopback_up() -> io::Result<()> {
    // SAFETY: the request is zeroed, holds a name that ends with a NUL, and outlives the calls.
    unsafe {
        let socket = libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
        if socket == -1 {
            return Err(io::Error::last_os_error());
        }
        let socket = OwnedFd::from_raw_fd(socket);
        let mut request = std::mem::zeroed::<libc::ifreq>();
        request.ifr_name[0] = b'l' as libc::c_char;
        request.ifr_name[1] = b'o' as libc::c_char;
        request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
        match libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS as _, &request) {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        }
    }
}

/// Makes standard input the terminal that controls this session, if it is a terminal at all.
pub(crate) fn take_terminal() {
    // SAFETY: both calls take numbers; where standard input is no terminal they change nothing.
    unsafe {
        if libc::isatty(0) == 1 {
            libc::ioctl(0, libc::TIOCSCTTY as _, 0);
        }
    }
}

/// A limit of this process and of those that it starts.
pub(crate) fn limit_processes(count: u64) {
    let limit = libc::rlimit { rlim_cur: count as libc::rlim_t, rlim_max: count as libc::rlim_t };
    // SAFETY: the structure outlives the call. A limit that is already lower stays.
    unsafe {
        libc::setrlimit(libc::RLIMIT_NPROC, &limit);
    }
}
