//! What cannot be reached: other machines, other services, other processes, the kernel's doors.

use std::io::Read;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};

use rein_sandbox::jail::{Network, Preference};

use super::{Place, WHOLE, in_each, is_well, run_in};
use crate::runs;

/// A listener of this machine, outside.
fn listen() -> (std::net::TcpListener, u16) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}

#[tokio::test]
async fn without_network_nothing_outside_is_reached_and_the_own_loopback_works() {
    let place = Place::new();
    let (_listener, port) = listen();
    let text = format!(
        "python3 - <<'END'
import socket
def go(where):
    try:
        socket.create_connection(where, 2); return 'reached'
    except OSError: return 'refused'
print(go(('127.0.0.1', {port})), go(('192.0.2.1', 80)))
server = socket.create_server(('127.0.0.1', 0)); print(go(server.getsockname()))
server = socket.create_server(('::1', 0), family=socket.AF_INET6); print(go(server.getsockname()[:2]))
try: socket.getaddrinfo('example.invalid', 80)
except socket.gaierror: print('unknown')
END"
    );
    for (preference, exit, printed) in in_each(&place, &text).await {
        assert!(is_well(&exit), "{preference:?}: {printed}");
        assert_eq!(printed, "refused refused\nreached\nreached\nunknown\n", "{preference:?}");
    }
    let text = format!("exec 3<>/dev/tcp/127.0.0.1/{port} && echo reached");
    if let Some((_, printed)) = run_in(place.jail(Preference::LandlockAlone), &place.work(), &text).await {
        assert!(!printed.contains("reached"), "{printed}");
    }
}

#[tokio::test]
async fn with_network_the_machine_is_reached() {
    let place = Place::new();
    let (_listener, port) = listen();
    for preference in WHOLE.into_iter().chain([Preference::LandlockAlone]) {
        let mut jail = place.jail(preference);
        jail.network = Network::On;
        let text = format!("exec 3<>/dev/tcp/127.0.0.1/{port} && echo reached");
        let Some((_, printed)) = run_in(jail, &place.work(), &text).await else { continue };
        assert_eq!(printed, "reached\n", "{preference:?}");
    }
}

#[tokio::test]
async fn sockets_of_services_outside_are_not_reached() {
    let place = Place::new();
    let path = place.root.join("service.socket");
    let listener = UnixListener::bind(&path).unwrap();
    let name = format!("rein-test-{}", std::process::id());
    let hidden = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    for listener in [&listener, &hidden] {
        listener.set_nonblocking(true).unwrap();
    }
    let text = format!(
        "python3 - <<'END'
import socket
def go(where):
    try:
        s = socket.socket(socket.AF_UNIX); s.connect(where); return 'reached'
    except OSError: return 'refused'
print(go('{}'), go('\\0{name}'))
s = socket.socket(socket.AF_UNIX); s.bind('own'); s.listen(); print(go('own'))
s = socket.socket(socket.AF_UNIX); s.bind('\\0own'); s.listen(); print(go('\\0own'))
a, b = socket.socketpair()
END
rm own",
        path.display()
    );
    for preference in WHOLE {
        for network in [Network::Off, Network::On] {
            let mut jail = place.jail(preference);
            jail.network = network;
            let Some((exit, printed)) = run_in(jail, &place.work(), &text).await else { continue };
            assert!(is_well(&exit), "{preference:?}: {printed}");
            assert_eq!(printed, "refused refused\nreached\nreached\n", "{preference:?} {network:?}");
        }
    }
    assert!(listener.accept().is_err() && hidden.accept().is_err());
}

#[tokio::test]
async fn processes_outside_are_neither_signalled_nor_looked_into() {
    let place = Place::new();
    let mut victim = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
    let id = victim.id();
    let text = format!(
        "kill -9 {id}; kill -STOP {id}; cat /proc/{id}/environ /proc/{id}/mem; ls /proc/{id}/fd /proc/{id}/root/; \
         python3 -c 'import ctypes; print(ctypes.CDLL(None).ptrace(16, {id}, 0, 0))'; echo over"
    );
    for preference in WHOLE.into_iter().chain([Preference::LandlockAlone]) {
        let Some((_, printed)) = run_in(place.jail(preference), &place.work(), &text).await else { continue };
        assert!(printed.ends_with("-1\nover\n"), "{preference:?}: {printed}");
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
        assert!(runs(&id.to_string()) && !status.contains("State:\tT"), "{preference:?}: {printed}");
    }
    victim.kill().unwrap();
    victim.wait().unwrap();
}

#[tokio::test]
async fn only_own_processes_are_there_and_the_first_one_keeps_its_secrets() {
    let place = Place::new();
    let text = "ls /proc | grep -c '^[0-9]'; cat /proc/1/environ; cat /proc/1/mem; ls -l /proc/1/fd; ls /proc/1/root/; cat /proc/1/maps; echo over";
    for (preference, _, printed) in in_each(&place, text).await {
        let first: u32 = printed.lines().next().unwrap().parse().unwrap();
        assert!(first <= 5, "{preference:?}: {printed}");
        assert!(
            printed.ends_with("over\n") && printed.matches("denied").count() >= 4,
            "{preference:?}: {printed}"
        );
    }
}

#[tokio::test]
async fn the_doors_of_the_kernel_are_shut() {
    let place = Place::new();
    let text = r#"python3 - <<'END'
import ctypes, os, platform, socket, fcntl, errno
libc = ctypes.CDLL(None, use_errno=True)
x86 = platform.machine() == 'x86_64'
def call(name, number, *arguments):
    answer = libc.syscall(number, *arguments)
    print(name, 'done' if answer >= 0 else errno.errorcode[ctypes.get_errno()])
call('mount', 165 if x86 else 40, b'none', b'/mnt', b'tmpfs', 0, 0)
call('unshare', 272 if x86 else 97, 0x10000000)
call('setns', 308 if x86 else 268, 0, 0)
call('bpf', 321 if x86 else 280, 0, 0, 0)
call('keyctl', 250 if x86 else 219, 0, 0, 0)
call('io_uring', 425, 1, 0)
call('userfaultfd', 323 if x86 else 282, 0)
call('perf', 298 if x86 else 241, 0, 0, 0, 0, 0)
call('clone3', 435, 0, 0)
call('open_tree', 428, -100, b'/', 1)
if x86: call('x32', 0x40000000 + 39)
for family in (17, 40, 38):
    try: socket.socket(family, socket.SOCK_RAW if family == 17 else socket.SOCK_STREAM); print('made', family)
    except OSError as e: print(errno.errorcode[e.errno])
m, s = os.openpty()
try: fcntl.ioctl(s, 0x5412, b'x'); print('typed')
except OSError as e: print('TIOCSTI', errno.errorcode[e.errno])
END
grep -E 'NoNewPrivs|Seccomp:' /proc/self/status; grep CapEff /proc/self/status
unshare -Ur true 2>/dev/null && echo new namespace
ls /dev | sort | tr '\n' ' '"#;
    for (preference, exit, printed) in in_each(&place, text).await {
        assert!(is_well(&exit), "{preference:?}: {printed}");
        let expected_x32 = if cfg!(target_arch = "x86_64") { "x32 ENOSYS\n" } else { "" };
        let expected = format!(
            "mount EPERM\nunshare EPERM\nsetns EPERM\nbpf EPERM\nkeyctl EPERM\nio_uring EPERM\nuserfaultfd EPERM\nperf EPERM\n\
             clone3 ENOSYS\nopen_tree EPERM\n{expected_x32}EAFNOSUPPORT\nEAFNOSUPPORT\nEAFNOSUPPORT\nTIOCSTI EPERM\n\
             NoNewPrivs:\t1\nSeccomp:\t2\n"
        );
        assert!(printed.starts_with(&expected), "{preference:?}: {printed}");
        let capabilities = if rustix::process::geteuid().is_root() { "fb" } else { "00" };
        assert!(
            printed.contains(&format!("CapEff:\t00000000000000{capabilities}\n")),
            "{preference:?}: {printed}"
        );
        for forbidden in ["sda", "vda", "kmsg", "new namespace"] {
            assert!(!printed.contains(forbidden), "{preference:?}: {printed}");
        }
    }
}

#[tokio::test]
async fn no_file_system_gives_the_rights_of_its_owner() {
    let place = Place::new();
    let text = "cp $(command -v id) own && chmod u+s own && ./own -u; grep -v nosuid /proc/self/mounts | grep -v ' /dev/'; echo over";
    for (preference, _, printed) in in_each(&place, text).await {
        let user = rustix::process::geteuid().as_raw();
        assert_eq!(printed, format!("{user}\nover\n"), "{preference:?}");
    }
}

/// So that what was not reached above is known to have been there.
#[test]
fn a_listener_outside_answers_outside() {
    let (listener, port) = listen();
    let thread = std::thread::spawn(move || listener.accept().map(|_| ()));
    let mut stream = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
    thread.join().unwrap().unwrap();
    assert_eq!(stream.read(&mut [0]).unwrap(), 0);
}
