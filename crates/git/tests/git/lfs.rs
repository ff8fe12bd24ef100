//! Files in Git LFS.

use std::fs;

use workforce_git::{CommitOutcome, Git, MergeOutcome, PushOutcome, Reason, Settings, Worktree};

use crate::support::{World, committed, git, message, write};

/// What git-lfs makes of `content`.
fn pointer(content: &str) -> String {
    use sha2::{Digest as _, Sha256};
    let oid = data_encoding::HEXLOWER.encode(&Sha256::digest(content.as_bytes()));
    let size = content.len();
    format!("version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {size}\n")
}

/// Where the object of `content` is, below the folder of a repository.
pub(crate) fn object(content: &str) -> String {
    let pointer = pointer(content);
    let oid = pointer.split(['\n', ':']).nth(3).unwrap();
    format!("lfs/objects/{}/{}/{oid}", &oid[..2], &oid[2..4])
}

/// A world with a file in Git LFS, whose object the remote has.
pub(crate) async fn with_lfs() -> World {
    let world = World::new().await;
    write(&world.source(), "old.bin", &pointer("old\n"));
    world.move_main(
        ".gitattributes",
        "*.bin filter=lfs diff=lfs merge=lfs -text\n",
    );
    write(&world.path("remote.git"), &object("old\n"), "old\n");
    world
}

async fn refused(worktree: &Worktree) -> Vec<(String, Reason)> {
    match worktree.commit(&message("Work")).await.unwrap() {
        CommitOutcome::Refused(refused) => {
            refused.into_iter().map(|it| (it.path, it.reason)).collect()
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn files_that_an_agent_downloaded_are_what_they_were() {
    let world = with_lfs().await;
    let worktree = world.worktree().await;
    let path = worktree.path();
    write(path, "old.bin", "old\n");
    assert_eq!(worktree.changes(5).await.unwrap().total, 0);
    let head = worktree.head().unwrap();
    let outcome = worktree.commit(&message("Work")).await.unwrap();
    assert_eq!(outcome, CommitOutcome::Nothing(head));
    // The base branch brings another one.
    let base = world.move_main("old.bin", &pointer("new\n"));
    let merge = worktree.merge(&base, &message("Merge")).await.unwrap();
    assert!(matches!(merge, MergeOutcome::Merged(_)), "{merge:?}");
    let content = fs::read_to_string(path.join("old.bin")).unwrap();
    assert_eq!(content, pointer("new\n"));
}

#[tokio::test]
async fn a_pointer_without_an_object_is_refused() {
    let world = with_lfs().await;
    let worktree = world.worktree().await;
    let path = worktree.path();
    fs::rename(path.join("old.bin"), path.join("moved.bin")).unwrap();
    let moved = committed(worktree.commit(&message("Work")).await.unwrap());
    let main = [world.main()];
    let found = worktree.refused_in_commits(&main, &moved).await.unwrap();
    assert_eq!(found, []);
    write(path, "new.bin", &pointer("nobody has it\n"));
    write(path, "raw.bin", "raw\n");
    git(path, &["add", "."]);
    git(path, &["commit", "-q", "-m", "by the agent"]);
    let head = worktree.head().unwrap();
    let found = worktree.refused_in_commits(&main, &head).await.unwrap();
    let found: Vec<_> = found.iter().map(|it| (&*it.path, &it.reason)).collect();
    let raw = Reason::Filter("lfs".to_owned());
    assert_eq!(found, [("new.bin", &Reason::LfsObject), ("raw.bin", &raw)]);
}

#[tokio::test]
async fn files_are_committed_as_pointers_and_their_objects_uploaded() {
    if !workforce_skipped_tests::has("git-lfs") {
        return;
    }
    let world = with_lfs().await;
    let worktree = world.worktree().await;
    let path = worktree.path();
    write(path, "new.bin", "new\n");
    write(path, "deep/in/it.bin", "deep\n");
    write(path, "empty.bin", "");
    write(path, "plain.txt", "plain\n");
    let head = committed(worktree.commit(&message("Work")).await.unwrap());
    for (file, content) in [("new.bin", "new\n"), ("deep/in/it.bin", "deep\n")] {
        let stored = git(path, &["show", &format!("HEAD:{file}")]);
        assert_eq!(stored + "\n", pointer(content));
    }
    assert_eq!(git(path, &["show", "HEAD:empty.bin"]), "");
    assert_eq!(worktree.changes(5).await.unwrap().total, 0);
    let main = [world.main()];
    let found = worktree.refused_in_commits(&main, &head).await.unwrap();
    assert_eq!(found, []);

    let evil = world.path("evil.git");
    git(&world.path(""), &["init", "-q", "--bare", "evil.git"]);
    let pushed = worktree.push(&world.remote(), &head).await.unwrap();
    assert_eq!(pushed, PushOutcome::Pushed);
    let remote = world.path("remote.git");
    for content in ["new\n", "deep\n"] {
        let uploaded = fs::read_to_string(remote.join(object(content))).unwrap();
        assert_eq!(uploaded, content);
    }

    // An agent leads git-lfs elsewhere.
    let address = format!("file://{}", evil.display());
    write(path, ".lfsconfig", &format!("[lfs]\n\turl = {address}\n"));
    write(path, "more.bin", "more\n");
    let lfs = Reason::Filter("lfs".to_owned());
    let expected = [("more.bin".to_owned(), lfs.clone())];
    assert_eq!(refused(&worktree).await, expected);
    fs::remove_file(path.join(".lfsconfig")).unwrap();
    git(&world.source(), &["config", "lfs.url", &address]);
    let again = world.open().await;
    let found = again.open_worktree(path, worktree.branch()).await.unwrap();
    assert_eq!(refused(&found.unwrap()).await, expected);
    assert!(!evil.join("lfs").exists());
}

#[tokio::test]
async fn without_the_program_files_are_refused_and_pointers_kept() {
    let mut world = with_lfs().await;
    let mut settings = Settings::new(world.path("managed"), world.path("scratch"));
    settings.lfs_program = world.path("no-git-lfs");
    world.git = Git::new(settings).await.unwrap();
    let worktree = world.worktree().await;
    let path = worktree.path();
    write(path, "new.bin", "new\n");
    write(path, "plain.txt", "plain\n");
    let lfs = Reason::Filter("lfs".to_owned());
    assert!(lfs.to_string().contains("install `git-lfs`"), "{lfs}");
    assert_eq!(refused(&worktree).await, [("new.bin".to_owned(), lfs)]);
    fs::rename(path.join("old.bin"), path.join("new.bin")).unwrap();
    let head = committed(worktree.commit(&message("Work")).await.unwrap());
    let found = worktree.refused_in_commits(&[world.main()], &head).await;
    assert_eq!(found.unwrap(), []);
    let pushed = worktree.push(&world.remote(), &head).await.unwrap();
    assert_eq!(pushed, PushOutcome::Pushed);

    // Its object is there, and nobody uploads it.
    write(&world.source().join(".git"), &object("other\n"), "other\n");
    write(path, "other.bin", &pointer("other\n"));
    let head = committed(worktree.commit(&message("Work")).await.unwrap());
    let found = worktree.refused_in_commits(&[world.main()], &head).await;
    let found: Vec<_> = found
        .unwrap()
        .into_iter()
        .map(|it| (it.path, it.reason))
        .collect();
    assert_eq!(found, [("other.bin".to_owned(), Reason::LfsObject)]);
}

#[tokio::test]
async fn a_damaged_object_is_not_uploaded() {
    if !workforce_skipped_tests::has("git-lfs") {
        return;
    }
    let world = with_lfs().await;
    let worktree = world.worktree().await;
    write(worktree.path(), "new.bin", "new\n");
    let head = committed(worktree.commit(&message("Work")).await.unwrap());
    let kept = world.source().join(".git").join(object("new\n"));
    fs::remove_file(&kept).unwrap();
    fs::write(&kept, "bad\n").unwrap();
    let failed = worktree.push(&world.remote(), &head).await.unwrap_err();
    assert!(failed.to_string().contains("Git LFS"), "{failed}");
    fs::remove_file(&kept).unwrap();
    std::os::unix::fs::symlink("/etc/hostname", &kept).unwrap();
    let pushed = worktree.push(&world.remote(), &head).await;
    assert!(pushed.is_err(), "{pushed:?}");
    assert!(!world.path("remote.git").join(object("new\n")).exists());
}
