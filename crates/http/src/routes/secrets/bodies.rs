use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use workforce_app::Code;
use workforce_app::secrets::{Converted, CreateSecret, UpdateSecret};
use workforce_domain::change::Change;
use workforce_domain::id::{AgentId, CompanyId, SecretId, UserId};
use workforce_domain::secret::{Secret, SecretProvider, SecretValue};
use workforce_domain::string_enum::StringEnum;
use workforce_domain::text::{Description, SecretName};
use workforce_domain::time::Timestamp;

use crate::problem::Problem;
use crate::schema;
use crate::wire::non_null;

/// A secret, without its value.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Secret)]
pub(super) struct SecretBody {
    /// Unique id.
    #[schema(value_type = schema::Id)]
    id: SecretId,
    /// Its company.
    #[schema(value_type = schema::Id)]
    company_id: CompanyId,
    /// Its name, unique in the company.
    #[schema(value_type = schema::SecretName)]
    name: SecretName,
    /// Where its value comes from.
    #[schema(value_type = schema::SecretProvider)]
    provider: SecretProvider,
    /// What the provider knows it by; `null` when its value is kept here.
    #[schema(value_type = Option<schema::ExternalRef>)]
    external_ref: Option<String>,
    /// What it is for.
    #[schema(value_type = Option<schema::Description>)]
    description: Option<Description>,
    /// The number of its newest version; 0 when its value is kept elsewhere.
    #[schema(minimum = 0)]
    latest_version: i32,
    /// The agent that made it.
    #[schema(value_type = Option<schema::Id>)]
    created_by_agent_id: Option<AgentId>,
    /// The person of the board that made it.
    #[schema(value_type = Option<schema::Id>)]
    created_by_user_id: Option<UserId>,
    /// When it was made.
    #[schema(value_type = schema::Timestamp)]
    created_at: Timestamp,
    /// When it last changed.
    #[schema(value_type = schema::Timestamp)]
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
    #[schema(value_type = schema::SecretName)]
    name: SecretName,
    /// Its value. Required where it is kept here, and makes no sense elsewhere.
    #[schema(value_type = Option<schema::SecretValue>)]
    value: Option<SecretValue>,
    /// What it is for.
    #[schema(value_type = Option<schema::Description>)]
    description: Option<Description>,
    /// Where its value comes from; `local_encrypted` when left out.
    #[schema(value_type = Option<schema::SecretProvider>)]
    provider: Option<String>,
    /// For `env` the name of a variable of the server, for `file` the path of a
    /// file below the folder that the operator allows.
    #[schema(value_type = Option<schema::ExternalRef>)]
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
pub(super) struct UpdateSecretBody {
    /// Its name.
    #[serde(default, deserialize_with = "non_null")]
    #[schema(value_type = schema::SecretName)]
    name: Option<SecretName>,
    /// What it is for.
    #[serde(default)]
    #[schema(value_type = Option<schema::Description>)]
    description: Change<Description>,
    /// Its new value: makes a version.
    #[serde(default, deserialize_with = "non_null")]
    #[schema(value_type = schema::SecretValue)]
    value: Option<SecretValue>,
    /// What the provider knows it by, where its value is kept elsewhere.
    #[serde(default, deserialize_with = "non_null")]
    #[schema(value_type = schema::ExternalRef)]
    external_ref: Option<String>,
}

impl UpdateSecretBody {
    pub(super) fn command(self) -> UpdateSecret {
        UpdateSecret {
            name: self.name,
            description: self.description,
            value: self.value,
            external_ref: self.external_ref,
        }
    }
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct RotateSecretBody {
    /// Its new value.
    #[schema(value_type = schema::SecretValue)]
    value: SecretValue,
}

impl RotateSecretBody {
    pub(super) fn command(self) -> UpdateSecret {
        UpdateSecret {
            value: Some(self.value),
            ..UpdateSecret::default()
        }
    }
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ConvertBody {
    /// The name of the secret; that of the variable when left out.
    #[schema(value_type = Option<schema::SecretName>)]
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
    #[schema(value_type = schema::Id)]
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
