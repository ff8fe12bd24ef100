//! Everything in a repository that can name a program. Each is set up by an agent;
//! then the server does all that it can do. The canary is a file that each of these
//! programs makes. A command of a careless user shows in the end that the trick
//! works at all.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use workforce_git::{CommitOutcome, DiffTo, MergeOutcome, PushOutcome, Reason, Refusal, Worktree};

use crate::support::{World, branch, committed, git, message, write};

/// What an agent set up, and what a careless user would do.
struct Trick {
    world: World,
    worktree: Worktree,
    /// A program that makes the canary.
    program: String,
}

impl Trick {
    async fn new() -> Self {
        let world = World::new().await;
        let program = world.path("program.sh");
        let canary = world.path("canary");
        let text = format!("#!/bin/sh\necho \"$0 $*\" >> '{}'\n", canary.display());
        fs::write(&program, text).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let worktree = world.worktree().await;
        Self {
            program: program.to_str().unwrap().to_owned(),
            world,
            worktree,
        }
    }

    fn common(&self) -> PathBuf {
        self.world.source().join(".git")
    }

    fn set(&self, key: &str, value: &str) {
        git(&self.world.source(), &["config", "--add", key, value]);
    }

    /// Sets up a setting whose value is the program.
    fn set_program(&self, key: &str) {
        self.set(key, &self.program);
    }

    /// Gives all files an attribute, in the tree and beside it.
    fn attribute(&self, attribute: &str) {
        let line = format!("* {attribute}\n");
        write(self.worktree.path(), ".gitattributes", &line);
        write(&self.common(), "info/attributes", &line);
    }

    /// The server does everything; none of it makes the canary.
    async fn check(self) -> Self {
        let Self {
            world, worktree, ..
        } = &self;
        let remote = world.remote();
        let repository = world.open().await;
        let worktree_path = worktree.path();
        write(worktree_path, "src/a.txt", "one\ntwo\nagent\n");
        worktree.changes(10).await.unwrap();
        let head = committed(worktree.commit(&message("Work")).await.unwrap());
        worktree.diff(&head, DiffTo::Files, 10_000).await.unwrap();
        let base = other_base(world);
        worktree.ahead_behind(&base).await.unwrap();
        let merge = match worktree.merge(&base, &message("Merge")).await.unwrap() {
            MergeOutcome::Merged(merge) => merge,
            other => panic!("{other:?}"),
        };
        worktree.diff(&base, DiffTo::Head, 10_000).await.unwrap();
        worktree.log(&base, 10).await.unwrap();
        let pushed = worktree.push(&remote, &merge).await.unwrap();
        assert_eq!(pushed, PushOutcome::Pushed);
        repository.fetch(&remote, &branch()).await.unwrap();
        repository.source_state().await.unwrap();
        repository.configured_remote("origin").await.unwrap();
        let two = workforce_git::Branch::new("feature/two").unwrap();
        let other = repository
            .add_worktree(Path::new("tickets/two"), &two, &merge)
            .await
            .unwrap();
        other.remove(&merge).await.unwrap();
        assert_eq!(self.canary(), None);
        self
    }

    /// The server refuses all files for their filter; nothing that it does makes the canary.
    async fn check_filtered(self) -> Self {
        let worktree = &self.worktree;
        let before = worktree.head().unwrap();
        write(worktree.path(), "src/a.txt", "one\ntwo\nagent\n");
        worktree.changes(10).await.unwrap();
        worktree.diff(&before, DiffTo::Files, 10_000).await.unwrap();
        let CommitOutcome::Refused(refused) = worktree.commit(&message("Work")).await.unwrap()
        else {
            panic!("a file was committed that the filter did not change");
        };
        let filter = Reason::Filter("evil".to_owned());
        let refused: Vec<_> = refused.iter().map(|it| (&*it.path, &it.reason)).collect();
        let expected = [(".gitattributes", &filter), ("src/a.txt", &filter)];
        assert_eq!(refused, expected);
        assert_eq!(worktree.head().unwrap(), before);
        let repository = self.world.open().await;
        repository.source_state().await.unwrap();
        let two = workforce_git::Branch::new("feature/two").unwrap();
        let other = repository.add_worktree(Path::new("tickets/two"), &two, &before);
        other.await.unwrap().remove(&before).await.unwrap();
        assert_eq!(self.canary(), None);
        self
    }

    /// What a careless user does makes the canary.
    fn prove(&self, dir: &Path, command: &str) {
        let _ = Command::new("sh")
            .args(["-c", command])
            .current_dir(dir)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_AUTHOR_NAME", "a")
            .env("GIT_AUTHOR_EMAIL", "a@b")
            .env("GIT_COMMITTER_NAME", "a")
            .env("GIT_COMMITTER_EMAIL", "a@b")
            .output()
            .unwrap();
        assert!(self.canary().is_some(), "`{command}` shows nothing");
    }

    fn canary(&self) -> Option<String> {
        fs::read_to_string(self.world.path("canary")).ok()
    }
}

/// A commit that conflicts with nothing, made where no trick works.
fn other_base(world: &World) -> workforce_git::CommitId {
    let clone = world.path("clone");
    if !clone.exists() {
        git(&world.path(""), &["clone", "-q", "remote.git", "clone"]);
    }
    write(&clone, "src/a.txt", "main\none\ntwo\nthree\n");
    git(&clone, &["commit", "-q", "-a", "-m", "main moves"]);
    git(&clone, &["push", "-q", "origin", "main"]);
    let head = git(&clone, &["rev-parse", "HEAD"]);
    let safe = [
        "-c",
        "core.hooksPath=/dev/null",
        "-c",
        "core.fsmonitor=false",
    ];
    let mut fetch = safe.to_vec();
    fetch.extend(["-c", "gc.auto=0", "fetch", "-q", "../clone", "main"]);
    git(&world.source(), &fetch);
    workforce_git::CommitId::new(head).unwrap()
}

#[tokio::test]
async fn hooks() {
    let trick = Trick::new().await;
    for hook in [
        "applypatch-msg",
        "commit-msg",
        "fsmonitor-watchman",
        "post-checkout",
        "post-commit",
        "post-index-change",
        "post-merge",
        "post-update",
        "pre-auto-gc",
        "pre-commit",
        "pre-merge-commit",
        "pre-push",
        "prepare-commit-msg",
        "push-to-checkout",
        "reference-transaction",
        "update",
    ] {
        fs::create_dir_all(trick.common().join("hooks")).unwrap();
        fs::copy(&trick.program, trick.common().join("hooks").join(hook)).unwrap();
    }
    let trick = trick.check().await;
    trick.prove(trick.worktree.path(), "git commit --allow-empty -m x");
}

#[tokio::test]
async fn a_path_of_hooks() {
    let trick = Trick::new().await;
    let hooks = trick.world.path("hooks");
    fs::create_dir(&hooks).unwrap();
    for hook in ["reference-transaction", "post-checkout", "pre-push"] {
        fs::copy(&trick.program, hooks.join(hook)).unwrap();
    }
    trick.set("core.hooksPath", hooks.to_str().unwrap());
    let trick = trick.check().await;
    trick.prove(trick.worktree.path(), "git commit --allow-empty -m x");
}

#[tokio::test]
async fn hooks_of_a_remote_on_this_machine() {
    let trick = Trick::new().await;
    for hook in [
        "pre-receive",
        "update",
        "post-receive",
        "reference-transaction",
    ] {
        let hooks = trick.world.path("remote.git/hooks");
        fs::create_dir_all(&hooks).unwrap();
        fs::copy(&trick.program, hooks.join(hook)).unwrap();
    }
    let remote = trick.world.path("remote.git");
    let other = trick.world.path("hooks");
    fs::create_dir(&other).unwrap();
    fs::copy(&trick.program, other.join("pre-receive")).unwrap();
    git(
        &remote,
        &["config", "core.hooksPath", other.to_str().unwrap()],
    );
    git(
        &remote,
        &["config", "uploadpack.packObjectsHook", &trick.program],
    );
    // `check` moves the remote as a user would.
    write(trick.worktree.path(), "x", "x");
    let head = committed(trick.worktree.commit(&message("Work")).await.unwrap());
    let remote = trick.world.remote();
    let pushed = trick.worktree.push(&remote, &head).await.unwrap();
    assert_eq!(pushed, PushOutcome::Pushed);
    let repository = trick.world.open().await;
    repository.fetch(&remote, &branch()).await.unwrap();
    assert_eq!(trick.canary(), None);
    trick.prove(trick.worktree.path(), "git push origin HEAD:refs/heads/x");
}

#[tokio::test]
async fn a_monitor_of_files() {
    let trick = Trick::new().await;
    trick.set_program("core.fsmonitor");
    let trick = trick.check().await;
    trick.prove(trick.worktree.path(), "git status");
}

#[tokio::test]
async fn filters() {
    let trick = Trick::new().await;
    trick.set_program("filter.evil.clean");
    trick.set_program("filter.evil.smudge");
    trick.set("filter.evil.required", "true");
    trick.attribute("filter=evil");
    let trick = trick.check_filtered().await;
    trick.prove(trick.worktree.path(), "echo x > y; git add y");
}

#[tokio::test]
async fn filters_that_stay() {
    let trick = Trick::new().await;
    trick.set_program("filter.evil.process");
    trick.attribute("filter=evil");
    let trick = trick.check_filtered().await;
    trick.prove(trick.worktree.path(), "echo x > y; git add y");
}

#[tokio::test]
async fn drivers_of_merges() {
    let trick = Trick::new().await;
    trick.set_program("merge.evil.driver");
    trick.set("merge.default", "evil");
    trick.attribute("merge=evil");
    let Trick {
        world, worktree, ..
    } = &trick;
    write(worktree.path(), "src/a.txt", "one\ntwo\nagent\n");
    let head = committed(worktree.commit(&message("Work")).await.unwrap());
    let base = other_base(world);
    let merge = worktree.merge(&base, &message("Merge")).await.unwrap();
    let refused = Refusal {
        path: "src/a.txt".to_owned(),
        reason: Reason::MergeDriver("evil".to_owned()),
    };
    assert_eq!(merge, MergeOutcome::Refused(vec![refused]));
    assert_eq!(worktree.head().unwrap(), head);
    assert_eq!(trick.canary(), None);
    let command = "git checkout -q -b a HEAD~1; echo a > src/a.txt; git commit -qam a; \
                   git checkout -q -b b HEAD~1; echo b > src/a.txt; git commit -qam b; git merge a";
    trick.prove(trick.worktree.path(), command);
}

#[tokio::test]
async fn programs_that_show_differences() {
    let trick = Trick::new().await;
    trick.set_program("diff.external");
    trick.set_program("diff.evil.command");
    trick.set_program("diff.evil.textconv");
    trick.set_program("core.pager");
    trick.set_program("pager.diff");
    trick.set_program("interactive.diffFilter");
    trick.attribute("diff=evil");
    let trick = trick.check().await;
    trick.prove(trick.worktree.path(), "git diff HEAD~1 HEAD");
}

#[tokio::test]
async fn editors_and_signatures() {
    let trick = Trick::new().await;
    trick.set_program("core.editor");
    trick.set_program("sequence.editor");
    trick.set_program("gpg.program");
    trick.set_program("gpg.ssh.program");
    trick.set("commit.gpgSign", "true");
    trick.set("push.gpgSign", "true");
    trick.set("log.showSignature", "true");
    let trick = trick.check().await;
    trick.prove(trick.worktree.path(), "git commit --allow-empty");
}

#[tokio::test]
async fn ways_to_a_remote() {
    let trick = Trick::new().await;
    trick.set_program("core.sshCommand");
    trick.set_program("core.gitProxy");
    trick.set_program("core.askPass");
    trick.set_program("remote.origin.uploadpack");
    trick.set_program("remote.origin.receivepack");
    trick.set("protocol.ext.allow", "always");
    trick.set("credential.helper", &format!("!{}", trick.program));
    let away = format!("ext::{} %S ", trick.program);
    trick.set(&format!("url.{away}.insteadOf"), "file://");
    let trick = trick.check().await;
    let command = format!(
        "git push file://{} HEAD",
        trick.world.path("remote.git").display()
    );
    trick.prove(trick.worktree.path(), &command);
}

#[tokio::test]
async fn aliases_includes_and_settings_of_the_worktree() {
    let trick = Trick::new().await;
    let included = trick.world.path("included");
    let text = format!("[core]\n\tfsmonitor = {}\n", trick.program);
    fs::write(&included, &text).unwrap();
    trick.set("include.path", included.to_str().unwrap());
    trick.set("includeIf.gitdir:/.path", included.to_str().unwrap());
    trick.set("alias.commit-tree", &format!("!{}", trick.program));
    trick.set("extensions.worktreeConfig", "true");
    let admin = trick.common().join("worktrees/one/config.worktree");
    fs::write(admin, &text).unwrap();
    fs::write(trick.common().join("config.worktree"), &text).unwrap();
    let trick = trick.check().await;
    trick.prove(trick.worktree.path(), "git status");
}

#[tokio::test]
async fn repositories_in_the_worktree() {
    let trick = Trick::new().await;
    let path = trick.worktree.path().to_owned();
    // A submodule of the base: the agent fills its folder.
    let nested = path.join("sub");
    fs::create_dir(&nested).unwrap();
    git(&nested, &["init", "-q"]);
    write(&nested, "f", "f");
    git(&nested, &["add", "f"]);
    git(&nested, &["commit", "-q", "-m", "nested"]);
    let id = git(&nested, &["rev-parse", "HEAD"]);
    let entry = format!("160000,{id},sub");
    git(&path, &["update-index", "--add", "--cacheinfo", &entry]);
    git(&path, &["commit", "-q", "-m", "a submodule"]);
    git(&nested, &["config", "core.fsmonitor", &trick.program]);
    write(&nested, ".gitattributes", "* filter=evil\n");
    git(&nested, &["config", "filter.evil.clean", &trick.program]);
    write(&nested, "f", "changed");
    trick.set("submodule.recurse", "true");
    trick.set("diff.ignoreSubmodules", "none");
    trick.set("submodule.sub.update", &format!("!{}", trick.program));
    let trick = trick.check().await;
    let found = git(&path, &["ls-tree", "HEAD", "sub"]);
    assert!(found.contains(&id), "{found}");
    trick.prove(&path, "git status");
}
