//! The place of the bytes of attachments: one contract, held to by a folder and, with the feature
//! `s3`, by a bucket of a real server.
#![expect(
    clippy::unwrap_used,
    reason = "the bodies of tests are plain functions here, shared by both kinds of place"
)]

mod contract;
mod folder;
#[cfg(feature = "s3")]
mod s3;
