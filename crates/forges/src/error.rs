use std::time::Duration;

/// Why a forge did not do what it was asked. No text holds a token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ForgeError {
    /// The token is missing or not accepted, or lacks a right (401, 403).
    #[error("the forge does not accept the token: {0}")]
    Unauthorized(String),
    /// There is no such thing, or the token may not see it (404).
    #[error("the forge does not find this, or the token may not see it: {0}")]
    NotFound(String),
    /// The repository has another address by now (301, 307; 405 of GitLab). Nothing was done.
    #[error("the repository has a new address: {0}")]
    Moved(String),
    /// The forge refuses what was asked (400, 422 and other refusals).
    #[error("the forge refuses this: {0}")]
    Invalid(String),
    /// An open pull request of these branches is there already, or something else that excludes
    /// this one (409; 422 of GitHub).
    #[error("the forge has this already: {0}")]
    AlreadyExists(String),
    /// Too many requests. Nothing was done.
    #[error("the forge wants a pause of {} seconds", retry_after.as_secs())]
    RateLimited {
        /// How long not to ask again.
        retry_after: Duration,
    },
    /// The forge cannot be reached, does not answer in time, or answers with a failure of its
    /// own (5xx). It may have done what was asked. Worth another try.
    #[error("the forge is not available: {0}")]
    Unavailable(String),
    /// The answer is not what the interface of the forge describes.
    #[error("the answer of the forge is not understood: {0}")]
    Unexpected(String),
}

impl ForgeError {
    /// The stable word for this failure.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unauthorized(_) => "unauthorized",
            Self::NotFound(_) => "not_found",
            Self::Moved(_) => "moved",
            Self::Invalid(_) => "invalid",
            Self::AlreadyExists(_) => "already_exists",
            Self::RateLimited { .. } => "rate_limited",
            Self::Unavailable(_) => "unavailable",
            Self::Unexpected(_) => "unexpected",
        }
    }

    /// Whether the same request may succeed later although nobody changes anything.
    #[must_use]
    pub const fn is_retriable(&self) -> bool {
        matches!(self, Self::RateLimited { .. } | Self::Unavailable(_))
    }

    /// Whether the forge may have done what was asked all the same.
    pub(crate) const fn leaves_doubt(&self) -> bool {
        matches!(
            self,
            Self::Unavailable(_) | Self::Unexpected(_) | Self::AlreadyExists(_)
        )
    }
}
