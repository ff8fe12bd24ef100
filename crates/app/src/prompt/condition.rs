use workforce_domain::execution_workspace::{WorktreeDisorder, WorktreeFinding};

/// What a run is told of something that was found in its worktree; `detail` can stand in a line.
pub(super) fn sentence(finding: &WorktreeFinding, detail: &str) -> String {
    use WorktreeDisorder as Found;
    match (finding.disorder, finding.is_mended) {
        (Found::OffBranch, true) => format!(
            "It was found on the branch `{detail}`, where all is committed, and was put back. What \
is on `{detail}` alone is not part of the ticket: merge it if it should be."
        ),
        (Found::OffBranch, false) => format!(
            "It is on the branch `{detail}` with changes that are not committed, so nothing was \
touched. Only the branch of the ticket is delivered: bring there what belongs to it, and check it \
out."
        ),
        (Found::DetachedHead, true) => format!(
            "It was found at the commit `{detail}` and on no branch, and was put back on its own."
        ),
        (Found::DetachedHead, false) => format!(
            "It is at the commit `{detail}` and on no branch, so that nothing keeps what is \
committed there. Only the branch of the ticket is delivered: bring there what belongs to it, and \
check it out."
        ),
        (Found::OperationInProgress, _) => format!(
            "A {detail} was begun there and not ended. End or abort it before anything else: until \
then nothing is delivered."
        ),
        (Found::BranchReset, _) => format!(
            "The branch does not have the commit `{detail}` any more. If that was not meant, merge \
that commit."
        ),
        (Found::BranchDeleted, true) => {
            format!("Its branch had been deleted or renamed, and was made again at `{detail}`.")
        }
        (Found::BranchDeleted, false) => {
            "Its branch was deleted, and nobody knows where it was.".to_owned()
        }
        (Found::GitFileReplaced, _) if detail.is_empty() => {
            "Its file `.git` had been replaced, and leads to the repository again.".to_owned()
        }
        (Found::GitFileReplaced, _) => format!(
            "Another repository stood in its place, and is in `{detail}` now. Copy from there what \
belongs to the ticket."
        ),
        (Found::LeftLock, _) => {
            "A git that was killed there had left its lock, which was removed.".to_owned()
        }
    }
}
