use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use workforce_app::Code;
use workforce_app::secrets::{Converted, CreateSecret, UpdateSecret};
use workforce_domain::change::Replace;
use workforce_domain::id::{AgentId, CompanyId, SecretId, UserId};
use workforce_domain::secret::{ExternalRef, Secret, SecretProvider, SecretValue};
use workforce_domain::string_enum::StringEnum;
use workforce_domain::text::{Description, SecretName};
use workforce_domain::time::Timestamp;

use crate::problem::Problem;

/// A secret, without its value.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Secret)]
pub(super) struct SecretBody {
    /// Unique id.
    id: SecretId,
    /// Its company.
    company_id: CompanyId,
    /// Its name, unique in the company.
    name: SecretName,
    /// Where its value comes from.
    provider: SecretProvider,
    /// What the provider knows it by; `null` when its value is kept here.
    #[schema(value_type = Option<ExternalRef>)]
    external_ref: Option<String>,
    /// What it is for.
    description: Option<Description>,
    /// The number of its newest version; 0 when its value is kept elsewhere.
    #[schema(minimum = 0)]
    latest_version: i32,
    /// The agent that made it.
    created_by_agent_id: Option<AgentId>,
    /// The person of the board that made it.
    created_by_user_id: Option<UserId>,
    /// When it was made.
    created_at: Timestamp,
    /// When it last changed.
    updated_at: Timestamp,
}

impl From<Secret> for SecretBody {
    fn from(secret: Secret) -> Self {
        Self {
            id: secret.id,
            company_id: secret.company,
            name: secret.name,
            provider: secret.provider,
            external_ref: secret.external_ref.map(|text| text.as_str().to_owned()),
            description: secret.description,
            latest_version: secret.latest_version,
            created_by_agent_id: secret.created_by_agent,
            created_by_user_id: secret.created_by_user,
            created_at: secret.created_at,
            updated_at: secret.updated_at,
        }
    }
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CreateSecretBody {
    /// Its name, unique in the company.
    name: SecretName,
    /// Its value. Required where it is kept here, and makes no sense elsewhere.
    value: Option<SecretValue>,
    /// What it is for.
    description: Option<Description>,
    /// Where its value comes from; `local_encrypted` when left out.
    #[schema(value_type = Option<SecretProvider>)]
    provider: Option<String>,
    /// For `env` the name of a variable of the server, for `file` the path of a
    /// file below the folder that the operator allows.
    #[schema(value_type = Option<ExternalRef>)]
    external_ref: Option<String>,
}

impl CreateSecretBody {
    pub(super) fn command(self) -> Result<CreateSecret, Problem> {
        let provider = match self.provider.as_deref() {
            None => SecretProvider::LocalEncrypted,
            Some(word) => SecretProvider::parse(word).ok_or_else(|| {
                let words: Vec<_> = SecretProvider::ALL.iter().map(|it| it.as_str()).collect();
                let message = format!("must be one of {}", words.join(", "));
                Problem::at(Code::SecretProviderUnsupported, "/provider", &message)
            })?,
        };
        if provider == SecretProvider::LocalEncrypted && self.value.is_none() {
            return Err(Problem::at(Code::InvalidJson, "/value", "is required"));
        }
        Ok(CreateSecret {
            name: self.name,
            description: self.description,
            provider,
            value: self.value,
            external_ref: self.external_ref,
        })
    }
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct RotateSecretBody {
    /// Its new value.
    value: SecretValue,
}

impl RotateSecretBody {
    pub(super) fn command(self) -> UpdateSecret {
        UpdateSecret {
            value: Replace::Set(self.value),
            ..UpdateSecret::default()
        }
    }
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ConvertBody {
    /// The name of the secret; that of the variable when left out.
    pub(super) name: Option<SecretName>,
}

/// An inline value that became a secret.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ConvertedSecret)]
pub(super) struct ConvertedBody {
    /// The secret.
    secret: SecretBody,
    /// The agent that refers to it now.
    agent_id: AgentId,
    /// The variable that does.
    variable: String,
}

impl From<Converted> for ConvertedBody {
    fn from(converted: Converted) -> Self {
        Self {
            secret: converted.secret.into(),
            agent_id: converted.agent,
            variable: converted.variable,
        }
    }
}
