//! Typed ids: UUID v7 inside, one type per kind, so that no two kinds mix.

use uuid::Uuid;

/// What every id type offers, for code that is generic over the kind.
pub trait Id: Copy + Eq + Ord + core::fmt::Display + From<Uuid> + Into<Uuid> + 'static {
    /// The kind's name as error messages say it, for example `issue`.
    const KIND: &'static str;

    /// Reads the name of a file or folder, which ids give exactly as they are displayed: any
    /// other spelling is somebody else's name.
    fn of_name(name: &str) -> Option<Self> {
        let uuid = Uuid::try_parse(name).ok()?;
        let mut displayed = [0; uuid::fmt::Hyphenated::LENGTH];
        let displayed = uuid.hyphenated().encode_lower(&mut displayed);
        (name == displayed).then(|| Self::from(uuid))
    }
}

macro_rules! ids {
    ($($(#[$meta:meta])* $name:ident = $kind:literal,)+) => {$(
        $(#[$meta])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord,
            serde::Serialize, serde::Deserialize,
        )]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl Id for $name {
            const KIND: &'static str = $kind;
        }

        #[cfg(feature = "openapi")]
        crate::openapi::schema! { $name as "Id" = crate::openapi::id(); }

        impl From<Uuid> for $name {
            fn from(uuid: Uuid) -> Self {
                Self(uuid)
            }
        }

        impl From<$name> for Uuid {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                self.0.fmt(f)
            }
        }

        impl core::str::FromStr for $name {
            type Err = uuid::Error;

            /// Reads the hyphenated form; every other spelling of a UUID is refused.
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let uuid = Uuid::try_parse(text)?;
                if text.len() == uuid::fmt::Hyphenated::LENGTH {
                    Ok(Self(uuid))
                } else {
                    Uuid::try_parse("").map(Self)
                }
            }
        }
    )+};
}

ids! {
    /// Names a company.
    CompanyId = "company",
    /// Names an agent.
    AgentId = "agent",
    /// Names a person of the board.
    UserId = "user",
    /// Names a token of the board.
    BoardTokenId = "board token",
    /// Names a session of the board.
    BoardSessionId = "board session",
    /// Names an agent's long-lived API key.
    AgentKeyId = "agent key",
    /// Names a revision of an agent's configuration.
    RevisionId = "config revision",
    /// Names a goal.
    GoalId = "goal",
    /// Names a project.
    ProjectId = "project",
    /// Names a project's workspace.
    WorkspaceId = "workspace",
    /// Names an execution workspace: the worktree of one governed ticket.
    ExecutionWorkspaceId = "execution workspace",
    /// Names an issue.
    IssueId = "issue",
    /// Names a comment on an issue.
    CommentId = "comment",
    /// Names a review of an issue: what its comments have in common.
    ReviewId = "review",
    /// Names a label of issues.
    LabelId = "label",
    /// Names a file attached to an issue.
    AttachmentId = "attachment",
    /// Names bytes that a company keeps.
    AssetId = "asset",
    /// Names an approval.
    ApprovalId = "approval",
    /// Names an entry of an approval's history.
    ApprovalEventId = "approval event",
    /// Names a comment on an approval.
    ApprovalCommentId = "approval comment",
    /// Names a cost event.
    CostEventId = "cost event",
    /// Names a heartbeat run.
    RunId = "heartbeat run",
    /// Names a wake: a reason to run an agent.
    WakeId = "wake",
    /// Names an activity row.
    ActivityId = "activity",
    /// Names a secret.
    SecretId = "secret",
    /// Names one running server process among those that share a database.
    InstanceId = "instance",
    /// Names a database with all that servers keep for it, and for as long as it is used.
    InstallationId = "installation",
}
