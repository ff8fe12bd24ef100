//! References to secrets in the environment of an adapter's configuration.

use serde_json::Value;

use crate::id::SecretId;
use crate::number::whole;
use crate::{Document, JsonMap};

/// Which version of a secret a reference means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionPick {
    /// The newest at each run's start.
    Latest,
    /// This one.
    Pinned(i32),
}

/// A reference to a secret:
/// `{"type": "secret_ref", "secretId": ..., "version": "latest"}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecretReference {
    /// The secret.
    pub secret: SecretId,
    /// Which version of it.
    pub version: VersionPick,
}

/// What is wrong with a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReferenceFault {
    /// No text in `secretId`.
    #[error("a secret_ref needs a string as secretId")]
    Incomplete,
    /// What is in `secretId` names nothing.
    #[error("no such secret in this company")]
    Unknown,
    /// `version` is neither `latest` nor a positive whole number.
    #[error("version must be \"latest\" or a whole number from 1 on")]
    Version,
}

impl SecretReference {
    /// Reads a binding; `None` when it is no reference.
    ///
    /// # Errors
    /// When it says that it is a reference, and is not a whole one.
    pub fn read(binding: &Value) -> Result<Option<Self>, ReferenceFault> {
        match binding {
            Value::Object(binding) => Self::of(binding),
            _ => Ok(None),
        }
    }

    /// True for a whole reference that holds nothing else, so that there is
    /// nothing to hide in it.
    pub fn is_all_of(binding: &JsonMap) -> bool {
        const FIELDS: [&str; 3] = ["type", "secretId", "version"];
        binding.keys().all(|name| FIELDS.contains(&name.as_str()))
            && matches!(Self::of(binding), Ok(Some(_)))
    }

    fn of(binding: &JsonMap) -> Result<Option<Self>, ReferenceFault> {
        if binding.get("type").and_then(Value::as_str) != Some("secret_ref") {
            return Ok(None);
        }
        let Some(Value::String(secret)) = binding.get("secretId") else {
            return Err(ReferenceFault::Incomplete);
        };
        let version = version(binding.get("version"))?;
        let secret = secret.parse().or(Err(ReferenceFault::Unknown))?;
        Ok(Some(Self { secret, version }))
    }
}

fn version(value: Option<&Value>) -> Result<VersionPick, ReferenceFault> {
    let number = match value {
        None | Some(Value::Null) => return Ok(VersionPick::Latest),
        Some(Value::String(word)) if word == "latest" => return Ok(VersionPick::Latest),
        Some(Value::String(digits)) => digits.parse::<i32>().ok(),
        Some(Value::Number(number)) => whole(number).and_then(|it| i32::try_from(it).ok()),
        Some(_) => None,
    };
    match number {
        Some(number) if number > 0 => Ok(VersionPick::Pinned(number)),
        _ => Err(ReferenceFault::Version),
    }
}

/// The references in a configuration's `env`, each with its variable; what is
/// no whole reference is passed over.
pub fn references(config: &Document) -> impl Iterator<Item = (&str, SecretReference)> {
    config
        .get("env")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .filter_map(|(name, binding)| match SecretReference::read(binding) {
            Ok(Some(reference)) => Some((name.as_str(), reference)),
            Ok(None) | Err(_) => None,
        })
}
