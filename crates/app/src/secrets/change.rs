use serde::Deserialize;
use serde_json::json;
use workforce_domain::activity::Action;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::change::{Change, Replace};
use workforce_domain::id::{AgentId, SecretId};
use workforce_domain::port::{Failure, SecretUser, Tx};
use workforce_domain::secret::{Secret, SecretProvider, SecretValue};
use workforce_domain::text::{Description, RepositoryPrefix, SecretName};

use super::{
    SecretError, at_fault, external_ref, insert_version, lock, require_free_name,
    require_only_token,
};
use crate::access::Denied;
use crate::activity_log::{log_activity, log_change};
use crate::context::Context;
use crate::refusal::{Code, Codes};

/// Changes a secret.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct UpdateSecret {
    /// Its name.
    #[serde(default)]
    pub name: Replace<SecretName>,
    /// What it is for.
    #[serde(default)]
    pub description: Change<Description>,
    /// Its new value: makes a version.
    #[serde(default)]
    pub value: Replace<SecretValue>,
    /// What the provider knows it by, where its value is kept elsewhere.
    #[serde(default)]
    pub external_ref: Replace<String>,
    /// The repositories that it is the token for.
    #[serde(default)]
    pub token_for: Change<RepositoryPrefix>,
}

/// What [`update`] refuses with.
pub const UPDATE: Codes = Codes::with(&[Code::DuplicateName], &[ROTATE]);

/// What [`update`] refuses with when it gives nothing but a value.
pub const ROTATE: Codes = Codes::of(&[Code::InvalidField]);

/// Changes a secret. A value becomes its newest version, which runs that start
/// from now on are given (docs/secrets.md#versions); anything else makes no
/// version.
pub fn update(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: SecretId,
    command: UpdateSecret,
) -> Result<Secret, Failure<SecretError>> {
    let mut secret = lock(tx, ctx, id)?;
    let scope = secret.scope();
    if let Replace::Set(name) = command.name {
        require_free_name(tx.reads(), scope, Some(id), &name)?;
        secret.name = name;
    }
    secret.description = command.description.apply(secret.description.take());
    require_only_token(tx.reads(), scope, Some(id), command.token_for.value())?;
    secret.token_for = command.token_for.apply(secret.token_for.take());
    let is_local = secret.provider == SecretProvider::LocalEncrypted;
    if let Replace::Set(text) = command.external_ref {
        if is_local {
            let message = "makes no sense where the value is kept here";
            return at_fault("/externalRef", message);
        }
        secret.external_ref = Some(external_ref(secret.provider, &text)?);
    }
    if !command.value.is_keep() && !is_local {
        let message = "makes no sense where the value is kept elsewhere";
        return at_fault("/value", message);
    }
    let mut is_changed = secret.is_changed();
    if is_changed {
        log_change(tx, ctx, Action::SecretUpdated, &mut secret, json!({}));
    }
    if let Replace::Set(value) = &command.value {
        secret.latest_version += 1;
        insert_version(tx, ctx, &secret, value)?;
        let details = json!({ "version": secret.latest_version });
        log_change(tx, ctx, Action::SecretRotated, &mut secret, details);
        is_changed = true;
    }
    if is_changed {
        secret.updated_at = ctx.now;
        tx.secrets_mut().save(&secret)?;
    }
    Ok(secret.into_inner())
}

/// What [`delete`] refuses with.
pub const DELETE: Codes = Codes::of(&[Code::SecretInUse]);

/// Deletes a secret with every version. While agents refer to it that needs
/// `force`; their next runs fail then.
pub fn delete(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: SecretId,
    force: bool,
) -> Result<(), Failure<SecretError>> {
    let secret = lock(tx, ctx, id)?;
    let agents = agents_of(&tx.secrets().users(secret.scope(), id)?, |_user| true);
    if !agents.is_empty() && !force {
        return Err(Failure::Refused(SecretError::InUse { agents }));
    }
    let details = json!({ "agentIds": agents });
    log_activity(tx, ctx, Action::SecretDeleted, &secret, details);
    Ok(tx.secrets_mut().delete(secret)?)
}

/// What [`delete_version`] refuses with.
pub const DELETE_VERSION: Codes =
    Codes::of(&[Code::SecretVersionNewest, Code::SecretVersionPinned]);

/// Deletes an old version of a secret that nobody is pinned to.
pub fn delete_version(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: SecretId,
    version: i32,
) -> Result<(), Failure<SecretError>> {
    let secret = lock(tx, ctx, id)?;
    let missing = || Denied::NotFound("version of this secret").into();
    if tx.secrets().version(secret.scope(), id, version)?.is_none() {
        return Err(missing());
    }
    if version == secret.latest_version {
        return Err(Failure::Refused(SecretError::NewestVersion));
    }
    let users = tx.secrets().users(secret.scope(), id)?;
    let agents = agents_of(&users, |user| user.pinned == Some(version));
    if !agents.is_empty() {
        return Err(Failure::Refused(SecretError::VersionPinned { agents }));
    }
    if !tx.secrets_mut().delete_version(&secret, version)? {
        return Err(missing());
    }
    let details = json!({ "version": version });
    log_activity(tx, ctx, Action::SecretVersionDeleted, &secret, details);
    Ok(())
}

/// The agents among users of a secret, each once.
fn agents_of(users: &[SecretUser], which: impl Fn(&SecretUser) -> bool) -> Vec<AgentId> {
    let mut agents: Vec<AgentId> = users
        .iter()
        .filter(|user| which(user))
        .map(|user| user.agent)
        .collect();
    agents.dedup();
    agents
}
