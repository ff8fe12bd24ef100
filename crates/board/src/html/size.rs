//! How much something is.

use std::fmt::{self, Display};

/// A number of bytes, as people read it: `4.1 KB`.
#[derive(Clone, Copy)]
pub(crate) struct Size(pub(crate) u64);

impl Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenths = |unit: u64| (self.0 * 10 / unit / 10, self.0 * 10 / unit % 10);
        let (unit, word) = match self.0 {
            ..1000 => return write!(f, "{} bytes", self.0),
            1000..1_000_000 => (1000, "KB"),
            1_000_000..1_000_000_000 => (1_000_000, "MB"),
            _ => (1_000_000_000, "GB"),
        };
        let (whole, tenth) = tenths(unit);
        write!(f, "{whole}.{tenth} {word}")
    }
}
