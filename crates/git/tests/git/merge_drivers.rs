//! Merges of files that want to be merged in another way than text.

use std::fs;

use workforce_git::{CommitId, MergeOutcome, Reason, Refusal};

use crate::support::{World, committed, message, write};

/// Both sides add a line to a file at different places, or at the same one, with some
/// attributes in the base and some beside the files.
async fn merge(attributes: &str, beside: &str, is_same_place: bool) -> (MergeOutcome, String) {
    let world = World::new().await;
    write(&world.source(), "folder/list", "1\n2\n3\n4\n5\n6\n7\n");
    world.move_main("folder/.gitattributes", attributes);
    if !beside.is_empty() {
        write(&world.source().join(".git"), "info/attributes", beside);
    }
    let worktree = world.worktree().await;
    let ours = match is_same_place {
        true => "base\n1\n2\n3\n4\n5\n6\n7\n",
        false => "1\n2\n3\n4\n5\n6\n7\nbase\n",
    };
    let base: CommitId = world.move_main("folder/list", ours);
    write(
        worktree.path(),
        "folder/list",
        "ticket\n1\n2\n3\n4\n5\n6\n7\n",
    );
    write(worktree.path(), "folder/other", "not merged\n");
    committed(worktree.commit(&message("Work")).await.unwrap());
    let outcome = worktree.merge(&base, &message("Merge")).await.unwrap();
    let content = fs::read_to_string(worktree.path().join("folder/list")).unwrap();
    (outcome, content)
}

fn conflict() -> MergeOutcome {
    MergeOutcome::Conflict(vec!["folder/list".to_owned()])
}

fn refused(driver: &str) -> MergeOutcome {
    MergeOutcome::Refused(vec![Refusal {
        path: "folder/list".to_owned(),
        reason: Reason::MergeDriver(driver.to_owned()),
    }])
}

#[tokio::test]
async fn drivers_that_git_has_merge() {
    let (merged, content) = merge("", "", false).await;
    assert!(matches!(merged, MergeOutcome::Merged(_)), "{merged:?}");
    assert_eq!(content, "ticket\n1\n2\n3\n4\n5\n6\n7\nbase\n");
    assert_eq!(merge("", "", true).await.0, conflict());

    let (merged, content) = merge("list merge=union\n", "", true).await;
    assert!(matches!(merged, MergeOutcome::Merged(_)), "{merged:?}");
    assert_eq!(content, "ticket\nbase\n1\n2\n3\n4\n5\n6\n7\n");

    for binary in ["list binary\n", "list -merge\n", "list merge=binary\n"] {
        assert_eq!(merge(binary, "", false).await.0, conflict(), "{binary}");
    }
}

#[tokio::test]
async fn drivers_that_only_the_repository_has_are_left_to_it() {
    assert_eq!(merge("* merge=ours\n", "", false).await.0, refused("ours"));
    assert_eq!(merge("* merge=ours\n", "", true).await.0, conflict());
    let beside = "list merge=other\n";
    assert_eq!(merge("", beside, false).await.0, refused("other"));
    assert_eq!(merge("", "* -merge\n", false).await.0, refused("binary"));
    // What nobody has reviewed hides no conflict.
    assert_eq!(merge("", "* merge=union\n", true).await.0, conflict());
}
