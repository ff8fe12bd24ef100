use diesel::prelude::*;
use workforce_domain::corrupt::Corrupt;
use workforce_domain::id::{AgentId, CompanyId, RunId, SecretId, UserId};
use workforce_domain::port::RunSecret;
use workforce_domain::secret::{ExternalRef, Secret, SecretProvider, SecretVersion};

use super::row::{Row, admit, admit_some, length};
use crate::store::columns::{IdColumn, InstantColumn, StringEnumColumn};
use crate::store::schema::{run_secrets, secret_versions, secrets};
use crate::vault::{WRAPPED, key_of};

const KIND: &str = "secret";

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = secrets, treat_none_as_null = true, treat_none_as_default_value = false)]
pub(super) struct SecretRow {
    id: IdColumn<SecretId>,
    company_id: IdColumn<CompanyId>,
    name: String,
    provider: StringEnumColumn<SecretProvider>,
    external_ref: Option<String>,
    description: Option<String>,
    latest_version: i32,
    created_by_agent_id: Option<IdColumn<AgentId>>,
    created_by_user_id: Option<IdColumn<UserId>>,
    created_at: InstantColumn,
    updated_at: InstantColumn,
    token_for: Option<String>,
}

impl Row for SecretRow {
    type Record = Secret;

    fn weight(&self) -> usize {
        length(self.description.as_ref())
            + length(self.external_ref.as_ref())
            + length(self.token_for.as_ref())
    }

    fn restore(self) -> Result<Secret, Corrupt> {
        let provider = self.provider.0;
        let external_ref = self
            .external_ref
            .map(|text| ExternalRef::parse(provider, &text))
            .transpose()
            .map_err(|error| Corrupt::new(KIND, error.to_string()))?;
        Ok(Secret {
            id: self.id.0,
            company: self.company_id.0,
            name: admit(KIND, self.name)?,
            provider,
            external_ref,
            description: admit_some(KIND, self.description)?,
            token_for: admit_some(KIND, self.token_for)?,
            latest_version: self.latest_version,
            created_by_agent: self.created_by_agent_id.map(|id| id.0),
            created_by_user: self.created_by_user_id.map(|id| id.0),
            created_at: self.created_at.0,
            updated_at: self.updated_at.0,
        })
    }
}

impl From<&Secret> for SecretRow {
    fn from(secret: &Secret) -> Self {
        Self {
            id: IdColumn(secret.id),
            company_id: IdColumn(secret.company),
            name: secret.name.to_string(),
            provider: StringEnumColumn(secret.provider),
            external_ref: secret
                .external_ref
                .as_ref()
                .map(|text| text.as_str().to_owned()),
            description: secret.description.as_ref().map(ToString::to_string),
            latest_version: secret.latest_version,
            created_by_agent_id: secret.created_by_agent.map(IdColumn),
            created_by_user_id: secret.created_by_user.map(IdColumn),
            created_at: InstantColumn(secret.created_at),
            updated_at: InstantColumn(secret.updated_at),
            token_for: secret.token_for.as_ref().map(ToString::to_string),
        }
    }
}

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = secret_versions, treat_none_as_default_value = false)]
pub(super) struct VersionRow {
    company_id: IdColumn<CompanyId>,
    secret_id: IdColumn<SecretId>,
    version: i32,
    key_id: String,
    wrapped_key: Vec<u8>,
    sealed_value: Vec<u8>,
    created_at: InstantColumn,
}

impl VersionRow {
    /// The row of a version, whose sealed value lies in its two parts.
    pub(super) fn of(version: &SecretVersion) -> Result<Self, Corrupt> {
        let key = key_of(&version.sealed);
        let parts = version.sealed.split_at_checked(WRAPPED);
        let (Ok(key), Some((wrapped, value))) = (key, parts) else {
            return Err(Corrupt::new("secret version", "it is sealed by the vault"));
        };
        Ok(Self {
            company_id: IdColumn(version.company),
            secret_id: IdColumn(version.secret),
            version: version.version,
            key_id: key.to_string(),
            wrapped_key: wrapped.to_vec(),
            sealed_value: value.to_vec(),
            created_at: InstantColumn(version.created_at),
        })
    }
}

impl Row for VersionRow {
    type Record = SecretVersion;

    fn weight(&self) -> usize {
        self.wrapped_key.len() + self.sealed_value.len()
    }

    fn restore(self) -> Result<SecretVersion, Corrupt> {
        Ok(SecretVersion {
            company: self.company_id.0,
            secret: self.secret_id.0,
            version: self.version,
            sealed: [self.wrapped_key, self.sealed_value].concat(),
            created_at: self.created_at.0,
        })
    }
}

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = run_secrets, treat_none_as_default_value = false)]
pub(super) struct UseRow {
    pub(super) company_id: IdColumn<CompanyId>,
    pub(super) run_id: IdColumn<RunId>,
    pub(super) variable: String,
    pub(super) secret_id: IdColumn<SecretId>,
    pub(super) version: i32,
    pub(super) used_at: InstantColumn,
}

impl Row for UseRow {
    type Record = RunSecret;

    fn weight(&self) -> usize {
        self.variable.len()
    }

    fn restore(self) -> Result<RunSecret, Corrupt> {
        Ok(RunSecret {
            run: self.run_id.0,
            variable: self.variable,
            secret: self.secret_id.0,
            version: self.version,
            used_at: self.used_at.0,
        })
    }
}
