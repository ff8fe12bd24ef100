//! Hooks of a remote that is a folder on this machine.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use nix::unistd::Pid;
use workforce_git::{Git, GitError, PushOutcome, Rejection, Remote, Settings};

use crate::support::{World, committed, message, write};

/// The hook of a remote that refuses everything and says why.
fn refusing_hook(remote: &Path) {
    let hook = remote.join("hooks/pre-receive");
    fs::create_dir_all(remote.join("hooks")).unwrap();
    fs::write(
        &hook,
        "#!/bin/sh\necho 'no pushes on Sundays' >&2\nexit 1\n",
    )
    .unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
}

#[tokio::test]
async fn hooks_of_a_remote_where_the_operator_wants_them() {
    let mut world = World::new().await;
    let settings = Settings::new(world.path("managed"), world.path("scratch"));
    let settings = Settings {
        remote_hooks: true,
        ..settings
    };
    world.git = Git::new(settings).await.unwrap();
    let worktree = world.worktree().await;
    write(worktree.path(), "x", "x");
    let head = committed(worktree.commit(&message("Work")).await.unwrap());
    let remote = world.remote();
    refusing_hook(&world.path("remote.git"));
    let pushed = worktree.push(&remote, &head).await.unwrap();
    let PushOutcome::Rejected(Rejection::Other(reason)) = pushed else {
        panic!("{pushed:?}");
    };
    assert!(reason.contains("pre-receive hook declined"), "{reason}");
    assert!(reason.contains("no pushes on Sundays"), "{reason}");
    // Agents may write to where the push comes from.
    refusing_hook(&world.source().join(".git"));
    let itself = Remote::new(world.source().to_str().unwrap()).unwrap();
    let pushed = worktree.push(&itself, &head).await;
    assert!(!format!("{pushed:?}").contains("Sundays"), "{pushed:?}");
}

#[tokio::test]
async fn a_hook_that_leaves_its_group_ends_with_its_time() {
    let mut world = World::new().await;
    let settings = Settings::new(world.path("managed"), world.path("scratch"));
    let settings = Settings {
        remote_hooks: true,
        network_limit: Duration::from_secs(5),
        ..settings
    };
    world.git = Git::new(settings).await.unwrap();
    let worktree = world.worktree().await;
    write(worktree.path(), "x", "x");
    let head = committed(worktree.commit(&message("Work")).await.unwrap());
    let (remote, id) = (world.path("remote.git"), world.path("id"));
    refusing_hook(&remote);
    let script = format!(
        "echo $$ > {0}.new; mv {0}.new {0}; sleep 1000",
        id.display()
    );
    let hook = format!("#!/bin/sh\nexec setsid -w sh -c '{script}'\n");
    fs::write(remote.join("hooks/pre-receive"), hook).unwrap();
    let pushed = worktree.push(&world.remote(), &head).await;
    assert!(
        matches!(pushed, Err(GitError::RemoteTimeout { .. })),
        "{pushed:?}"
    );
    let process = fs::read_to_string(&id).unwrap();
    let process = Pid::from_raw(process.trim().parse().unwrap());
    // Whoever took it over may not have seen yet that it ended.
    let state = || fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    for _ in 0..500 {
        if state().is_empty() || state().contains(") Z") {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{process} runs on: {}", state());
}
