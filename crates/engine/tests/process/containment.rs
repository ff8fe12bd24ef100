use std::os::unix::fs::chown;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nix::unistd::geteuid;
use workforce_guard::client::{GuardProgram, probe};
use workforce_guard::{Containment, Ending, Exit, Means, Shown, Start};

use crate::support::{Bench, eventually, guard_program, is_live};

const NOBODY: u32 = 65_534;

/// A data folder, a process of the server, and a run that is kept from both.
pub(crate) struct Site {
    pub(crate) bench: Bench,
    pub(crate) guard: GuardProgram,
    server: Child,
}

/// Who the server is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum User {
    Own,
    Nobody,
}

impl Site {
    fn new(user: User) -> Self {
        let bench = Bench::new();
        let data = bench.path("data");
        for folder in ["data/own", "data/told", "data/other", "work", "logs"] {
            std::fs::create_dir_all(bench.path(folder)).expect("a folder");
        }
        for file in [
            "data/master.key",
            "data/other/file",
            "data/told/file",
            "work/file",
        ] {
            std::fs::write(bench.path(file), "content").expect("a file");
        }
        let mut guard = guard_program();
        if user == User::Nobody {
            // The folder of the build need not be open to everybody.
            let copy = bench.path("guard-program");
            std::fs::copy(&guard.file, &copy).expect("a copy");
            guard = as_nobody(&copy);
            give_away(bench.folder.path());
        }
        let mut server = command(user, "/bin/sleep");
        let server = server
            .arg("300")
            .env("SECRET", "hush-hush")
            .stdin(Stdio::null())
            .spawn();
        assert!(data.exists());
        Self {
            bench,
            guard,
            server: server.expect("a server"),
        }
    }

    pub(crate) fn start(&self, means: Means, script: &str) -> Start {
        let (path, pid) = (self.bench.folder.path().display(), self.server.id());
        let script = format!("data={path}/data; server={pid}\n{script}");
        let shown = |name, is_writable| Shown {
            path: self.bench.path(name),
            is_writable,
        };
        let mut start = self.bench.shell(&script);
        start.cwd = self.bench.path("work");
        start.containment = Containment {
            means,
            hidden: vec![self.bench.path("data")],
            shown: vec![shown("data/own", true), shown("data/told", false)],
            ..Containment::default()
        };
        start
    }

    /// What a script prints, as one stream: of two, a line of one may come amid a line of the
    /// other.
    pub(crate) async fn output(&self, means: Means, script: &str) -> String {
        let script = format!("exec 2>&1\n{script}");
        self.output_of(self.start(means, &script)).await
    }

    pub(crate) async fn output_of(&self, start: Start) -> String {
        let mut running = self.bench.start_by(&self.guard, start).await;
        running.ended().await;
        let log = self.bench.log();
        std::fs::remove_file(self.bench.log_path()).expect("a log");
        log
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn command(user: User, program: &str) -> Command {
    #[expect(clippy::disallowed_methods, reason = "it stands for the server")]
    let mut command = Command::new(if user == User::Own {
        program
    } else {
        "setpriv"
    });
    if user == User::Nobody {
        command.args([
            "--reuid",
            "65534",
            "--regid",
            "65534",
            "--clear-groups",
            program,
        ]);
    }
    command
}

pub(crate) fn as_nobody(program: &Path) -> GuardProgram {
    let arguments = ["--reuid", "65534", "--regid", "65534", "--clear-groups"];
    let mut arguments: Vec<_> = arguments.iter().map(Into::into).collect();
    arguments.push(program.into());
    GuardProgram {
        file: "/usr/bin/setpriv".into(),
        arguments,
    }
}

pub(crate) fn give_away(folder: &Path) {
    chown(folder, Some(NOBODY), Some(NOBODY)).expect("a change of owner");
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let entry = entry.expect("an entry");
        match entry.file_type().expect("a kind").is_dir() {
            true => give_away(&entry.path()),
            false => chown(entry.path(), Some(NOBODY), Some(NOBODY)).expect("a change of owner"),
        }
    }
}

/// Tests with each means that this kernel has, and as each user that there may be.
pub(crate) async fn with_each(test: impl AsyncFn(&Site, Means)) {
    let users = match geteuid().is_root() {
        true => &[User::Own, User::Nobody][..],
        false => &[User::Own],
    };
    for &user in users {
        let site = Site::new(user);
        let has = probe(&site.guard, None).await.expect("an answer");
        let namespaces = Means {
            namespaces: true,
            ..Means::NONE
        };
        let rules = Means {
            files: true,
            signals: true,
            ..Means::NONE
        };
        let both = Means {
            namespaces: true,
            files: true,
            signals: true,
            cgroup: false,
        };
        let in_cgroup = |means: Means| Means {
            cgroup: true,
            ..means
        };
        for (means, is_there) in [
            (namespaces, has.namespaces),
            (rules, has.files && has.signals),
            (both, has.namespaces && has.files && has.signals),
            (in_cgroup(namespaces), has.namespaces && has.cgroup),
            (in_cgroup(rules), has.files && has.signals && has.cgroup),
        ] {
            if is_there {
                test(&site, means).await;
            } else {
                eprintln!(
                    "LEFT OUT: this kernel does not give {user:?}: {:?}",
                    means.names()
                );
            }
        }
    }
}

#[tokio::test]
async fn what_is_the_servers_is_not_there_for_a_run() {
    with_each(async |site, means| {
        let script = "
            cat $data/master.key && echo read
            cat $data/other/file && echo read
            (echo x > $data/master.key) && echo wrote
            (echo x > $data/new) && echo made
            mv $data/master.key $data/own/key && echo moved
            ln $data/master.key $data/own/key && echo linked
            echo end";
        let output = site.output(means, script).await;
        let told: Vec<&str> = output.lines().filter(|line| !line.contains(':')).collect();
        assert_eq!(told, ["end"], "{means:?} {output}");
        let key = std::fs::read_to_string(site.bench.path("data/master.key"));
        assert_eq!(key.expect("a key"), "content");
        assert!(!site.bench.path("data/new").exists());
    })
    .await;
}

#[tokio::test]
async fn what_the_servers_files_lie_in_cannot_be_moved() {
    with_each(async |site, means| {
        let script = "
            root=$(dirname $data)
            mv $root $root.moved && echo moved
            mv $root/data $root/decoy && echo moved
            mkdir -p $root/work/x && mv $root/work/x $root/work/y && echo as before
            mv $(dirname $root) $(dirname $root).moved && echo moved
            rm -r $root/work/y
            echo end";
        let output = site.output(means, script).await;
        let told: Vec<&str> = output.lines().filter(|line| !line.contains(':')).collect();
        assert_eq!(told, ["as before", "end"], "{means:?} {output}");
        assert!(site.bench.path("data/master.key").exists());
        let output = site
            .output(means, "cat $data/master.key 2>/dev/null || echo hidden")
            .await;
        let told: Vec<&str> = output.lines().filter(|line| !line.contains(':')).collect();
        assert_eq!(told, ["hidden"], "{means:?} {output}");
    })
    .await;
}

#[tokio::test]
async fn no_cgroup_of_any_version_can_be_written() {
    with_each(async |site, means| {
        let script = "
            for kind in cgroup cgroup2; do
                for point in $(awk -v kind=$kind '$3 == kind { print $2 }' /proc/mounts); do
                    mkdir $point/of-a-run && rmdir $point/of-a-run && echo made $point
                    (echo 0 > $point/cgroup.procs) && echo moved $point
                done
            done
            echo end";
        let output = site.output(means, script).await;
        let told: Vec<&str> = output.lines().filter(|line| !line.contains(':')).collect();
        assert_eq!(told, ["end"], "{means:?} {output}");
    })
    .await;
}

#[tokio::test]
async fn what_a_run_needs_of_it_is_there() {
    with_each(async |site, means| {
        let script = "
            cat $data/told/file && echo
            (echo x > $data/told/file) 2>/dev/null && echo wrote
            echo mine > $data/own/file && cat $data/own/file
            ls $data/own";
        let output = site.output(means, script).await;
        assert_eq!(output, "content\nmine\nfile\n", "{means:?}");
    })
    .await;
}

#[tokio::test]
async fn everything_else_is_as_it_was() {
    with_each(async |site, means| {
        let script = "
            cat file; echo; echo new > made; cat made; rm made
            mkdir folder && touch folder/file && mv folder/file folder/other && rm -r folder
            ls / > /dev/null && ls ../work
            echo $(mktemp -u | cut -c1-5); echo x > /dev/null
            cat /etc/hostname > /dev/null; ls -l /proc/self/exe > /dev/null && id -u";
        let user = site.output(Means::NONE, "id -u").await;
        let output = site.output(means, script).await;
        assert_eq!(
            output,
            format!("content\nnew\nfile\n/tmp/\n{user}"),
            "{means:?}"
        );
    })
    .await;
}

#[tokio::test]
async fn processes_outside_can_neither_be_read_nor_signalled() {
    with_each(async |site, means| {
        let script = "
            (tr '\\0' '\\n' < /proc/$server/environ | grep SECRET) && echo read
            (head -c 1 /proc/$server/mem) 2>&1 | grep -q 'Input/output' && echo opened
            readlink /proc/$server/fd/1 && echo linked
            kill -CONT $server && echo signalled
            kill -KILL -1 2>/dev/null; echo end";
        let output = site.output(means, &format!("trap '' TERM; {script}")).await;
        for done in ["SECRET", "read\n", "opened", "linked\n", "signalled\n"] {
            assert!(!output.contains(done), "{means:?} {done}: {output}");
        }
        let pid = site.server.id().cast_signed();
        assert!(is_live(pid), "{means:?}");
    })
    .await;
}

/// Inside it the program is one process of many, and its children are its own.
#[tokio::test]
async fn a_run_in_namespaces_ends_whole() {
    with_each(async |site, means| {
        if !means.namespaces {
            return;
        }
        let script = "
            (setsid env -i sh -c 'trap \"\" TERM; exec sleep 300' &)
            trap 'echo asked' TERM
            echo ready; while :; do sleep 0.02; done";
        let mut start = site.start(means, script);
        start.limits.grace = Duration::from_millis(200);
        let mut running = site.bench.start_by(&site.guard, start).await;
        eventually("it is ready", || site.bench.log().contains("ready")).await;
        running
            .guard
            .stop(workforce_domain::run::RunErrorCode::CancelRequested)
            .await;
        let report = running.ended().await;
        assert_eq!(
            report.ended_by,
            Ending::Stopped(workforce_domain::run::RunErrorCode::CancelRequested)
        );
        assert!(site.bench.log().contains("asked"), "{}", site.bench.log());
        assert!(!is_live(running.program()));
        std::fs::remove_file(site.bench.log_path()).expect("a log");

        let mut running = site
            .bench
            .start_by(&site.guard, site.start(means, "(sleep 300 &); exit 7"))
            .await;
        let report = running.ended().await;
        assert_eq!(
            (report.ended_by, report.exit),
            (Ending::Itself, Some(Exit::Code(7)))
        );
        std::fs::remove_file(site.bench.log_path()).expect("a log");
    })
    .await;
}

#[tokio::test]
async fn with_a_list_only_what_is_on_it_can_be_written() {
    with_each(async |site, means| {
        if !means.files {
            return;
        }
        let script = "
            echo x > file && cat file
            (echo x > $data/../elsewhere) 2>/dev/null && echo wrote
            (echo x > /tmp/elsewhere-$$) 2>/dev/null && echo wrote
            echo x > /dev/null && cat $data/told/file && echo
            echo y > $data/own/file && cat $data/own/file";
        let mut start = site.start(means, script);
        start.containment.writable = Some(vec![site.bench.path("work")]);
        let mut running = site.bench.start_by(&site.guard, start).await;
        running.ended().await;
        assert_eq!(site.bench.log(), "x\ncontent\ny\n", "{means:?}");
        std::fs::remove_file(site.bench.log_path()).expect("a log");
    })
    .await;
}
