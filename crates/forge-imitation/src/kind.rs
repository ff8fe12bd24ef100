use crate::description::Description;

/// Which forge is imitated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImitatedForge {
    /// GitHub.
    GitHub,
    /// GitLab.
    GitLab,
    /// Gitea, and Forgejo.
    Gitea,
}

impl ImitatedForge {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::GitHub, Self::GitLab, Self::Gitea];

    /// Its word in the configuration of the client.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::GitHub => "github",
            Self::GitLab => "gitlab",
            Self::Gitea => "gitea",
        }
    }

    /// Where the interface begins, below the host.
    pub(crate) const fn root(self) -> &'static str {
        match self {
            Self::GitHub => "/api/v3",
            Self::GitLab => "/api/v4",
            Self::Gitea => "/api/v1",
        }
    }

    pub(crate) fn description(self) -> Description {
        Description::read(match self {
            Self::GitHub => include_str!("../descriptions/github.json"),
            Self::GitLab => include_str!("../descriptions/gitlab.json"),
            Self::Gitea => include_str!("../descriptions/gitea.json"),
        })
    }
}
