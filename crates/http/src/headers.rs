//! The names of the headers of this interface that no standard names.

/// The request header under which a repeated request gets the first answer.
pub const IDEMPOTENCY_KEY: &str = "Idempotency-Key";
/// The request header that names the run on whose behalf an agent asks.
pub const RUN_ID: &str = "X-Service-Run-Id";

/// The answer header of a repeated answer.
pub const REPLAYED: &str = "Idempotency-Replayed";
/// The answer header from which on events are asked for next.
pub const LAST_EVENT: &str = "X-Last-Event-Id";
/// The answer header that continues a list.
pub const NEXT_CURSOR: &str = "X-Next-Cursor";
/// The answer header that names the request in the log.
pub const REQUEST_ID: &str = "X-Request-Id";
/// The answer header that tells what was ignored.
pub const WARNING: &str = "X-Workforce-Warning";
