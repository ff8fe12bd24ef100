//! Secrets: make, read, change, delete, and hand them to runs
//! (docs/secrets.md). The board alone; nobody is shown a value.

mod change;
mod convert;
pub mod master_key;
mod resolve;
mod tokens;
mod usage;

use serde_json::{Value, json};
use workforce_domain::activity::Action;
use workforce_domain::actor::CompanyScope;
use workforce_domain::id::{AgentId, CompanyId, SecretId};
use workforce_domain::page::{Page, PageRequest};
use workforce_domain::port::{Failure, Locked, Reads, SecretCursor, StoreError, Tx};
use workforce_domain::secret::{
    ExternalRef, Secret, SecretProvider, SecretValue, SecretVersion, seal_context,
};
use workforce_domain::text::{Description, RepositoryPrefix, SecretName};

pub use change::{
    DELETE, DELETE_VERSION, ROTATE, UPDATE, UpdateSecret, delete, delete_version, update,
};
pub use convert::{CONVERT, Converted, convert};
pub use resolve::{Found, Source, Unresolved, preview, resolve, values_of_run};
pub use tokens::{RepositoryToken, repository_token};
pub use usage::{SecretUsage, usage, versions};

use crate::access::{self, Denied, FieldFault};
use crate::activity_log::log_activity;
use crate::agents::AgentError;
use crate::context::Context;
use crate::refusal::{Code, Codes, Refusal};

/// Why a call about secrets is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    /// The caller may not, or there is no such secret.
    #[error(transparent)]
    Denied(#[from] Denied),
    /// A field's value breaks a rule.
    #[error(transparent)]
    Field(#[from] FieldFault),
    /// Another secret of the company has this name.
    #[error("the company has a secret of this name")]
    NameTaken,
    /// Agents refer to the secret.
    #[error("agents refer to this secret; ?force=true deletes it all the same")]
    InUse {
        /// Those agents.
        agents: Vec<AgentId>,
    },
    /// Agents refer to exactly this version.
    #[error("agents refer to this version")]
    VersionPinned {
        /// Those agents.
        agents: Vec<AgentId>,
    },
    /// The newest version cannot be deleted alone.
    #[error("the newest version cannot be deleted; make another first, or delete the secret")]
    NewestVersion,
    /// The agent was not changed.
    #[error(transparent)]
    Agent(#[from] AgentError),
}

impl Refusal for SecretError {
    fn code(&self) -> Code {
        match self {
            Self::Denied(denied) => denied.code(),
            Self::Field(fault) => fault.code(),
            Self::NameTaken => Code::DuplicateName,
            Self::InUse { .. } => Code::SecretInUse,
            Self::VersionPinned { .. } => Code::SecretVersionPinned,
            Self::NewestVersion => Code::SecretVersionNewest,
            Self::Agent(error) => error.code(),
        }
    }

    fn details(&self) -> Option<Value> {
        match self {
            Self::Denied(denied) => denied.details(),
            Self::Field(fault) => Some(fault.details()),
            Self::NameTaken => Some(json!([{ "pointer": "/name", "message": self.to_string() }])),
            Self::InUse { agents } | Self::VersionPinned { agents } => {
                Some(json!({ "agentIds": agents }))
            }
            Self::NewestVersion => None,
            Self::Agent(error) => error.details(),
        }
    }
}

fn at_fault<T>(pointer: &str, message: impl Into<String>) -> Result<T, Failure<SecretError>> {
    Err(FieldFault::invalid(pointer, message).into())
}

/// Makes a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateSecret {
    /// Its name.
    pub name: SecretName,
    /// What it is for.
    pub description: Option<Description>,
    /// Where its value comes from.
    pub provider: SecretProvider,
    /// Its value, when it is kept here.
    pub value: Option<SecretValue>,
    /// What the provider knows it by, when it is not.
    pub external_ref: Option<String>,
    /// The repositories that it is the token for.
    pub token_for: Option<RepositoryPrefix>,
}

/// What [`create`] refuses with.
pub const CREATE: Codes = Codes::of(&[Code::DuplicateName, Code::InvalidField]);

/// Makes a secret, with its first version when its value is kept here.
pub fn create(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    company: CompanyId,
    command: CreateSecret,
) -> Result<Secret, Failure<SecretError>> {
    let scope = access::company_scope(tx.reads(), ctx, company)?;
    ctx.require_board()?;
    let external_ref = match (command.provider, &command.value, &command.external_ref) {
        (SecretProvider::LocalEncrypted, Some(_), None) => None,
        (SecretProvider::LocalEncrypted, None, _) => {
            return at_fault("/value", "is required where the value is kept here");
        }
        (SecretProvider::LocalEncrypted, Some(_), Some(_)) => {
            let message = "makes no sense where the value is kept here";
            return at_fault("/externalRef", message);
        }
        (_, Some(_), _) => {
            let message = "makes no sense where the value is kept elsewhere";
            return at_fault("/value", message);
        }
        (_, None, None) => {
            let message = "is required where the value is kept elsewhere";
            return at_fault("/externalRef", message);
        }
        (provider, None, Some(text)) => Some(external_ref(provider, text)?),
    };
    require_free_name(tx.reads(), scope, None, &command.name)?;
    require_only_token(tx.reads(), scope, None, command.token_for.as_ref())?;
    let secret = Secret {
        id: ctx.id(),
        company,
        name: command.name,
        provider: command.provider,
        external_ref,
        description: command.description,
        token_for: command.token_for,
        latest_version: i32::from(command.value.is_some()),
        created_by_agent: None,
        created_by_user: ctx.actor().user(),
        created_at: ctx.now,
        updated_at: ctx.now,
    };
    let secret = tx.secrets_mut().insert(secret)?;
    if let Some(value) = &command.value {
        insert_version(tx, ctx, &secret, value)?;
    }
    let details = json!({ "provider": secret.provider });
    log_activity(tx, ctx, Action::SecretCreated, &secret, details);
    Ok(secret.into_inner())
}

/// Secrets of a company, oldest first.
pub fn list(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    company: CompanyId,
    page: &PageRequest<SecretCursor>,
) -> Result<Page<Secret, SecretCursor>, Failure<SecretError>> {
    let scope = access::company_scope(reads, ctx, company)?;
    ctx.require_board()?;
    Ok(reads.secrets().list(scope, page)?)
}

/// One secret.
pub fn get(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    id: SecretId,
) -> Result<Secret, Failure<SecretError>> {
    ctx.require_board()?;
    reads
        .secrets()
        .find(ctx.actor().scope(), id)?
        .ok_or_else(|| Denied::NotFound("secret").into())
}

/// Locks the secret a caller names.
fn lock(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: SecretId,
) -> Result<Locked<Secret>, Failure<SecretError>> {
    ctx.require_board()?;
    tx.secrets_mut()
        .lock(ctx.actor().scope(), id)?
        .ok_or_else(|| Denied::NotFound("secret").into())
}

fn external_ref(provider: SecretProvider, text: &str) -> Result<ExternalRef, Failure<SecretError>> {
    ExternalRef::parse(provider, text).or_else(|fault| at_fault("/externalRef", fault.to_string()))
}

/// Two that take one name at once meet at the unique index; the later one is
/// told so when it is run again.
fn require_free_name(
    reads: &mut dyn Reads,
    scope: CompanyScope,
    own: Option<SecretId>,
    name: &SecretName,
) -> Result<(), Failure<SecretError>> {
    let taken = reads.secrets().find_by_name(scope, name)?;
    if taken.is_some() && taken != own {
        return Err(Failure::Refused(SecretError::NameTaken));
    }
    Ok(())
}

/// Two secrets that are the token for the same repositories meet at the unique index
/// as well.
fn require_only_token(
    reads: &mut dyn Reads,
    scope: CompanyScope,
    own: Option<SecretId>,
    token_for: Option<&RepositoryPrefix>,
) -> Result<(), Failure<SecretError>> {
    let Some(wanted) = token_for else {
        return Ok(());
    };
    let others = reads.secrets().tokens(scope)?;
    let mut others = others.iter().filter(|other| Some(other.id) != own);
    match others.any(|other| other.token_for.as_ref() == Some(wanted)) {
        true => at_fault("/tokenFor", "another secret is the token for the same"),
        false => Ok(()),
    }
}

/// Seals a value as the newest version of a secret.
fn insert_version(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    secret: &Locked<Secret>,
    value: &SecretValue,
) -> Result<(), StoreError> {
    let version = secret.latest_version;
    let context = seal_context(secret.company, secret.id, version);
    let sealed = ctx.vault.seal(&context, value.expose().as_bytes());
    let version = SecretVersion {
        company: secret.company,
        secret: secret.id,
        version,
        sealed,
        created_at: ctx.now,
    };
    tx.secrets_mut().insert_version(secret, &version)
}
