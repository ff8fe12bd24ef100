use workforce_domain::string_enum;

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

impl ForgeKind {
    /// Where forges of this kind on a host of their own answer.
    pub(crate) fn default_api_url(self, host: &str) -> String {
        match self {
            Self::GitHub if host.eq_ignore_ascii_case("github.com") => {
                "https://api.github.com".to_owned()
            }
            Self::GitHub => format!("https://{host}/api/v3"),
            Self::GitLab => format!("https://{host}/api/v4"),
            Self::Gitea => format!("https://{host}/api/v1"),
        }
    }

    /// What follows a repository's address in that of a pull request.
    pub(crate) const fn pull_request_segment(self) -> &'static str {
        match self {
            Self::GitHub => "pull",
            Self::GitLab => "-/merge_requests",
            Self::Gitea => "pulls",
        }
    }
}
