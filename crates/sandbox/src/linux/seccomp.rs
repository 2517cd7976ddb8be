//! The filter of system calls: what no build and no test needs, and what a bug in the kernel would need.
//!
//! Everything that is not named is allowed. What a program tries and can do
//! without gets the error that makes it do so: `clone3` is unknown, so that the
//! C library takes `clone`, whose flags can be looked at; a family of sockets
//! that is not to be had is not supported. The calls of other ABIs (32 bits,
//! x32), whose numbers would slip through, do not exist.
//!
//! Debuggers work inside: the pid namespace and Landlock keep them from
//! everything outside. Only where there is neither, `ptrace` is refused.

use std::collections::BTreeMap;
use std::io;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter, sock_filter,
};

/// What the filter depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Setting {
    pub(crate) sockets: Sockets,
    pub(crate) debugging: Debugging,
}

/// Which sockets may be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sockets {
    /// Those of the internet too.
    Internet,
    /// Only those of this machine.
    Local,
}

/// Whether a process may look into another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Debugging {
    Allowed,
    Refused,
}

/// Refused with "not permitted".
const REFUSED: &[libc::c_long] = &[
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    OPEN_TREE_ATTR,
    libc::SYS_setns,
    libc::SYS_bpf,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_userfaultfd,
    libc::SYS_perf_event_open,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_open_by_handle_at,
    libc::SYS_fanotify_init,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_reboot,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_syslog,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_vhangup,
];

/// `open_tree_attr`, the same number everywhere.
const OPEN_TREE_ATTR: libc::c_long = 467;

#[cfg(target_arch = "x86_64")]
const REFUSED_HERE: &[libc::c_long] = &[libc::SYS_iopl, libc::SYS_ioperm, libc::SYS_modify_ldt];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_HERE: &[libc::c_long] = &[];

/// Looking into another process.
const LOOKING: &[libc::c_long] = &[
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
];

const NEW_NAMESPACES: &[libc::c_int] = &[
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWCGROUP,
];

/// Typing into a terminal for somebody else.
const TYPING: &[u64] = &[libc::TIOCSTI, libc::TIOCLINUX];

/// Puts the filter up, for this process and all that it starts. There is no way back.
pub(crate) fn restrict(setting: Setting) -> io::Result<()> {
    for program in programs(setting)? {
        apply_filter(&program).map_err(io::Error::other)?;
    }
    Ok(())
}

/// The last one that is put up is asked first; the strictest answer counts.
fn programs(setting: Setting) -> io::Result<Vec<BpfProgram>> {
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(io::Error::other)?;
    let filter = |rules: BTreeMap<i64, Vec<SeccompRule>>, errno: i32| -> io::Result<BpfProgram> {
        let action = SeccompAction::Errno(errno.unsigned_abs());
        let filter =
            SeccompFilter::new(rules, SeccompAction::Allow, action, arch).map_err(io::Error::other)?;
        BpfProgram::try_from(filter).map_err(io::Error::other)
    };
    let unknown = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
    let families = BTreeMap::from([(libc::SYS_socket, vec![families(setting.sockets)?])]);
    let mut programs = vec![
        filter(refused(setting.debugging)?, libc::EPERM)?,
        filter(families, libc::EAFNOSUPPORT)?,
        filter(unknown, libc::ENOSYS)?,
    ];
    if cfg!(target_arch = "x86_64") {
        programs.push(no_x32());
    }
    Ok(programs)
}

fn refused(debugging: Debugging) -> io::Result<BTreeMap<i64, Vec<SeccompRule>>> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        REFUSED.iter().chain(REFUSED_HERE).map(|call| (*call, Vec::new())).collect();
    if debugging == Debugging::Refused {
        rules.extend(LOOKING.iter().map(|call| (*call, Vec::new())));
    }
    let has_flag = |flag: &libc::c_int| {
        let flag = u64::from(flag.unsigned_abs());
        rule(vec![condition(0, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(flag), flag)?])
    };
    for call in [libc::SYS_clone, libc::SYS_unshare] {
        rules.insert(call, NEW_NAMESPACES.iter().map(has_flag).collect::<io::Result<_>>()?);
    }
    let types = |request: &u64| {
        rule(vec![condition(1, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, *request & 0xffff_ffff)?])
    };
    rules.insert(libc::SYS_ioctl, TYPING.iter().map(types).collect::<io::Result<_>>()?);
    Ok(rules)
}

/// Fits every family that may not be used. Netlink stays: the C library asks it which addresses there are.
fn families(sockets: Sockets) -> io::Result<SeccompRule> {
    let mut allowed = vec![libc::AF_UNIX, libc::AF_NETLINK];
    if sockets == Sockets::Internet {
        allowed.extend([libc::AF_INET, libc::AF_INET6]);
    }
    let is_other = |family: &libc::c_int| {
        condition(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, u64::from(family.unsigned_abs()))
    };
    rule(allowed.iter().map(is_other).collect::<io::Result<_>>()?)
}

fn rule(conditions: Vec<SeccompCondition>) -> io::Result<SeccompRule> {
    SeccompRule::new(conditions).map_err(io::Error::other)
}

fn condition(
    argument: u8,
    length: SeccompCmpArgLen,
    compare: SeccompCmpOp,
    value: u64,
) -> io::Result<SeccompCondition> {
    SeccompCondition::new(argument, length, compare, value).map_err(io::Error::other)
}

/// The numbers of x32 have a bit that no other has.
fn no_x32() -> BpfProgram {
    const BIT: u32 = 0x4000_0000;
    const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    const JUMP_IF_AT_LEAST: u16 = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
    const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
    let step = |code, jt, k| sock_filter { code, jt, jf: 0, k };
    vec![
        step(LOAD, 0, 0),
        step(JUMP_IF_AT_LEAST, 1, BIT),
        step(RETURN, 0, libc::SECCOMP_RET_ALLOW),
        step(RETURN, 0, libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_makes_programs_that_a_kernel_takes() {
        for sockets in [Sockets::Internet, Sockets::Local] {
            for debugging in [Debugging::Allowed, Debugging::Refused] {
                for program in programs(Setting { sockets, debugging }).unwrap() {
                    assert!(!program.is_empty() && program.len() < 4096);
                }
            }
        }
    }
}
