//! What lies in a worktree, and what of it is committed: found without a setting or filter of
//! the agent, and through open folders, in which no link is followed.

pub(crate) mod attributes;
pub(crate) mod filters;
pub(crate) mod index;
mod judge;
pub(crate) mod lfs;
pub(crate) mod private_files;
pub(crate) mod private_key;
pub(crate) mod refusal;
pub(crate) mod scan;
pub(crate) mod survey;
mod walk;
