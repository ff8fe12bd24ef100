/// Which of its two streams a program wrote to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum OutputSource {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}
