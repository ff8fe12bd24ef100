//! Flags about governed tickets: worktrees, commits and pull requests.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use workforce_engine::{CommitIdentity, TicketSettings, WebhookSecret};
use workforce_forges::{ForgeConfig, ForgeKind, Forges, Limits, Token};

/// How the variables of a forge begin, and its usual host. Their ends are `_HOST`,
/// `_API_URL`, `_TOKEN` and `_WEBHOOK_SECRET`.
const FORGES: [(ForgeKind, &str, &str); 3] = [
    (ForgeKind::GitHub, "WORKFORCE_GITHUB", "github.com"),
    (ForgeKind::GitLab, "WORKFORCE_GITLAB", "gitlab.com"),
    (ForgeKind::Gitea, "WORKFORCE_GITEA", "codeberg.org"),
];

/// Where tickets are worked on, who commits, and where pull requests are opened.
#[derive(Args, Clone, Debug)]
pub(crate) struct TicketArgs {
    /// The folder of the worktrees of tickets; `worktrees` in the data folder when
    /// unsaid.
    #[arg(long, env = "WORKFORCE_WORKTREES", value_name = "FOLDER")]
    pub(crate) worktrees: Option<PathBuf>,

    /// The name of the committer of what workforce commits.
    #[arg(long, env = "WORKFORCE_GIT_NAME", default_value = "workforce")]
    pub(crate) git_name: String,

    /// The mail address of the committer of what workforce commits.
    #[arg(
        long,
        env = "WORKFORCE_GIT_EMAIL",
        default_value = "workforce@localhost"
    )]
    pub(crate) git_email: String,

    /// Days after which the worktree of a ticket that ended is removed, if nothing in
    /// it would be lost.
    #[arg(
        long,
        env = "WORKFORCE_WORKTREE_DAYS",
        value_name = "DAYS",
        default_value_t = 7,
        value_parser = clap::value_parser!(u32).range(..=36_500)
    )]
    pub(crate) worktree_days: u32,

    /// Runs the hooks of a remote that is a folder on this machine when it is pushed
    /// to. Only for remotes to which no agent can write.
    #[arg(long, env = "WORKFORCE_REMOTE_HOOKS")]
    pub(crate) remote_hooks: bool,
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

impl TicketArgs {
    /// The settings, with the forges that variables of the environment name: tokens and
    /// secrets have no flags, since everybody reads the command line of a process.
    ///
    /// # Errors
    /// A forge that cannot be used as it is named.
    pub(crate) fn settings(&self, runs_dir: &Path) -> anyhow::Result<TicketSettings> {
        let mut settings = TicketSettings::beside(runs_dir);
        if let Some(folder) = &self.worktrees {
            settings.worktrees = std::path::absolute(folder)?;
        }
        settings.identity = CommitIdentity {
            name: self.git_name.clone(),
            mail: self.git_email.clone(),
        };
        settings.worktree_age = DAY.saturating_mul(self.worktree_days);
        settings.remote_hooks = self.remote_hooks;
        let variable = |name: &str| env::var(name).ok();
        settings.webhook_secrets = webhook_secrets(variable);
        let named = named_forges(variable)?;
        settings.forges = Some(Forges::new(named, Limits::default())?);
        Ok(settings)
    }
}

/// What forges prove with whom their messages are from, as far as variables name it.
fn webhook_secrets(
    variable: impl Fn(&str) -> Option<String>,
) -> BTreeMap<ForgeKind, WebhookSecret> {
    let of = |(kind, begin, _usual): (ForgeKind, &str, &str)| {
        let secret = variable(&format!("{begin}_WEBHOOK_SECRET"))?;
        Some((kind, WebhookSecret::new(secret.trim())?))
    };
    FORGES.into_iter().filter_map(of).collect()
}

/// The forges that variables name. A forge is known by its usual host, by the host
/// that is given, and by that of its interface.
fn named_forges(variable: impl Fn(&str) -> Option<String>) -> anyhow::Result<Vec<ForgeConfig>> {
    let mut named = Vec::new();
    for (kind, begin, usual) in FORGES {
        let of = |end: &str| {
            let value = variable(&format!("{begin}_{end}"))?;
            let value = value.trim().to_owned();
            (!value.is_empty()).then_some(value)
        };
        let (host, api_url, token) = (of("HOST"), of("API_URL"), of("TOKEN"));
        if host.is_none() && api_url.is_none() && token.is_none() {
            continue;
        }
        let token = match token {
            Some(token) => Some(
                Token::parse(&token)
                    .with_context(|| format!("{begin}_TOKEN has characters that no token has"))?,
            ),
            None => None,
        };
        let mut hosts = vec![host.unwrap_or_else(|| usual.to_owned())];
        hosts.extend(
            api_url
                .as_deref()
                .and_then(host_of)
                .filter(|api| !api.starts_with("api.") && !hosts.contains(api)),
        );
        for host in hosts {
            named.push(ForgeConfig {
                kind,
                host,
                api_url: api_url.clone(),
                token: token.clone(),
            });
        }
    }
    Ok(named)
}

/// The host of an address, with its port.
fn host_of(url: &str) -> Option<String> {
    let (_, rest) = url.split_once("://")?;
    let host = rest.split(['/', '?', '#']).next()?;
    (!host.is_empty() && !host.contains('@')).then(|| host.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(variables: &[(&str, &str)]) -> Vec<(ForgeKind, String, bool)> {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let named = named_forges(variable).expect("forges");
        let shown = |it: ForgeConfig| (it.kind, it.host, it.token.is_some());
        named.into_iter().map(shown).collect()
    }

    #[test]
    fn a_forge_is_known_by_its_usual_host_and_that_of_its_interface() {
        assert_eq!(hosts(&[]), []);
        assert_eq!(
            hosts(&[("WORKFORCE_GITHUB_TOKEN", "t")]),
            [(ForgeKind::GitHub, "github.com".to_owned(), true)]
        );
        assert_eq!(
            hosts(&[
                ("WORKFORCE_GITHUB_API_URL", "https://git.example/api/v3"),
                ("WORKFORCE_GITEA_HOST", "code.example:3000"),
            ]),
            [
                (ForgeKind::GitHub, "github.com".to_owned(), false),
                (ForgeKind::GitHub, "git.example".to_owned(), false),
                (ForgeKind::Gitea, "code.example:3000".to_owned(), false),
            ]
        );
        let usual = [("WORKFORCE_GITHUB_API_URL", "https://api.github.com")];
        assert_eq!(hosts(&usual).len(), 1);
    }

    #[test]
    fn a_forge_has_a_secret_of_its_own_for_its_messages() {
        let kinds = |variables: &[(&str, &str)]| {
            let variable = |name: &str| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            };
            let secrets = webhook_secrets(variable);
            secrets.into_keys().collect::<Vec<_>>()
        };
        assert_eq!(kinds(&[]), []);
        assert_eq!(
            kinds(&[
                ("WORKFORCE_GITHUB_WEBHOOK_SECRET", " \n"),
                ("WORKFORCE_GITLAB_WEBHOOK_SECRET", "a secret"),
                ("WORKFORCE_GITEA_WEBHOOK_SECRET", "another"),
            ]),
            [ForgeKind::GitLab, ForgeKind::Gitea]
        );
        // They name no forge.
        assert_eq!(
            hosts(&[("WORKFORCE_GITLAB_WEBHOOK_SECRET", "a secret")]),
            []
        );
    }

    #[test]
    fn a_token_that_no_header_carries_is_refused() {
        let variable = |name: &str| (name == "WORKFORCE_GITLAB_TOKEN").then(|| "a b".to_owned());
        let error = named_forges(variable).expect_err("a fault").to_string();
        assert!(error.contains("WORKFORCE_GITLAB_TOKEN"), "{error}");
        assert!(!error.contains("a b"), "{error}");
    }
}
