//! How a worktree is put in order that an agent left on another branch, or worse.

use std::fs;
use std::path::{Path, PathBuf};

use workforce_git::{CommitId, Disorder, Finding, Operation, Repository, Worktree};

use crate::support::{World, branch, commit_id, committed, git, message, write};

struct Left {
    world: World,
    repository: Repository,
    worktree: Worktree,
    /// What was committed on the branch of the ticket.
    head: CommitId,
}

impl Left {
    async fn new() -> Self {
        let world = World::new().await;
        let worktree = world.worktree().await;
        write(worktree.path(), "work.txt", "work\n");
        let head = committed(worktree.commit(&message("Work")).await.unwrap());
        Self {
            repository: world.open().await,
            world,
            worktree,
            head,
        }
    }

    fn path(&self) -> &Path {
        self.worktree.path()
    }

    fn git(&self, arguments: &[&str]) -> String {
        git(self.path(), arguments)
    }

    /// The folder that git keeps about the worktree.
    fn admin(&self) -> PathBuf {
        self.world.source().join(".git/worktrees/one")
    }

    async fn found(&self) -> Vec<Finding> {
        let _lock = self
            .repository
            .lock(std::time::Duration::from_secs(5))
            .await
            .unwrap();
        self.repository
            .set_in_order(self.path(), &branch(), Some(&self.head))
            .await
            .unwrap()
    }

    /// Looks again, and finds nothing.
    async fn is_in_order(&self) {
        assert_eq!(self.found().await, []);
        assert_eq!(self.git(&["branch", "--show-current"]), "feature/one");
        assert_eq!(self.git(&["status", "--porcelain"]), "");
        assert_eq!(self.git(&["rev-parse", "HEAD"]), self.head.as_str());
        let work = fs::read_to_string(self.path().join("work.txt")).unwrap();
        assert_eq!(work, "work\n");
    }
}

fn mended(disorder: Disorder) -> Vec<Finding> {
    vec![Finding {
        disorder,
        is_mended: true,
    }]
}

fn left(disorder: Disorder) -> Vec<Finding> {
    vec![Finding {
        disorder,
        is_mended: false,
    }]
}

fn other() -> Disorder {
    Disorder::OtherBranch {
        branch: "other".to_owned(),
    }
}

#[tokio::test]
async fn nothing_is_found_where_all_is_as_it_should_be() {
    let left = Left::new().await;
    left.is_in_order().await;
    // What is not committed is the agent's work.
    write(left.path(), "work.txt", "more\n");
    assert_eq!(left.found().await, []);
    assert_eq!(left.git(&["status", "--porcelain"]), " M work.txt");
}

#[tokio::test]
async fn a_worktree_on_another_branch_is_put_back_where_all_is_committed() {
    let left = Left::new().await;
    left.git(&["checkout", "-q", "-b", "other", "main"]);
    write(left.path(), "elsewhere.txt", "kept by its branch\n");
    left.git(&["add", "."]);
    left.git(&["commit", "-q", "-m", "Elsewhere"]);
    assert_eq!(left.found().await, mended(other()));
    assert!(!left.path().join("elsewhere.txt").exists());
    left.is_in_order().await;
    let kept = left.git(&["show", "other:elsewhere.txt"]);
    assert_eq!(kept, "kept by its branch");
}

#[tokio::test]
async fn a_worktree_on_another_branch_is_left_where_something_is_not_committed() {
    for change in ["work.txt", "new.txt"] {
        let left_as = Left::new().await;
        left_as.git(&["checkout", "-q", "-b", "other"]);
        write(left_as.path(), change, "not committed\n");
        assert_eq!(left_as.found().await, left(other()), "{change}");
        assert_eq!(left_as.git(&["branch", "--show-current"]), "other");
        let text = fs::read_to_string(left_as.path().join(change)).unwrap();
        assert_eq!(text, "not committed\n");
    }
    // A branch without a commit keeps nothing.
    let left_as = Left::new().await;
    left_as.git(&["checkout", "-q", "--orphan", "other"]);
    assert_eq!(left_as.found().await, left(other()));
}

#[tokio::test]
async fn a_detached_head_is_put_back_where_the_branch_has_its_commit() {
    let left_as = Left::new().await;
    let main = left_as.world.main();
    left_as.git(&["checkout", "-q", "--detach", main.as_str()]);
    let disorder = Disorder::DetachedHead {
        commit: main.to_string(),
    };
    assert_eq!(left_as.found().await, mended(disorder));
    left_as.is_in_order().await;

    left_as.git(&["checkout", "-q", "--detach"]);
    write(left_as.path(), "work.txt", "nobody else has this\n");
    left_as.git(&["commit", "-q", "-a", "-m", "Detached"]);
    let commit = left_as.git(&["rev-parse", "HEAD"]);
    let disorder = Disorder::DetachedHead {
        commit: commit.clone(),
    };
    assert_eq!(left_as.found().await, left(disorder));
    assert_eq!(left_as.git(&["rev-parse", "HEAD"]), commit);
}

#[tokio::test]
async fn a_branch_that_was_reset_is_told() {
    let left_as = Left::new().await;
    left_as.git(&["reset", "-q", "--hard", "HEAD~"]);
    let former = left_as.head.clone();
    assert_eq!(
        left_as.found().await,
        left(Disorder::BranchReset { former })
    );
    assert_eq!(
        left_as.git(&["rev-parse", "HEAD"]),
        left_as.world.main().as_str()
    );
}

#[tokio::test]
async fn a_branch_that_was_deleted_or_renamed_is_made_again() {
    let left_as = Left::new().await;
    left_as.git(&["update-ref", "-d", "refs/heads/feature/one"]);
    let commit = Some(left_as.head.clone());
    assert_eq!(
        left_as.found().await,
        mended(Disorder::BranchDeleted { commit })
    );
    left_as.is_in_order().await;

    left_as.git(&["commit", "-q", "--allow-empty", "-m", "Newer"]);
    let newer = commit_id(&left_as.git(&["rev-parse", "HEAD"]));
    left_as.git(&["branch", "-q", "-m", "other"]);
    let deleted = Disorder::BranchDeleted {
        commit: Some(newer.clone()),
    };
    let expected = [mended(deleted), mended(other())].concat();
    assert_eq!(left_as.found().await, expected);
    assert_eq!(left_as.git(&["rev-parse", "feature/one"]), newer.as_str());
    assert_eq!(left_as.git(&["branch", "--show-current"]), "feature/one");
}

#[tokio::test]
async fn operations_that_were_not_ended_are_left_and_told() {
    let left_as = Left::new().await;
    left_as.world.move_main("work.txt", "main has another\n");
    for (command, operation) in [
        (["merge", "main"], Operation::Merge),
        (["rebase", "main"], Operation::Rebase),
        (["cherry-pick", "main"], Operation::CherryPick),
    ] {
        let begun = std::process::Command::new("git")
            .args(["-c", "user.name=a", "-c", "user.email=a@b"])
            .args(command)
            .current_dir(left_as.path())
            .output()
            .unwrap();
        assert!(!begun.status.success(), "{command:?}");
        let before = left_as.git(&["status", "--porcelain"]);
        assert_eq!(
            left_as.found().await,
            left(Disorder::Operation(operation)),
            "{command:?}"
        );
        assert_eq!(left_as.git(&["status", "--porcelain"]), before);
        left_as.git(&[command[0], "--abort"]);
    }
    left_as.is_in_order().await;
}

#[tokio::test]
async fn the_lock_of_a_killed_git_is_removed() {
    let left = Left::new().await;
    for name in ["index.lock", "HEAD.lock"] {
        fs::write(left.admin().join(name), "half an index").unwrap();
    }
    assert_eq!(left.found().await, mended(Disorder::LeftLock));
    left.is_in_order().await;
}

#[tokio::test]
async fn a_git_file_that_was_replaced_is_made_again() {
    type Replace = fn(&Left);
    let cases: [(&str, Replace); 4] = [
        ("removed", |left| {
            fs::remove_file(left.path().join(".git")).unwrap();
        }),
        ("leads elsewhere", |left| {
            fs::write(left.path().join(".git"), "gitdir: /nowhere\n").unwrap();
        }),
        ("a link", |left| {
            let file = left.path().join(".git");
            fs::remove_file(&file).unwrap();
            std::os::unix::fs::symlink(left.world.source().join(".git"), file).unwrap();
        }),
        ("pruned", |left| {
            fs::remove_dir_all(left.admin()).unwrap();
        }),
    ];
    for (case, replace) in cases {
        let left = Left::new().await;
        write(left.path(), "unsaved.txt", "not committed\n");
        replace(&left);
        let expected = mended(Disorder::GitFileReplaced);
        assert_eq!(left.found().await, expected, "{case}");
        assert_eq!(
            left.git(&["status", "--porcelain"]),
            "?? unsaved.txt",
            "{case}"
        );
        fs::remove_file(left.path().join("unsaved.txt")).unwrap();
        left.is_in_order().await;
    }
    // A repository of its own has commits perhaps.
    let left = Left::new().await;
    fs::remove_file(left.path().join(".git")).unwrap();
    left.git(&["init", "-q"]);
    assert_eq!(left.found().await, []);
    assert!(left.path().join(".git").is_dir());
    let repository = left.world.open().await;
    assert!(
        repository
            .open_worktree(left.path(), &branch())
            .await
            .unwrap()
            .is_none()
    );
}
