//! Forges, which keep repositories and pull requests.

use crate::string_enum;

string_enum! {
    /// Which interface a forge speaks.
    pub enum ForgeKind {
        /// GitHub, also GitHub Enterprise.
        GitHub = "github",
        /// GitLab.
        GitLab = "gitlab",
        /// Gitea, and Forgejo, which speaks the same.
        Gitea = "gitea",
    }
}
