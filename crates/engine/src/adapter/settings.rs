use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;
use workforce_domain::Document;

use workforce_app::agents::resource_limit;

use crate::run_environment::API_KEY;
use workforce_guard::{Limits, ResourceLimits};

pub(super) const DEFAULT_WALL: Duration = Duration::from_secs(4 * 60 * 60);
pub(super) const DEFAULT_IDLE: Duration = Duration::from_secs(20 * 60);
const MEBIBYTE: u64 = 1024 * 1024;
const DEFAULT_GRACE: Duration = Duration::from_secs(20);

/// What the configuration of every local program says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LocalSettings {
    /// The working directory, when the agent has one of its own.
    pub(crate) cwd: Option<PathBuf>,
    /// The agent's own variables.
    pub(crate) env: Vec<(String, String)>,
    /// What the run may take.
    pub(crate) limits: Limits,
    /// What its programs may use of the computer.
    pub(crate) resource_limits: ResourceLimits,
}

/// The configuration of the `process` adapter
/// (docs/heartbeats.md#process-adapter).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProcessSettings {
    /// The program: a name looked up in `PATH`, or a path.
    pub(crate) program: String,
    /// Its arguments.
    pub(crate) args: Vec<String>,
    /// What the program reads from its standard input.
    pub(crate) stdin: Option<String>,
}

/// What is wrong with a configuration, for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("adapterConfig.{key} {fault}")]
pub(crate) struct SettingsFault {
    key: String,
    fault: &'static str,
}

const fn fault<T>(key: String, fault: &'static str) -> Result<T, SettingsFault> {
    Err(SettingsFault { key, fault })
}

impl LocalSettings {
    /// Reads a configuration. It was checked when it was saved, but not with
    /// what an issue overrides.
    pub(crate) fn read(config: &Document) -> Result<Self, SettingsFault> {
        let cwd = text(config, "cwd")?
            .filter(|cwd| !cwd.is_empty())
            .map(PathBuf::from);
        if cwd.as_ref().is_some_and(|cwd| !cwd.is_absolute()) {
            return fault("cwd".into(), "must be an absolute path");
        }
        Ok(Self {
            cwd,
            env: env(config)?,
            limits: Limits {
                wall: limit(config, "timeoutSec", DEFAULT_WALL)?,
                idle: limit(config, "idleTimeoutSec", DEFAULT_IDLE)?,
                grace: seconds(config, "graceSec")?.unwrap_or(DEFAULT_GRACE),
            },
            resource_limits: ResourceLimits {
                memory: mebibytes(config, "maxMemoryMb")?,
                processes: count(config, "maxProcesses")?,
                file_size: mebibytes(config, "maxFileSizeMb")?,
            },
        })
    }
}

impl ProcessSettings {
    /// Reads a configuration, which was checked as above.
    pub(crate) fn read(config: &Document) -> Result<Self, SettingsFault> {
        let Some(command) = text(config, "command")?.filter(|command| !command.is_empty()) else {
            return fault("command".into(), "must name the program to run");
        };
        let args = args(config)?;
        let (program, args) = if switch(config, "shell")? {
            through_shell(command, args)
        } else {
            (command, args)
        };
        Ok(Self {
            program,
            args,
            stdin: text(config, "stdin")?,
        })
    }
}

/// The program that reads `command` as a line of a shell, where `args` are its
/// `$1`, `$2` and so on.
fn through_shell(command: String, args: Vec<String>) -> (String, Vec<String>) {
    const SHELL: &str = "/bin/sh";
    let line = ["-c".to_owned(), command, SHELL.to_owned()];
    (SHELL.to_owned(), line.into_iter().chain(args).collect())
}

/// A switch that is off unless said otherwise.
fn switch(config: &Document, key: &str) -> Result<bool, SettingsFault> {
    match config.get(key) {
        None => Ok(false),
        Some(Value::Bool(on)) => Ok(*on),
        Some(_) => fault(key.into(), "must be true or false"),
    }
}

fn text(config: &Document, key: &str) -> Result<Option<String>, SettingsFault> {
    match config.get(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => fault(key.into(), "must be a string"),
    }
}

fn args(config: &Document) -> Result<Vec<String>, SettingsFault> {
    const FAULT: &str = "must be an array of strings";
    let args = match config.get("args") {
        None => return Ok(Vec::new()),
        Some(Value::Array(args)) => args,
        Some(_) => return fault("args".into(), FAULT),
    };
    args.iter()
        .map(|arg| match arg.as_str() {
            Some(arg) => Ok(arg.to_owned()),
            None => fault("args".into(), FAULT),
        })
        .collect()
}

/// The agent's own variables.
pub(crate) fn env(config: &Document) -> Result<Vec<(String, String)>, SettingsFault> {
    let env = match config.get("env") {
        None => return Ok(Vec::new()),
        Some(Value::Object(env)) => env,
        Some(_) => return fault("env".into(), "must be an object"),
    };
    env.iter()
        .map(|(name, binding)| {
            let key = || format!("env.{name}");
            if name.starts_with("WORKFORCE_") && name != API_KEY {
                return fault(key(), "is set by workforce itself");
            }
            let value = match binding {
                Value::String(value) => Some(value.as_str()),
                Value::Object(object) if object.get("type").is_some_and(|kind| kind == "plain") => {
                    object.get("value").and_then(Value::as_str)
                }
                _ => None,
            };
            match value {
                Some(value) => Ok((name.clone(), value.to_owned())),
                None => fault(key(), "must be a string or a plain binding"),
            }
        })
        .collect()
}

/// A limit in seconds, none for 0.
fn limit(
    config: &Document,
    key: &str,
    default: Duration,
) -> Result<Option<Duration>, SettingsFault> {
    let limit = seconds(config, key)?.unwrap_or(default);
    Ok((!limit.is_zero()).then_some(limit))
}

fn seconds(config: &Document, key: &str) -> Result<Option<Duration>, SettingsFault> {
    let Some(value) = config.get(key) else {
        return Ok(None);
    };
    match value.as_f64().map(Duration::try_from_secs_f64) {
        Some(Ok(duration)) => Ok(Some(duration)),
        Some(Err(_)) | None => fault(key.into(), "must be a number of seconds, at least 0"),
    }
}

fn mebibytes(config: &Document, key: &str) -> Result<Option<u64>, SettingsFault> {
    let mebibytes = count(config, key)?;
    Ok(mebibytes.map(|mebibytes| mebibytes.saturating_mul(MEBIBYTE)))
}

fn count(config: &Document, key: &str) -> Result<Option<u64>, SettingsFault> {
    let Some(value) = config.get(key) else {
        return Ok(None);
    };
    match value.as_number().and_then(resource_limit) {
        Some(limit) => Ok(Some(limit)),
        None => fault(key.into(), "must be a whole number, at least 1"),
    }
}

#[cfg(test)]
mod tests;
