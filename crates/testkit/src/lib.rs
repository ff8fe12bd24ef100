//! What the tests of workforce share.
//!
//! Only ever a dev-dependency: nothing that is shipped may depend on this crate.

pub mod contents;
pub mod failing;
pub mod guards;
pub mod ports;
pub mod postgres;
pub mod random;
#[cfg(feature = "s3")]
pub mod s3;
pub mod store;
pub mod world;
