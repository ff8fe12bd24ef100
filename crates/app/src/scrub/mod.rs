//! Takes the values of secrets out of whatever a run writes
//! (docs/secrets.md#scrubbing): its output, its errors, and what it sends to
//! the interface.
//!
//! The values are known exactly, so they are looked for exactly, in one pass
//! and in time linear in the text (docs/secrets.md#scrubbing): as they are, and
//! in base64, URL encoding and JSON escapes. Three readings go through the text
//! together: as it is written, as it is meant once escapes are taken back,
//! however often they were put on, and the same without line breaks, for
//! base64. What a run makes of a value otherwise, such as spelling it
//! backwards, is not found.

mod escapes;
mod finder;
mod forms;
mod json;
mod patterns;
mod search;
mod stream;

pub use crate::masking::REDACTED;
pub use patterns::Patterns;
pub use stream::StreamScrubber;
