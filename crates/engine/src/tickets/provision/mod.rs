//! A plan gets its worktrees: what approving it would find, and the steps once it is
//! approved.

pub(super) mod plan;
pub(super) mod preflight;
