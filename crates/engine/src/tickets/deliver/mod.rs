//! The work of a ticket goes to the board, and after its word to the remote: commit,
//! merge, push, pull request.

pub(super) mod advance;
pub(super) mod due;
pub(super) mod forge;
pub(super) mod push;
pub(super) mod work;
