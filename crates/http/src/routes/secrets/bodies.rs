use serde::Deserialize;
use utoipa::ToSchema;
use workforce_app::Code;
use workforce_app::secrets::{CreateSecret, UpdateSecret};
use workforce_domain::change::Replace;
use workforce_domain::secret::{ExternalRef, SecretProvider, SecretValue};
use workforce_domain::string_enum::StringEnum;
use workforce_domain::text::{Description, RepositoryPrefix, SecretName};

use crate::problem::Problem;

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CreateSecretBody {
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
    /// The repositories that it is the token for: a host, or a host and a path, such
    /// as `github.com/acme`.
    token_for: Option<RepositoryPrefix>,
}

impl CreateSecretBody {
    pub(crate) fn command(self) -> Result<CreateSecret, Problem> {
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
            token_for: self.token_for,
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
