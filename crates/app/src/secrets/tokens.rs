use workforce_domain::actor::CompanyScope;
use workforce_domain::port::{Reads, StoreError, Vault};
use workforce_domain::secret::{SecretReference, VersionPick};
use workforce_domain::text::SecretName;

use super::resolve::{Source, look_up};

/// The secret that is the token for a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepositoryToken {
    /// Its name.
    pub name: SecretName,
    /// Where its value is, else what is wrong.
    pub source: Result<Source, &'static str>,
}

/// The token of a company for the repository `path` at `host`: its secret with the
/// longest `tokenFor` that covers it (docs/tickets.md#tokens). `None` where the company
/// has none for it.
pub fn repository_token(
    reads: &mut dyn Reads,
    vault: &dyn Vault,
    company: CompanyScope,
    host: &str,
    path: &str,
) -> Result<Option<RepositoryToken>, StoreError> {
    let tokens = reads.secrets().tokens(company)?;
    let covering = tokens.into_iter().filter_map(|secret| {
        let prefix = secret.token_for.as_ref()?;
        let length = prefix.covers(host, path).then_some(prefix.len())?;
        Some((length, secret))
    });
    let Some((_, secret)) = covering.max_by_key(|(length, _)| *length) else {
        return Ok(None);
    };
    let newest = SecretReference {
        secret: secret.id,
        version: VersionPick::Latest,
    };
    let looked = look_up(reads, vault, Some(&secret), newest)?;
    Ok(Some(RepositoryToken {
        name: secret.name,
        source: looked.map(|(source, _version)| source),
    }))
}
