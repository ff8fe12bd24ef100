//! What a run cannot change of the computer, its root neither, and what it still can.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::PathBuf;

use nix::unistd::geteuid;
use workforce_guard::Means;
use workforce_guard::client::GuardProgram;

use crate::containment::{Site, with_each};
use crate::support::guard_program;

/// Opened for writing without a word written, so that nothing happens where it works.
const SWITCHES: &str = "
    for file in /proc/sys/kernel/core_pattern /proc/sys/kernel/hostname \\
        /proc/sys/vm/overcommit_memory /proc/sysrq-trigger /proc/irq/default_smp_affinity \\
        /proc/mtrr /sys/kernel/mm/transparent_hugepage/enabled /sys/kernel/uevent_helper \\
        /sys/module/kernel/parameters/* /sys/kernel/debug/* $PWD/proc/sys/kernel/core_pattern
    do
        [ -f $file ] && (: >> $file) 2> /dev/null && echo opened $file
    done
    echo end";

/// Tests each means as root, also where only listed places can be written.
async fn as_root(test: impl AsyncFn(&Site, Means, Option<Vec<PathBuf>>)) {
    if !geteuid().is_root() {
        eprintln!("LEFT OUT: only root could change the computer");
        return;
    }
    with_each(async |site, means| {
        if !is_root(site) {
            return;
        }
        test(site, means, None).await;
        if means.files {
            let places = ["work", "data/own"].map(|place| site.bench.path(place));
            test(site, means, Some(places.into())).await;
        }
    })
    .await;
}

/// And not the other user that each means is tried with.
fn is_root(site: &Site) -> bool {
    geteuid().is_root() && site.guard.file == guard_program().file
}

async fn output(
    site: &Site,
    means: Means,
    writable: Option<&Vec<PathBuf>>,
    script: &str,
) -> String {
    let mut start = site.start(means, &format!("exec 2>&1\n{script}"));
    start.containment.writable = writable.cloned();
    site.output_of(start).await
}

#[tokio::test]
async fn what_only_root_may_switch_is_read_only() {
    as_root(async |site, means, writable| {
        let output = output(site, means, writable.as_ref(), SWITCHES).await;
        assert_eq!(output, "end\n", "{means:?} {writable:?}");
    })
    .await;
    // All of it, where that can be asked without opening it.
    as_root(async |site, means, writable| {
        if means.namespaces {
            let script = "
                find /proc /sys -path '/proc/[0-9]*' -prune -o -type f -writable -print
                find /dev -type b; find /dev -type c ! -perm -006";
            let output = output(site, means, writable.as_ref(), script).await;
            assert_eq!(output, "", "{means:?} {writable:?}");
        }
    })
    .await;
}

/// Of the kinds that are often mounted, wherever that is.
#[tokio::test]
async fn the_kernels_file_systems_are_read_only_wherever_they_are_mounted() {
    as_root(async |site, means, writable| {
        let mounted = "
            mkdir -p proc && mount -t proc proc proc
            mount -t debugfs debugfs /sys/kernel/debug
            exec \"$0\"";
        let program = guard_program().file;
        let arguments = ["-m", "sh", "-c", mounted].map(Into::into);
        let guard = GuardProgram {
            file: "/usr/bin/unshare".into(),
            arguments: arguments.into_iter().chain([program.into()]).collect(),
        };
        let mut start = site.start(means, &format!("exec 2>&1\n{SWITCHES}"));
        start.containment.writable = writable.clone();
        let mut running = site.bench.start_by(&guard, start).await;
        running.ended().await;
        assert_eq!(site.bench.log(), "end\n", "{means:?} {writable:?}");
        std::fs::remove_file(site.bench.log_path()).expect("a log");
    })
    .await;
}

#[tokio::test]
async fn nothing_of_that_is_undone_by_mounting() {
    as_root(async |site, means, writable| {
        let script = "
            opened() { (: >> $1/sys/kernel/core_pattern) 2> /dev/null && echo opened; }
            mkdir -p place
            umount /proc/sys; umount -l /proc; opened /proc
            mount -o remount,bind,rw /proc/sys; mount -o remount,rw /proc; opened /proc
            mount -t proc proc place; opened place
            unshare --pid --fork --mount-proc sh -c ': >> /proc/sys/kernel/core_pattern' \\
                && echo opened
            unshare --user --map-root-user --pid --mount --fork sh -c \\
                'mount -t proc proc place && : >> place/sys/kernel/core_pattern' && echo opened
            unshare --net mount -t sysfs sysfs place && echo mounted
            mount -t debugfs debugfs place && echo mounted
            mount -t tracefs tracefs place && echo mounted
            mount -t devtmpfs devtmpfs place && echo mounted
            umount /dev/null; umount /dev
            mknod node c 1 11 && echo made; mknod node b 7 0 && echo made
            hostname \"$(hostname)\" && echo named
            for disk in $(find /dev -type b); do (: < $disk) && echo opened $disk; done
            echo end";
        let output = output(site, means, writable.as_ref(), script).await;
        let is_told = |line: &&str| !line.contains(':') && !line.starts_with(' ');
        let told: Vec<&str> = output.lines().filter(is_told).collect();
        assert_eq!(told, ["end"], "{means:?} {writable:?} {output}");
    })
    .await;
}

#[tokio::test]
async fn root_keeps_what_people_use_it_for() {
    as_root(async |site, means, writable| {
        let script = "
            echo 600 > /proc/self/oom_score_adj && cat /proc/self/oom_score_adj
            printf renamed > /proc/self/comm && cat /proc/$$/comm
            head -c 1 /dev/zero > /dev/null && head -c 1 /dev/urandom > /dev/full || echo full
            echo x > /dev/shm/of-a-run-$$ && rm /dev/shm/of-a-run-$$ && echo shared
            echo again > /dev/stdout; echo again >> /proc/self/fd/1
            touch file && chown 1:2 file && stat -c %u:%g file
            setpriv --reuid 65534 --regid 65534 --clear-groups sh -c 'id -u; echo > /dev/null'
            script -qec tty /dev/null
            cat /proc/sys/kernel/ostype; ls /sys/class > /dev/null && echo listed
            hostname > /dev/null && df . > /dev/null && echo known";
        let output = output(site, means, writable.as_ref(), script).await;
        let lines: Vec<&str> = output.lines().map(str::trim_end).collect();
        let [.., terminal, ostype, listed, known] = lines[..] else {
            panic!("{means:?} {writable:?} {output}");
        };
        assert!(terminal.starts_with("/dev/pts/"), "{means:?} {output}");
        assert_eq!([ostype, listed, known], ["Linux", "listed", "known"]);
        let expected = [
            "600",
            "renamed",
            "head: write error: No space left on device",
            "full",
            "shared",
            "again",
            "again",
            "1:2",
            "65534",
        ];
        let others = &lines[..lines.len() - 4];
        assert_eq!(others, expected, "{means:?} {writable:?} {output}");
    })
    .await;
}

/// Sandboxes of agents' programs are made with these.
#[tokio::test]
async fn a_run_in_namespaces_makes_its_own() {
    with_each(async |site, means| {
        if !means.namespaces || means.files {
            return;
        }
        let script = "
            unshare --user --map-root-user id -u
            unshare --user --map-root-user --mount --uts sh -c \\
                'mkdir -p place && mount -t tmpfs none place && mount --rbind / place &&
                 hostname inner && hostname'
            ls place";
        let output = site.output(means, script).await;
        assert_eq!(output, "0\ninner\n", "{means:?}");
    })
    .await;
}

#[tokio::test]
async fn a_run_has_a_host_name_of_its_own() {
    let outside = std::fs::read_link("/proc/self/ns/uts").expect("a namespace");
    with_each(async |site, means| {
        if means.namespaces {
            let inside = site.output(means, "readlink /proc/self/ns/uts").await;
            assert!(inside.starts_with("uts:"), "{inside}");
            assert_ne!(inside.trim_end(), outside.to_string_lossy(), "{means:?}");
        }
    })
    .await;
}

/// A right that is handed on comes back on executing a program, unless it is taken off too.
#[tokio::test]
async fn root_under_rules_alone_keeps_only_the_usual_rights() {
    if !geteuid().is_root() {
        eprintln!("LEFT OUT: only root has rights to lose");
        return;
    }
    with_each(async |site, means| {
        if means.namespaces || !is_root(site) {
            return;
        }
        let mut arguments: Vec<_> = ["--inh-caps", "+sys_admin,+mknod"].map(Into::into).into();
        arguments.push(guard_program().file.into());
        let guard = GuardProgram {
            file: "/usr/bin/setpriv".into(),
            arguments,
        };
        let script = "grep -E '^Cap(Inh|Prm|Eff|Bnd|Amb)' /proc/self/status | cut -f 2";
        let mut running = site.bench.start_by(&guard, site.start(means, script)).await;
        running.ended().await;
        let (nothing, usual) = ("0000000000000000", "00000000a00425fb");
        let expected = [nothing, usual, usual, usual, nothing].map(|it| format!("{it}\n"));
        assert_eq!(site.bench.log(), expected.concat(), "{means:?}");
        std::fs::remove_file(site.bench.log_path()).expect("a log");
    })
    .await;
}

#[tokio::test]
async fn a_run_has_a_session_keyring_of_its_own() {
    let keyctl = match cfg!(target_arch = "x86_64") {
        true => 250,
        false => 219,
    };
    // KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING.
    let script = format!("perl -e 'print syscall({keyctl}, 0, -3, 0)'");
    with_each(async |site, means| {
        let outside = site.output(Means::NONE, &script).await;
        if outside == "-1" {
            eprintln!("LEFT OUT: this kernel shows no session keyring");
            return;
        }
        let inside = site.output(means, &script).await;
        assert!(inside.parse::<i32>().is_ok_and(|id| id > 0), "{inside}");
        assert_ne!(inside, outside, "{means:?}");
    })
    .await;
}

#[tokio::test]
async fn root_connects_to_abstract_sockets_of_its_run_only() {
    as_root(async |site, means, writable| {
        if !means.signals {
            return;
        }
        let name = format!("workforce-test-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).expect("an address");
        let _listener = UnixListener::bind_addr(&address).expect("a socket");
        let script = format!(
            "perl -MSocket -e '
                sub to {{
                    socket(my $socket, AF_UNIX, SOCK_STREAM, 0);
                    connect($socket, pack_sockaddr_un(\"\\0$_[0]\")) ? \"connected\" : \"$!\"
                }}
                socket(my $own, AF_UNIX, SOCK_STREAM, 0);
                bind($own, pack_sockaddr_un(\"\\0own-$$\")) and listen($own, 1);
                print to(\"own-$$\"), \"\\n\", to(\"{name}\"), \"\\n\"'"
        );
        let output = output(site, means, writable.as_ref(), &script).await;
        assert_eq!(output, "connected\nOperation not permitted\n", "{means:?}");
    })
    .await;
}
