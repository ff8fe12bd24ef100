//! Takes the values of secrets out of whatever a run writes
//! (docs/secrets.md#scrubbing): its output, its errors, and what it sends to
//! the interface.
//!
//! The values are known exactly, so they are looked for exactly: as they are,
//! and in base64, URL encoding and JSON escapes. One pass finds them, in time
//! linear in the text. In it three readings go through the text together: as it
//! is written; as it is meant, with all escapes taken back; and the latter
//! without line breaks, for base64. Any other spelling, such as a value
//! backwards, is not found.

mod escapes;
mod finder;
mod forms;
mod json;
mod patterns;
mod search;
mod stream;

pub use patterns::Patterns;
pub use stream::StreamScrubber;
pub use workforce_domain::secret::REDACTED;
