//! Programs that have another account than their guard.

use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::Path;
use std::time::Duration;

use nix::unistd::geteuid;
use workforce_domain::run::RunErrorCode;
use workforce_guard::client::{GuardError, probe, refusal_to_enter};
use workforce_guard::{Containment, Ending, HomeFile, LaunchError, Means, RunAs, Shown, Start};

use crate::support::{Bench, eventually, guard_program, is_live, prepare};

const UID: u32 = 65_534;
const GID: u32 = 65_533;
const OTHER_GROUP: u32 = 4242;

fn nobody() -> RunAs {
    RunAs {
        name: "nobody".into(),
        uid: UID,
        gid: GID,
        groups: vec![GID, OTHER_GROUP],
        home: "/nonexistent".into(),
        shell: "/bin/sh".into(),
    }
}

/// The data folder of a server, in which a home is the account's.
struct Site {
    bench: Bench,
    means: Means,
}

impl Site {
    fn new(means: Means) -> Self {
        let bench = Bench::new();
        open(bench.folder.path(), 0o755);
        for folder in ["data/home", "data/other", "work"] {
            std::fs::create_dir_all(bench.path(folder)).expect("a folder");
        }
        for file in ["data/master.key", "data/other/file"] {
            std::fs::write(bench.path(file), "content").expect("a file");
            open(&bench.path(file), 0o600);
        }
        open(&bench.path("data/other"), 0o700);
        open(&bench.path("data/home"), 0o700);
        // As the engine opens the way to a home.
        open(&bench.path("data"), 0o700);
        if !means.namespaces {
            open(&bench.path("data"), 0o710);
            chown(bench.path("data"), None, Some(GID)).expect("a change of group");
        }
        for folder in ["data/home", "work"] {
            chown(bench.path(folder), Some(UID), Some(GID)).expect("a change of owner");
        }
        Self { bench, means }
    }

    fn start(&self, script: &str) -> Start {
        let script = format!("data={}\n{script}", self.bench.path("data").display());
        let mut start = self.bench.shell(&script);
        start.cwd = self.bench.path("work");
        let home = self.bench.path("data/home");
        start.environment.set("HOME", &home).expect("a variable");
        start.containment = Containment {
            means: self.means,
            hidden: vec![self.bench.path("data")],
            shown: vec![Shown {
                path: home,
                is_writable: true,
            }],
            writable: None,
            run_as: Some(nobody()),
        };
        start
    }

    async fn output(&self, script: &str) -> String {
        self.bench.output(self.start(script)).await
    }
}

fn open(path: &Path, mode: u32) {
    std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).expect("a mode");
}

/// Tests with each means that this kernel has, and without any.
async fn with_each(test: impl AsyncFn(Site)) {
    if !geteuid().is_root() {
        eprintln!("LEFT OUT: only root may become another user");
        return;
    }
    let guard = guard_program();
    let has = probe(&guard, Some(&nobody())).await.expect("an answer");
    let namespaces = Means {
        namespaces: true,
        ..Means::NONE
    };
    let rules = Means {
        files: true,
        signals: true,
        ..Means::NONE
    };
    for (means, is_there) in [
        (namespaces, has.namespaces),
        (rules, has.files && has.signals),
        (Means::NONE, true),
    ] {
        if is_there {
            test(Site::new(means)).await;
        } else {
            eprintln!("LEFT OUT: this kernel does not give {:?}", means.names());
        }
    }
}

#[tokio::test]
async fn the_program_is_that_user_with_no_right_of_root() {
    with_each(async |site| {
        let script = "
            id -u; id -g; echo $(id -G)
            grep -E '^(CapInh|CapPrm|CapEff|CapBnd|CapAmb|NoNewPrivs)' /proc/self/status
            echo again > /dev/stdout && echo end >> /proc/self/fd/1";
        let output = site.output(script).await;
        let nothing = "0000000000000000";
        let expected = format!(
            "{UID}\n{GID}\n{GID} {OTHER_GROUP}\nCapInh:\t{nothing}\nCapPrm:\t{nothing}\n\
             CapEff:\t{nothing}\nCapBnd:\t{nothing}\nCapAmb:\t{nothing}\nNoNewPrivs:\t1\n\
             again\nend\n"
        );
        assert_eq!(output, expected, "{:?}", site.means);
    })
    .await;
}

#[tokio::test]
async fn it_reaches_its_home_and_nothing_else_of_the_server() {
    with_each(async |site| {
        let guard = site.bench.path("guard");
        let script = format!(
            "exec 2> /dev/null
             for file in $data/master.key $data/other/file; do cat $file && echo read; done
             ls $data/other && echo listed
             (echo x > $data/new) && echo made
             ls {guard} && echo listed; kill -0 $PPID 2>/dev/null && echo signalled
             cat /proc/$PPID/environ > /dev/null && echo read
             echo mine > ~/file && cat ~/file",
            guard = guard.display()
        );
        let output = site.output(&script).await;
        assert_eq!(output, "mine\n", "{:?}", site.means);
        let file = site
            .bench
            .path("data/home/file")
            .metadata()
            .expect("a file");
        assert_eq!((file.uid(), file.gid()), (UID, GID));
    })
    .await;
}

#[tokio::test]
async fn its_end_is_that_of_all_it_started() {
    with_each(async |site| {
        let held = site.bench.path("work/held");
        let script = "
            exec 9> held; flock -s 9
            trap '' TERM
            (setsid env -i setsid sh -c 'trap \"\" TERM; exec sleep 300' > /dev/null 2>&1 &)
            echo ready; while :; do sleep 0.02; done";
        let mut start = site.start(script);
        start.limits.grace = Duration::from_millis(100);
        let mut running = site.bench.start(start).await;
        eventually("it is ready", || site.bench.log().contains("ready")).await;
        running.guard.stop(RunErrorCode::CancelRequested).await;
        let report = running.ended().await;
        let ended_by = Ending::Stopped(RunErrorCode::CancelRequested);
        assert_eq!(report.ended_by, ended_by, "{:?}", site.means);
        assert!(!is_live(running.program()));
        let held = std::fs::File::open(held).expect("a file");
        assert!(held.try_lock().is_ok(), "{:?}: one is left", site.means);
    })
    .await;
}

#[tokio::test]
async fn what_it_needs_in_its_home_is_written_with_its_own_rights() {
    with_each(async |site| {
        let file = |path: &str| HomeFile {
            path: path.into(),
            content: "{}".into(),
        };
        let mut start = site.start("cat ~/.tool/settings");
        start.home_files = vec![file(".tool/settings")];
        assert_eq!(site.bench.output(start).await, "{}", "{:?}", site.means);
        let made = site.bench.path("data/home/.tool/settings");
        let made = made.metadata().expect("a file");
        assert_eq!((made.uid(), made.mode() & 0o777), (UID, 0o600));

        let closed = site.bench.path("closed");
        std::fs::create_dir(&closed).expect("a folder");
        symlink(&closed, site.bench.path("data/home/.trap")).expect("a link");
        let mut start = site.start("echo started");
        start.home_files = vec![file(".trap/settings")];
        match prepare(start).await {
            Err(GuardError::Refused(LaunchError::Home { cause, .. })) => {
                assert!(cause.contains("ermission denied"), "{cause}");
            }
            other => panic!("{other:?}"),
        }
        assert!(!closed.join("settings").exists(), "root followed a link");
    })
    .await;
}

#[tokio::test]
async fn what_it_cannot_enter_or_execute_is_named() {
    with_each(async |site| {
        let mut start = site.start("true");
        start.cwd = site.bench.path("closed");
        std::fs::create_dir(&start.cwd).expect("a folder");
        open(&start.cwd, 0o700);
        match prepare(start).await {
            Err(GuardError::Refused(LaunchError::Cwd { cause, .. })) => {
                assert!(cause.contains("ermission denied"), "{cause}");
            }
            other => panic!("{other:?}"),
        }
        let program = site.bench.path("program");
        std::fs::write(&program, "#!/bin/sh\n").expect("a file");
        open(&program, 0o700);
        let mut start = site.start("true");
        start.program = program.into();
        match prepare(start).await {
            Err(GuardError::Refused(LaunchError::ProgramNotExecutable { .. })) => {}
            other => panic!("{other:?}"),
        }
    })
    .await;
}

#[tokio::test]
async fn a_folder_that_it_cannot_enter_is_known_before() {
    with_each(async |site| {
        let guard = guard_program();
        let data = site.bench.path("data/other");
        let refusal = refusal_to_enter(&guard, &nobody(), &data).await;
        assert!(refusal.expect("an answer").is_some());
        let refusal = refusal_to_enter(&guard, &nobody(), site.bench.folder.path()).await;
        assert_eq!(refusal.expect("an answer"), None);
    })
    .await;
}
