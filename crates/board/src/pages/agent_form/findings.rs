//! What a check of an agent's program found, field by field.

use workforce_domain::adapter_check::{AdapterCheck, CheckItem, CheckName, CheckStatus};

use crate::html::status::Pill;

/// What came of one look.
#[derive(Clone)]
pub(crate) struct Finding {
    pub(crate) pill: Pill,
    pub(crate) message: String,
    /// The field that it is about.
    pub(crate) field: &'static str,
    pub(crate) is_ok: bool,
}

/// What a check found.
#[derive(Clone)]
pub(crate) struct Findings {
    pub(crate) is_ok: bool,
    /// The file of the program, and its version.
    pub(crate) program: Option<String>,
    pub(crate) all: Vec<Finding>,
}

impl Findings {
    /// What was found about a field and is not as it should be.
    pub(super) fn at(&self, field: &str) -> Vec<Finding> {
        let found = self.all.iter();
        let found = found.filter(|finding| finding.field == field && !finding.is_ok);
        found.cloned().collect()
    }
}

/// What a check found, by the fields of the form.
pub(in super::super) fn by_field(check: &AdapterCheck) -> Findings {
    let program = check
        .program
        .as_ref()
        .map(|program| match &program.version {
            Some(version) => format!("{}, version {version}", program.path),
            None => program.path.clone(),
        });
    Findings {
        is_ok: check.ok,
        program,
        all: check.checks.iter().map(finding).collect(),
    }
}

fn finding(item: &CheckItem) -> Finding {
    Finding {
        pill: Pill::of_check(item.status),
        message: item.message.clone(),
        field: match item.name {
            CheckName::Configuration | CheckName::Containment => "adapterType",
            CheckName::Secrets | CheckName::SignIn => "env",
            CheckName::Program | CheckName::Version => "adapterConfig/command",
            CheckName::WorkingDirectory => "adapterConfig/cwd",
            CheckName::Address => "adapterConfig/url",
        },
        is_ok: item.status == CheckStatus::Ok,
    }
}
