//! From references to values, at each run's start (docs/secrets.md#resolution).

use std::collections::BTreeSet;

use serde_json::Value;
use workforce_domain::Document;
use workforce_domain::actor::{CompanyOwned, CompanyScope};
use workforce_domain::id::SecretId;
use workforce_domain::port::{Failure, Reads, RunSecret, StoreError, Tx, Vault};
use workforce_domain::run::Run;
use workforce_domain::secret::{
    ExternalRef, ReferenceFault, Secret, SecretProvider, SecretReference, VersionPick, seal_context,
};

use crate::context::Context;

/// Where the value of a resolved reference is.
#[derive(Clone, PartialEq, Eq)]
pub enum Source {
    /// It was kept here: the value.
    Stored(String),
    /// It is to be had from outside, by whoever may reach there.
    Outside(SecretProvider, ExternalRef),
}

/// Shows no value.
impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Stored(_) => f.write_str("Stored"),
            Self::Outside(provider, _) => write!(f, "Outside({provider})"),
        }
    }
}

/// A resolved reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The variable that is to hold the value.
    pub variable: String,
    /// Where the value is.
    pub source: Source,
}

/// A reference that has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("adapterConfig.env.{variable}: {fault}")]
pub struct Unresolved {
    /// The variable.
    pub variable: String,
    /// What is wrong; nothing of any value.
    pub fault: String,
}

impl Unresolved {
    /// The variable has no value for this reason.
    pub fn new(variable: impl Into<String>, fault: &dyn std::fmt::Display) -> Self {
        Self {
            variable: variable.into(),
            fault: fault.to_string(),
        }
    }
}

/// Resolves every reference of a run's configuration, and writes down which
/// versions the run is given. What is kept outside is told, and left to the
/// caller: a transaction does not wait for it.
///
/// # Errors
/// [`Unresolved`]: nothing is written down then.
pub fn resolve(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    run: &Run,
    config: &Document,
) -> Result<Vec<Found>, Failure<Unresolved>> {
    let wanted = wanted(config).map_err(Failure::Refused)?;
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let scope = run.scope();
    let ids: BTreeSet<SecretId> = wanted.iter().map(|(_, it)| it.secret).collect();
    let ids: Vec<SecretId> = ids.into_iter().collect();
    let secrets = tx.secrets_mut().lock_all(scope, &ids)?;
    let mut found = Vec::new();
    let mut uses = Vec::new();
    for (variable, reference) in wanted {
        let secret = secrets.iter().find(|it| it.id == reference.secret);
        let looked = look_up(tx.reads(), ctx.vault, secret.map(|it| &**it), reference)?;
        let (source, version) =
            looked.map_err(|fault| Failure::Refused(Unresolved::new(variable.as_str(), &fault)))?;
        uses.push(RunSecret {
            run: run.id,
            variable: variable.clone(),
            secret: reference.secret,
            version,
            used_at: ctx.now,
        });
        found.push(Found { variable, source });
    }
    tx.secrets_mut().record_uses(scope, &uses)?;
    Ok(found)
}

/// What [`resolve`] would find for each reference of a configuration. Nothing is
/// written down.
pub fn preview(
    reads: &mut dyn Reads,
    vault: &dyn Vault,
    company: CompanyScope,
    config: &Document,
) -> Result<Vec<Result<Found, Unresolved>>, StoreError> {
    let wanted = match wanted(config) {
        Ok(wanted) => wanted,
        Err(unresolved) => return Ok(vec![Err(unresolved)]),
    };
    let mut previews = Vec::new();
    for (variable, reference) in wanted {
        let secret = reads.secrets().find(company.into(), reference.secret)?;
        let looked = look_up(reads, vault, secret.as_ref(), reference)?;
        previews.push(match looked {
            Ok((source, _version)) => Ok(Found { variable, source }),
            Err(fault) => Err(Unresolved::new(variable, &fault)),
        });
    }
    Ok(previews)
}

/// Where the value of a reference is, and its version; else what is wrong.
pub(super) fn look_up(
    reads: &mut dyn Reads,
    vault: &dyn Vault,
    secret: Option<&Secret>,
    reference: SecretReference,
) -> Result<Result<(Source, i32), &'static str>, StoreError> {
    let Some(secret) = secret else {
        return Ok(Err("its secret does not exist"));
    };
    let version = match reference.version {
        VersionPick::Latest => secret.latest_version,
        VersionPick::Pinned(version) => version,
    };
    let source = match &secret.external_ref {
        None => match open(reads, vault, secret, version)? {
            Opened::Value(value) => Ok(Source::Stored(value)),
            Opened::Missing => Err("its secret does not have this version"),
            Opened::Unreadable => Err("its secret cannot be opened with this master key"),
        },
        Some(_) if version != 0 => Err("its secret is kept elsewhere and has no versions"),
        Some(external_ref) => Ok(Source::Outside(secret.provider, external_ref.clone())),
    };
    Ok(source.map(|source| (source, version)))
}

/// The references of a configuration, each with its variable.
fn wanted(config: &Document) -> Result<Vec<(String, SecretReference)>, Unresolved> {
    let env = config.get("env").and_then(Value::as_object);
    let mut wanted = Vec::new();
    for (variable, binding) in env.into_iter().flatten() {
        let read = SecretReference::read(binding);
        let read = read.map_err(|fault: ReferenceFault| Unresolved::new(variable, &fault))?;
        wanted.extend(read.map(|reference| (variable.clone(), reference)));
    }
    Ok(wanted)
}

enum Opened {
    Value(String),
    Missing,
    Unreadable,
}

fn open(
    reads: &mut dyn Reads,
    vault: &dyn Vault,
    secret: &Secret,
    version: i32,
) -> Result<Opened, StoreError> {
    let Some(row) = reads
        .secrets()
        .version(secret.scope(), secret.id, version)?
    else {
        return Ok(Opened::Missing);
    };
    let context = seal_context(secret.company, secret.id, version);
    let plain = vault.open(&context, &row.sealed).ok();
    Ok(
        match plain.and_then(|plain| String::from_utf8(plain).ok()) {
            Some(value) => Opened::Value(value),
            None => Opened::Unreadable,
        },
    )
}

/// The values that a run was given and that are kept here, as far as they
/// still open: to look for them in what the run writes.
pub fn values_of_run(
    reads: &mut dyn Reads,
    vault: &dyn Vault,
    run: &Run,
) -> Result<Vec<String>, StoreError> {
    let mut values = Vec::new();
    for used in reads.secrets().of_run(run.scope(), run.id)? {
        if used.version == 0 {
            continue;
        }
        let Some(secret) = reads.secrets().find(run.scope().into(), used.secret)? else {
            continue;
        };
        if let Opened::Value(value) = open(reads, vault, &secret, used.version)? {
            values.push(value);
        }
    }
    Ok(values)
}
