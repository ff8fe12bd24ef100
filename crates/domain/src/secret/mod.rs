//! Secrets: what agents are given and nobody is shown.

mod reference;
mod sensitive;

use serde::Serialize;

use alloc::string::String;
use alloc::vec::Vec;

pub use reference::{ReferenceFault, SecretReference, VersionPick, references};
pub use sensitive::is_sensitive_name;

use crate::actor::company_owned;
use crate::id::{AgentId, CompanyId, SecretId, UserId};
use crate::string_enum;
use crate::text::{Description, RepositoryPrefix, SecretName, TextError};
use crate::time::Timestamp;

/// The mark that stands in the place of a hidden value. In a change it keeps the
/// present value; it is never stored.
pub const REDACTED: &str = "***REDACTED***";

string_enum! {
    /// Where the value of a secret comes from.
    pub enum SecretProvider {
        /// It is kept here, sealed.
        LocalEncrypted = "local_encrypted",
        /// It is a variable of the server's environment, read at each run's
        /// start.
        Env = "env",
        /// It is a file beneath the folder that the operator allows, read at
        /// each run's start.
        File = "file",
    }
}

/// A secret: everything about it but its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Secret {
    /// Unique id.
    pub id: SecretId,
    /// Its company.
    #[serde(rename = "companyId")]
    pub company: CompanyId,
    /// Its name, unique in the company.
    pub name: SecretName,
    /// Where its value comes from.
    pub provider: SecretProvider,
    /// What the provider knows it by; `None` when it is kept here.
    pub external_ref: Option<ExternalRef>,
    /// What it is for.
    pub description: Option<Description>,
    /// The repositories that it is the token for; no two of a company say the same.
    pub token_for: Option<RepositoryPrefix>,
    /// The number of its newest version; 0 when its value is kept elsewhere.
    #[cfg_attr(feature = "openapi", schema(minimum = 0))]
    pub latest_version: i32,
    /// The agent that made it.
    #[serde(rename = "createdByAgentId")]
    pub created_by_agent: Option<AgentId>,
    /// The person of the board that made it.
    #[serde(rename = "createdByUserId")]
    pub created_by_user: Option<UserId>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

company_owned!(Secret, company);

/// One version of a secret's value, sealed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretVersion {
    /// Its company.
    pub company: CompanyId,
    /// The secret.
    pub secret: SecretId,
    /// Its number, from 1 on.
    pub version: i32,
    /// The value as the vault sealed it for [`seal_context`].
    pub sealed: Vec<u8>,
    /// When it was made.
    pub created_at: Timestamp,
}

/// What the value of a version is sealed for, so that it opens nowhere else:
/// company, secret and version.
pub fn seal_context(company: CompanyId, secret: SecretId, version: i32) -> String {
    alloc::format!("secret {company} {secret} {version}")
}

/// The value of a secret: 1 byte to 64 KiB of text. It has no way out but
/// [`expose`](Self::expose).
#[derive(Clone, PartialEq, Eq)]
pub struct SecretValue(String);

impl SecretValue {
    /// The longest value, in bytes.
    pub const MAX: usize = 64 * 1024;

    /// Admits `text` as it is.
    ///
    /// # Errors
    /// Says what is wrong with the text, and nothing of the text itself.
    pub fn parse(text: &str) -> Result<Self, TextError> {
        if text.is_empty() {
            return Err(TextError::Empty);
        }
        if text.contains('\0') {
            return Err(TextError::Nul);
        }
        if text.len() > Self::MAX {
            let (max, unit) = (Self::MAX, "bytes");
            return Err(TextError::TooLong { max, unit });
        }
        Ok(Self(text.into()))
    }

    /// The value, for sealing it and for the environment of a run.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl core::fmt::Debug for SecretValue {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("SecretValue")
    }
}

impl<'de> serde::Deserialize<'de> for SecretValue {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

/// What a provider knows a secret by: the name of a variable, or the path of a
/// file beneath the allowed folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExternalRef(String);

impl ExternalRef {
    /// The longest reference, in bytes.
    pub const MAX: usize = 1024;

    /// Admits `text` as a reference for `provider`.
    ///
    /// # Errors
    /// Says what is wrong with the text.
    pub fn parse(provider: SecretProvider, text: &str) -> Result<Self, TextError> {
        if text.is_empty() {
            return Err(TextError::Empty);
        }
        if text.contains('\0') {
            return Err(TextError::Nul);
        }
        if text.len() > Self::MAX {
            let (max, unit) = (Self::MAX, "bytes");
            return Err(TextError::TooLong { max, unit });
        }
        let fault = match provider {
            SecretProvider::LocalEncrypted => Some("left out where the value is kept here"),
            SecretProvider::Env => env_fault(text),
            SecretProvider::File => file_fault(text),
        };
        match fault {
            Some(form) => Err(TextError::Form(form)),
            None => Ok(Self(text.into())),
        }
    }

    /// The reference.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The server's own settings, among them the master key, are not for agents.
fn env_fault(name: &str) -> Option<&'static str> {
    if !is_variable_name(name) {
        Some("the name of a variable: letters, digits and `_`, and no digit first")
    } else if name.to_ascii_uppercase().starts_with("WORKFORCE_") {
        Some("a variable that does not begin with WORKFORCE_")
    } else {
        None
    }
}

fn file_fault(path: &str) -> Option<&'static str> {
    let climbs = path
        .split('/')
        .any(|part| part.is_empty() || part == "." || part == "..");
    if climbs || path.chars().any(char::is_control) {
        Some("a path below the allowed folder, without `.`, `..` and empty parts")
    } else {
        None
    }
}

/// True for what an environment variable can be called.
pub fn is_variable_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    let starts = bytes
        .next()
        .is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    starts && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
