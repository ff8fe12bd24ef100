use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::OsStrExt;

use serde::{Deserialize, Serialize};
use workforce_domain::id::RunId;

const ALLOWED: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "TZ",
    "TERM",
    "TMPDIR",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
];
const ALLOWED_PREFIXES: &[&str] = &["LC_", "XDG_"];
const OWN_PREFIX: &str = "WORKFORCE_";

/// The environment of a child, built from nothing
/// (docs/heartbeats.md#environment).
///
/// There is no way to pass the server's whole environment on: only variables
/// that are named here or by the operator reach an agent.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Variables", into = "Variables")]
pub struct ChildEnvironment {
    variables: BTreeMap<OsString, OsString>,
}

/// The form in messages: a name need not be text, so it is no key of an object.
type Variables = Vec<(OsString, OsString)>;

impl From<Variables> for ChildEnvironment {
    fn from(variables: Variables) -> Self {
        Self {
            variables: variables.into_iter().collect(),
        }
    }
}

impl From<ChildEnvironment> for Variables {
    fn from(environment: ChildEnvironment) -> Self {
        environment.variables.into_iter().collect()
    }
}

impl ChildEnvironment {
    /// An environment without any variable.
    #[must_use]
    pub fn empty() -> Self {
        Self::default()
    }

    /// Takes over what every child may know of the server's environment, and
    /// the names the operator lists. A name that begins with `WORKFORCE_`
    /// configures the server and never passes, even when it is listed.
    pub fn inherit_allowed(
        server_variables: impl Iterator<Item = (OsString, OsString)>,
        extra_allowed: &[String],
    ) -> Self {
        Self {
            variables: server_variables
                .filter(|(name, _)| is_allowed(name, extra_allowed))
                .collect(),
        }
    }

    /// Sets a variable, replacing what was inherited or set under this name.
    ///
    /// # Errors
    ///
    /// A name that is empty or contains `=` or NUL, or a value with a NUL
    /// byte, cannot be a variable.
    pub fn set(
        &mut self,
        name: impl Into<OsString>,
        value: impl Into<OsString>,
    ) -> Result<&mut Self, InvalidVariable> {
        let (name, value) = (name.into(), value.into());
        let bytes = name.as_bytes();
        if bytes.is_empty() || bytes.contains(&b'=') || bytes.contains(&0) {
            return Err(InvalidVariable::Name(name));
        }
        if value.as_bytes().contains(&0) {
            return Err(InvalidVariable::Value(name));
        }
        self.variables.insert(name, value);
        Ok(self)
    }

    /// Marks the environment as that of a run, so that every process that
    /// inherits it can be found again.
    pub(crate) fn mark(&mut self, tag: &RunTag) {
        self.variables
            .insert(RunTag::NAME.into(), tag.run_id.as_str().into());
    }

    /// The value of a variable.
    #[must_use]
    pub fn get(&self, name: impl AsRef<OsStr>) -> Option<&OsStr> {
        self.variables.get(name.as_ref()).map(OsString::as_os_str)
    }

    /// Every variable, ordered by name.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.variables
            .iter()
            .map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }
}

fn is_allowed(name: &OsStr, extra_allowed: &[String]) -> bool {
    // A name that is not UTF-8 can neither be a known one nor have been listed.
    let Some(name) = name.to_str() else {
        return false;
    };
    !name.starts_with(OWN_PREFIX)
        && (ALLOWED.contains(&name)
            || ALLOWED_PREFIXES
                .iter()
                .any(|prefix| name.starts_with(prefix))
            || extra_allowed.iter().any(|extra| extra == name))
}

/// Names only: values may be credentials.
impl fmt::Debug for ChildEnvironment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.variables.keys()).finish()
    }
}

/// Why something cannot be an environment variable. Values are not repeated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidVariable {
    /// The name is empty or contains `=` or NUL.
    #[error("{0:?} cannot be the name of an environment variable")]
    Name(OsString),
    /// The value of this variable contains NUL.
    #[error("the value of environment variable {0:?} contains a NUL byte")]
    Value(OsString),
}

/// The mark that every process of a run carries in its environment:
/// `WORKFORCE_RUN_ID` with the run's id. It finds processes that left the
/// run's process group and session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunTag {
    run_id: String,
}

impl RunTag {
    /// The name of the variable.
    pub const NAME: &'static str = "WORKFORCE_RUN_ID";

    /// The variable with its value.
    pub(crate) fn variable(&self) -> (&'static str, &str) {
        (Self::NAME, &self.run_id)
    }

    /// The run whose mark a block of NUL-terminated variables carries.
    pub(crate) fn in_environ(environ: &[u8]) -> Option<RunId> {
        environ.split(|&byte| byte == 0).find_map(|variable| {
            let rest = variable.strip_prefix(Self::NAME.as_bytes())?;
            let id = std::str::from_utf8(rest.strip_prefix(b"=")?).ok()?;
            id.parse().ok()
        })
    }

    /// Whether a block of NUL-terminated variables carries this mark.
    pub(crate) fn marks(&self, environ: &[u8]) -> bool {
        environ.split(|&byte| byte == 0).any(|variable| {
            variable
                .strip_prefix(Self::NAME.as_bytes())
                .and_then(|rest| rest.strip_prefix(b"="))
                .is_some_and(|value| value == self.run_id.as_bytes())
        })
    }
}

impl From<RunId> for RunTag {
    fn from(run: RunId) -> Self {
        Self {
            run_id: run.to_string(),
        }
    }
}
