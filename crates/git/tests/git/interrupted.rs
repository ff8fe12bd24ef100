//! A server that is interrupted at each command that it runs, before it begins or
//! after it ended, and begins again.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use workforce_git::{
    Branch, CommitId, CommitOutcome, Git, GitError, MergeOutcome, PushOutcome, Repository,
    Settings, Worktree,
};

use crate::support::{World, branch, git, message, write};

/// A program in the place of git: it stops at one call of it, and says so.
struct Stopping {
    dir: PathBuf,
    git: Git,
}

/// More calls than any operation has.
const MANY: usize = 60;

impl Stopping {
    async fn new(world: &World, limit: Duration) -> Self {
        let dir = world.path("stopping");
        fs::create_dir_all(&dir).unwrap();
        let program = dir.join("git");
        let text = format!(
            "#!/bin/sh\n\
             cd_='{dir}'\n\
             echo x >> $cd_/calls\n\
             n=$(wc -l < $cd_/calls)\n\
             if [ $n = \"$(cat $cd_/before)\" ]; then\n\
               sleep 1000 & echo $! > $cd_/pid.new; mv $cd_/pid.new $cd_/pid; wait\n\
             fi\n\
             git \"$@\"\n\
             code=$?\n\
             if [ $n = \"$(cat $cd_/after)\" ]; then\n\
               sleep 1000 & echo $! > $cd_/pid.new; mv $cd_/pid.new $cd_/pid; wait\n\
             fi\n\
             exit $code\n",
            dir = dir.display()
        );
        fs::write(&program, text).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let stopping = Self {
            git: world.git.clone(),
            dir,
        };
        stopping.stop_at("none", 0);
        let mut settings = Settings::new(world.path("managed"), world.path("scratch"));
        settings.program = program;
        settings.local_limit = limit;
        Self {
            git: Git::new(settings).await.unwrap(),
            ..stopping
        }
    }

    fn stop_at(&self, when: &str, call: usize) {
        for name in ["before", "after"] {
            let at = if name == when { call } else { 0 };
            fs::write(self.dir.join(name), at.to_string()).unwrap();
        }
        fs::write(self.dir.join("calls"), "").unwrap();
        let _ = fs::remove_file(self.dir.join("pid"));
    }

    /// The process that stops.
    async fn stopped(&self) -> u32 {
        loop {
            if let Ok(pid) = fs::read_to_string(self.dir.join("pid")) {
                return pid.trim().parse().unwrap();
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Waits until a process is gone.
    async fn is_gone(pid: u32) {
        let stat = format!("/proc/{pid}/stat");
        while let Ok(text) = fs::read_to_string(&stat)
            && !text.contains(") Z ")
        {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    async fn open(&self, world: &World) -> Repository {
        self.git.open(&world.source()).await.unwrap()
    }
}

/// A world whose base moved since its tickets began at the commit.
async fn prepare() -> (World, CommitId, CommitId) {
    let world = World::new().await;
    let start = world.main();
    write(&world.source(), "dir/c.txt", "c\n");
    git(&world.source(), &["rm", "-q", "README.md"]);
    let base = world.move_main("src/a.txt", "main\none\ntwo\nthree\n");
    (world, start, base)
}

/// A ticket with something to commit and a base to merge.
async fn ticket(repository: &Repository, name: &str, start: &CommitId) -> Worktree {
    let branch = Branch::new(format!("feature/{name}")).unwrap();
    let worktree = repository
        .add_worktree(&Path::new("tickets").join(name), &branch, start)
        .await
        .unwrap();
    write(worktree.path(), "src/a.txt", "one\ntwo\nagent\n");
    write(worktree.path(), "new/file", "new\n");
    fs::remove_file(worktree.path().join("src/b.txt")).unwrap();
    worktree
}

async fn found(repository: &Repository, worktree: &Worktree) -> Worktree {
    let found = repository.open_worktree(worktree.path(), worktree.branch());
    found.await.unwrap().unwrap()
}

async fn work(worktree: &Worktree, base: &CommitId, world: &World) -> Result<(), GitError> {
    match worktree.commit(&message("Work")).await? {
        CommitOutcome::Committed(_) | CommitOutcome::Nothing(_) => {}
        CommitOutcome::Refused(refused) => panic!("{refused:?}"),
    }
    match worktree.merge(base, &message("Merge")).await? {
        MergeOutcome::Merged(_) | MergeOutcome::UpToDate => {}
        other => panic!("{other:?}"),
    }
    let head = worktree.head()?;
    match worktree.push(&world.remote(), &head).await? {
        PushOutcome::Pushed | PushOutcome::UpToDate => Ok(()),
        PushOutcome::Rejected(rejection) => panic!("{rejection:?}"),
    }
}

/// What must be there in the end, however often it was begun.
fn check(world: &World, worktree: &Worktree, base: &CommitId) {
    let path = worktree.path();
    assert_eq!(git(path, &["status", "--porcelain"]), "");
    let subjects = git(path, &["log", "--format=%s", &format!("^{base}"), "HEAD"]);
    assert_eq!(subjects, "Merge\nWork");
    let listed = git(path, &["ls-tree", "-r", "--name-only", "HEAD"]);
    assert_eq!(listed, ".gitignore\ndir/c.txt\nnew/file\nsrc/a.txt");
    let content = fs::read_to_string(path.join("src/a.txt")).unwrap();
    assert_eq!(content, "main\none\ntwo\nagent\n");
    let head = git(path, &["rev-parse", "HEAD"]);
    let branch = worktree.branch().as_str();
    assert_eq!(git(&world.path("remote.git"), &["rev-parse", branch]), head);
}

async fn interrupt_work(when: &str) {
    let (world, start, base) = prepare().await;
    let stopping = Stopping::new(&world, Duration::from_secs(60)).await;
    let (after, before) = (world.open().await, stopping.open(&world).await);
    for call in 1..MANY {
        let worktree = ticket(&after, &format!("{when}-{call}"), &start).await;
        let stopped = found(&before, &worktree).await;
        stopping.stop_at(when, call);
        let ended = tokio::select! {
            ended = work(&stopped, &base, &world) => Some(ended),
            _ = stopping.stopped() => None,
        };
        let has_ended = ended.is_some();
        ended.unwrap_or(Ok(())).unwrap();
        // As a server that is started again does.
        let worktree = found(&after, &worktree).await;
        work(&worktree, &base, &world).await.unwrap();
        check(&world, &worktree, &base);
        if has_ended {
            assert!(call > 10, "it runs more commands than that");
            git(&world.source(), &["fsck", "--strict"]);
            return;
        }
    }
    panic!("it never ended");
}

#[tokio::test]
async fn work_goes_on_after_it_stopped_before_a_command() {
    interrupt_work("before").await;
}

#[tokio::test]
async fn work_goes_on_after_it_stopped_after_a_command() {
    interrupt_work("after").await;
}

#[tokio::test]
async fn a_worktree_is_made_whenever_that_was_interrupted() {
    for when in ["before", "after"] {
        let mut ended = None;
        for call in 1..MANY {
            let world = World::new().await;
            let stopping = Stopping::new(&world, Duration::from_secs(60)).await;
            let repository = stopping.open(&world).await;
            stopping.stop_at(when, call);
            let (branch, main) = (branch(), world.main());
            ended = tokio::select! {
                ended = repository.add_worktree(Path::new("tickets/one"), &branch, &main) => Some(ended),
                _ = stopping.stopped() => None,
            };
            let worktree = world.worktree().await;
            assert_eq!(git(worktree.path(), &["status", "--porcelain"]), "");
            assert!(worktree.path().join("src/b.txt").exists());
            let listed = git(&world.source(), &["worktree", "list"]);
            assert_eq!(listed.lines().count(), 2, "{listed}");
            if ended.is_some() {
                break;
            }
        }
        ended.unwrap().unwrap();
    }
}

#[tokio::test]
async fn a_half_written_file_is_written_and_a_changed_one_is_kept() {
    let (world, start, base) = prepare().await;
    // What a merge leaves that ends in the middle of its files.
    let repository = world.open().await;
    let worktree = ticket(&repository, "half", &start).await;
    worktree.commit(&message("Work")).await.unwrap();
    let stopping = Stopping::new(&world, Duration::from_secs(60)).await;
    let stopped = found(&stopping.open(&world).await, &worktree).await;
    let before = worktree.head().unwrap();
    for call in 1..MANY {
        stopping.stop_at("before", call);
        let text = message("Merge");
        tokio::select! {
            ended = stopped.merge(&base, &text) => panic!("{ended:?}"),
            _ = stopping.stopped() => {}
        }
        if worktree.head().unwrap() != before {
            break;
        }
    }
    assert_ne!(worktree.head().unwrap(), before);
    write(worktree.path(), "src/a.txt", "main\none\ntw");
    write(worktree.path(), "dir/c.txt", "the agent came first\n");
    let worktree = found(&repository, &worktree).await;
    let changes = worktree.changes(10).await.unwrap();
    let paths: Vec<_> = changes
        .first
        .iter()
        .map(|change| change.path.as_str())
        .collect();
    assert_eq!(paths, ["dir/c.txt"]);
    let content = fs::read_to_string(worktree.path().join("src/a.txt")).unwrap();
    assert_eq!(content, "main\none\ntwo\nagent\n");
    assert!(!worktree.path().join("README.md").exists());
}

#[tokio::test]
async fn a_command_that_takes_too_long_ends_with_all_that_it_started() {
    let world = World::new().await;
    let worktree = world.worktree().await;
    let stopping = Stopping::new(&world, Duration::from_millis(1500)).await;
    let repository = stopping.open(&world).await;
    stopping.stop_at("before", 1);
    let answer = repository.is_ancestor(&world.main(), &world.main()).await;
    assert!(
        matches!(answer, Err(GitError::Timeout { .. })),
        "{answer:?}"
    );
    Stopping::is_gone(stopping.stopped().await).await;

    stopping.stop_at("before", 1);
    let main = world.main();
    let pid = tokio::select! {
        answer = repository.has_commit(&main) => panic!("{answer:?}"),
        pid = stopping.stopped() => pid,
    };
    Stopping::is_gone(pid).await;
    drop(worktree);
}

#[tokio::test]
async fn a_program_that_is_missing_or_too_old_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let mut settings = Settings::new(dir.path().join("a"), dir.path().join("b"));
    settings.program = PathBuf::from("no-such-program");
    let made = Git::new(settings.clone()).await;
    assert!(matches!(made, Err(GitError::Missing)), "{made:?}");
    let program = dir.path().join("git");
    fs::write(&program, "#!/bin/sh\necho git version 2.25.1\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    settings.program = program;
    let made = Git::new(settings).await;
    assert!(matches!(made, Err(GitError::TooOld { found }) if found == "2.25.1"));
}
