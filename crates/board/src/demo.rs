//! Two scripts that work as agents: a manager hands an issue out and closes it, an engineer does
//! it. They use no model.

/// Needs `CLI`, the path of this program, in its environment. Hands out to `eli-engineer`.
pub const MANAGER: &str = include_str!("../demo/manager.sh");
/// Needs `CLI`, the path of this program, in its environment. Mentions `@Mara Manager`.
pub const ENGINEER: &str = include_str!("../demo/engineer.sh");
