//! What differs from one kind of forge to another and needs no request.

use workforce_domain::forge::ForgeKind;

/// Where forges of a kind on a host of their own answer.
pub(crate) fn default_api_url(kind: ForgeKind, host: &str) -> String {
    match kind {
        ForgeKind::GitHub if host.eq_ignore_ascii_case("github.com") => {
            "https://api.github.com".to_owned()
        }
        ForgeKind::GitHub => format!("https://{host}/api/v3"),
        ForgeKind::GitLab => format!("https://{host}/api/v4"),
        ForgeKind::Gitea => format!("https://{host}/api/v1"),
    }
}

/// What follows a repository's address in that of a pull request.
pub(crate) const fn pull_request_segment(kind: ForgeKind) -> &'static str {
    match kind {
        ForgeKind::GitHub => "pull",
        ForgeKind::GitLab => "-/merge_requests",
        ForgeKind::Gitea => "pulls",
    }
}
