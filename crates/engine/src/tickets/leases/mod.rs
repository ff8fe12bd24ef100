//! What this server does outside of the store, and for how long that is its own to do:
//! attempts to carry out an approval, and worktrees that runs are kept out of.

pub(super) mod attempt;
pub(super) mod hold;
pub(super) mod lease;
