/// What a program wrote to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum OutputSource {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
    /// The file in which it tells what it uses.
    UsageFile,
}
