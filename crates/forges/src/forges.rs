use std::fmt;
use std::sync::Arc;

use workforce_domain::forge::ForgeKind;

use crate::address::RepositoryAddress;
use crate::api::Api;
use crate::config::{ApiUrl, ConfigError, ForgeConfig};
use crate::exchange::Exchange;
use crate::forge::Forge;
use crate::host::Host;
use crate::kind::default_api_url;
use crate::limits::Limits;
use crate::token::Token;
use crate::turns::Turns;

/// The forges that are known without a configuration; for their public repositories, or with a
/// token of one's own.
const PUBLIC: [(ForgeKind, &str); 3] = [
    (ForgeKind::GitHub, "github.com"),
    (ForgeKind::GitLab, "gitlab.com"),
    (ForgeKind::Gitea, "codeberg.org"),
];

/// All forges that a server talks to. A clone is a handle on the same ones.
#[derive(Clone)]
pub struct Forges {
    known: Arc<[Known]>,
    exchange: Arc<Exchange>,
    turns: Arc<Turns>,
}

struct Known {
    kind: ForgeKind,
    host: Host,
    api_url: ApiUrl,
    token: Option<Token>,
    is_named: bool,
}

impl Forges {
    /// Those of an operator, and github.com, gitlab.com and codeberg.org unless they are among
    /// them.
    ///
    /// # Errors
    ///
    /// When a host or an API URL cannot be read, or a host is named twice.
    pub fn new(configs: Vec<ForgeConfig>, limits: Limits) -> Result<Self, ConfigError> {
        let mut known: Vec<Known> = Vec::new();
        for config in configs {
            let forge = Known::of(config)?;
            if known.iter().any(|other| other.host == forge.host) {
                let host = forge.host.to_string();
                return Err(ConfigError::new(&host, "it is configured twice"));
            }
            known.push(forge);
        }
        for (kind, host) in PUBLIC {
            let mut public = Known::of(ForgeConfig {
                kind,
                host: host.to_owned(),
                api_url: None,
                token: None,
            })?;
            public.is_named = false;
            if known.iter().all(|other| other.host != public.host) {
                known.push(public);
            }
        }
        Ok(Self {
            known: known.into(),
            exchange: Arc::new(Exchange::new(limits)),
            turns: Arc::default(),
        })
    }

    /// The forge that keeps a repository, by its host. `None` if none is known there.
    #[must_use]
    pub fn of(&self, repository: &RepositoryAddress) -> Option<Forge> {
        let known = self.known(repository)?;
        let api = Api::new(
            known.kind,
            known.host.clone(),
            known.api_url.clone(),
            known.token.clone(),
            Arc::clone(&self.exchange),
        );
        Some(Forge::new(api, known.is_named, Arc::clone(&self.turns)))
    }

    /// Which interface the forge speaks that keeps a repository. `None` if none is known there.
    #[must_use]
    pub fn kind_of(&self, repository: &RepositoryAddress) -> Option<ForgeKind> {
        Some(self.known(repository)?.kind)
    }

    fn known(&self, repository: &RepositoryAddress) -> Option<&Known> {
        let mut known = self.known.iter();
        known.find(|known| repository.is_on(&known.host))
    }
}

impl Known {
    fn of(config: ForgeConfig) -> Result<Self, ConfigError> {
        let refused = |reason| ConfigError::new(&config.host, reason);
        let host = Host::parse(&config.host)
            .ok_or_else(|| refused("its host is not of the form name[:port]"))?
            .without_port(443);
        let api_url = match &config.api_url {
            Some(url) => ApiUrl::parse(url),
            None => ApiUrl::parse(&default_api_url(config.kind, &host.to_string())),
        };
        Ok(Self {
            kind: config.kind,
            api_url: api_url.map_err(refused)?,
            host,
            token: config.token,
            is_named: true,
        })
    }
}

/// Shows the hosts, and nothing of tokens.
impl fmt::Debug for Forges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hosts = self.known.iter().map(|known| known.host.to_string());
        f.debug_list().entries(hosts).finish()
    }
}
