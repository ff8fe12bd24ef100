//! What makes agents run: the primitives that start, watch and end one child
//! process, and everything built on them.
//!
//! The crate reaches the store only through the ports of the domain. It never
//! sees a database, a web framework or a configuration file.

pub mod process;
