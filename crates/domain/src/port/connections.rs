/// The connections to a database in a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connections {
    /// Open ones.
    pub open: u32,
    /// Those of them that nobody uses.
    pub idle: u32,
    /// As many may be open.
    pub most: u32,
}
