use std::fmt;
use std::path::PathBuf;

use serde::Serialize;
use workforce_domain::id::RunId;
use workforce_guard::ProcessIdentity;

/// How bad something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Level {
    /// As it should be.
    Ok,
    /// It works, and somebody should look at it.
    Warning,
    /// Something is wrong.
    Problem,
}

/// How something is put right.
#[derive(Clone, Debug)]
pub(super) enum Repair {
    /// A file or folder gets these permissions.
    Mode(PathBuf, u32),
    /// Totals are summed up anew.
    SpendTotals,
    /// Leases of runs that do not run are taken back.
    Leases,
    /// Runs whose server is gone end as lost, and their work is queued again.
    StuckRuns,
    /// What is left of a run is killed; its folder, if there is one.
    Process(RunId, ProcessIdentity, Option<PathBuf>),
    /// Folders of runs that have ended are removed.
    Folders(Vec<PathBuf>),
}

/// What was found in one place.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Finding {
    pub(super) level: Level,
    /// What was looked at, in one word.
    pub(super) check: &'static str,
    pub(super) message: String,
    /// What to do.
    pub(super) advice: Option<String>,
    /// Whether `--fix` puts it right.
    pub(super) can_fix: bool,
    #[serde(skip)]
    pub(super) repair: Option<Repair>,
}

impl Finding {
    pub(super) fn ok(check: &'static str, message: impl Into<String>) -> Self {
        Self {
            level: Level::Ok,
            check,
            message: message.into(),
            advice: None,
            can_fix: false,
            repair: None,
        }
    }

    pub(super) fn warning(
        check: &'static str,
        message: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self {
            level: Level::Warning,
            advice: Some(advice.into()),
            ..Self::ok(check, message)
        }
    }

    pub(super) fn problem(
        check: &'static str,
        message: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self {
            level: Level::Problem,
            ..Self::warning(check, message, advice)
        }
    }

    /// The same, which `--fix` puts right.
    pub(super) fn fixed_by(self, repair: Repair) -> Self {
        Self {
            can_fix: true,
            repair: Some(repair),
            ..self
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = match self.level {
            Level::Ok => "ok",
            Level::Warning => "warning",
            Level::Problem => "problem",
        };
        write!(
            f,
            "{level:<8} {}: {}",
            self.check,
            self.message.replace('\n', " ")
        )?;
        if let Some(advice) = &self.advice {
            write!(f, "; {advice}")?;
        }
        Ok(())
    }
}
