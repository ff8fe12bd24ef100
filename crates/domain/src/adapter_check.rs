//! Whether an agent could run as it is configured.

use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use crate::agent::AdapterType;
use crate::string_enum;

string_enum! {
    /// Whether somebody has signed in to an agent program.
    pub enum SignedIn {
        /// A key or a login is there.
        Yes = "yes",
        /// Neither is there.
        No = "no",
        /// It is not seen from outside.
        Unknown = "unknown",
    }
}

string_enum! {
    /// What is looked at.
    pub enum CheckName {
        /// Whether the configuration can be used.
        Configuration = "configuration",
        /// Whether each secret that it names has a value.
        Secrets = "secrets",
        /// What runs are kept from.
        Containment = "containment",
        /// Whether the program is there and may be executed.
        Program = "program",
        /// Whether the program starts, and is the tested version.
        Version = "version",
        /// Whether somebody has signed in to the program.
        SignIn = "sign_in",
        /// Whether there is a directory to work in.
        WorkingDirectory = "working_directory",
        /// Whether the agent's address may be called.
        Address = "address",
    }
}

string_enum! {
    /// What came of a look.
    pub enum CheckStatus {
        /// All is well.
        Ok = "ok",
        /// Runs start, and may not do what was meant.
        Warning = "warning",
        /// Runs would fail.
        Failed = "failed",
    }
}

/// What came of one look.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = AdapterCheckItem))]
pub struct CheckItem {
    /// What was looked at.
    pub name: CheckName,
    /// What came of it.
    pub status: CheckStatus,
    /// The same for people, with what to do. Shows no secret.
    pub message: String,
}

/// A program that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct CheckedProgram {
    /// Its file.
    pub path: String,
    /// The version that it tells; `null` when it told none or was not asked.
    pub version: Option<String>,
    /// The version that was tried with this release of workforce.
    pub tested_version: Option<String>,
}

/// Whether an agent could run as it is configured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct AdapterCheck {
    /// How it is run.
    pub adapter_type: AdapterType,
    /// Whether nothing failed.
    pub ok: bool,
    /// Its program; `null` when there is none, or it is not found.
    pub program: Option<CheckedProgram>,
    /// Whether somebody has signed in to the program.
    pub signed_in: SignedIn,
    /// What was looked at.
    pub checks: Vec<CheckItem>,
}

impl AdapterCheck {
    /// A check in which nothing was looked at yet.
    pub const fn new(adapter_type: AdapterType) -> Self {
        Self {
            adapter_type,
            ok: true,
            program: None,
            signed_in: SignedIn::Unknown,
            checks: Vec::new(),
        }
    }

    /// Adds what came of a look.
    pub fn add(&mut self, name: CheckName, status: CheckStatus, message: impl Into<String>) {
        self.ok &= status != CheckStatus::Failed;
        self.checks.push(CheckItem {
            name,
            status,
            message: message.into(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_stands_in_no_ones_way_and_a_failure_does() {
        let mut check = AdapterCheck::new(AdapterType::Process);
        check.add(CheckName::Version, CheckStatus::Warning, "another one");
        assert!(check.ok);
        check.add(CheckName::Program, CheckStatus::Failed, "not there");
        check.add(CheckName::Secrets, CheckStatus::Ok, "none");
        assert!(!check.ok);
    }
}
