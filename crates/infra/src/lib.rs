//! The outside of workforce as its ports see it: both databases, the clock, ids, credentials,
//! the vault, and the place of attachments.

pub mod clock;
pub mod data_folder;
pub mod ids;
pub mod instance_file;
pub mod instruction_files;
pub mod objects;
pub mod prices;
mod private_file;
pub mod start_token;
pub mod store;
pub mod tokens;
pub mod vault;

// Named for their features alone: they compile the C libraries in.
#[cfg(feature = "tls-postgres")]
use openssl_sys as _;
#[cfg(feature = "postgres")]
use pq_sys as _;
// Named for its feature alone: it gives the client of a bucket TLS.
#[cfg(feature = "s3")]
use reqwest as _;
