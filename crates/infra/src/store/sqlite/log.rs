//! SQLite's write-ahead log: written ([`gathering`]) as long as there is room to copy it ([`room`]), made
//! durable ([`flush`]), copied into the database ([`checkpoints`]), and written once more where the
//! disk refused it ([`file`], [`mender`]).

pub(super) mod checkpoints;
pub(super) mod extent;
pub(super) mod file;
pub(super) mod flush;
pub(super) mod gathering;
pub(super) mod mender;
mod room;
