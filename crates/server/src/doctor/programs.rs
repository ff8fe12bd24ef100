//! Whether the programs that agents and operators need are there.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use workforce_agent_programs::version_in;
use workforce_domain::agent::AdapterType;
use workforce_domain::port::StoreError;
use workforce_domain::string_enum::StringEnum;
use workforce_engine::agent_program;
use workforce_infra::store::{DatabaseState, Inspection};

use super::Site;
use super::finding::Finding;
use crate::backup::PostgresProgram;

/// What a program may take to tell its version.
const LIMIT: Duration = Duration::from_secs(20);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Looks for them.
pub(super) fn look(
    site: &Site<'_>,
    inspection: &mut Inspection,
    state: &DatabaseState,
    findings: &mut Vec<Finding>,
) -> Result<(), StoreError> {
    for kind in inspection.adapter_types()? {
        let program = AdapterType::parse(&kind).and_then(agent_program);
        let Some(definition) = program.map(|it| it.definition()) else {
            continue;
        };
        let tested = definition.package.map(|it| it.version);
        let told = version(definition.command, definition.version_arguments);
        let name = definition.name;
        findings.push(match (told, tested) {
            (Ok(version), Some(tested)) if version != tested => Finding::warning(
                "programs",
                format!("{name} is {version}; {tested} was tried"),
                "check its agents, for example with POST /api/agents/{id}/adapter-check",
            ),
            (Ok(version), _) => Finding::ok("programs", format!("{name} is {version}")),
            (Err(error), _) => Finding::warning(
                "programs",
                format!("{name} cannot be asked for its version: {error}"),
                format!(
                    "install {} where the server's PATH finds it",
                    definition.command
                ),
            ),
        });
    }
    findings.push(match version("git", &["--version"]) {
        Ok(version) => Finding::ok("programs", format!("git is {version}")),
        Err(error) => Finding::warning(
            "programs",
            format!("git cannot be asked for its version: {error}"),
            "install it, if agents work in repositories",
        ),
    });
    if site.database.sqlite_path().is_none() {
        let found = PostgresProgram::find(&site.args.pg_dump, &site.database, &state.version);
        findings.push(match found {
            Ok(_) => Finding::ok("programs", "pg_dump is there for backups"),
            Err(error) => Finding::warning(
                "programs",
                format!("{error:#}"),
                "workforce backup needs it",
            ),
        });
    }
    Ok(())
}

/// The version that a program tells.
fn version(program: &str, arguments: &[&str]) -> Result<String, String> {
    #[expect(
        clippy::disallowed_methods,
        reason = "asked for its version in the operator's terminal; it is no run of an agent"
    )]
    let mut command = Command::new(program);
    let child = command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut child = child.map_err(|error| error.to_string())?;
    let begun = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if begun.elapsed() < LIMIT => std::thread::sleep(LOOK_EVERY),
            outcome => {
                // It may have ended just now.
                let _ = child.kill();
                let _ = child.wait();
                return Err(match outcome {
                    Err(error) => error.to_string(),
                    Ok(_) => format!("it does not end within {} s", LIMIT.as_secs()),
                });
            }
        }
    };
    if !status.success() {
        return Err(status.to_string());
    }
    let mut told = Vec::new();
    let out = child.stdout.take().map(|it| it.take(4096));
    if let Some(mut out) = out {
        out.read_to_end(&mut told)
            .map_err(|error| error.to_string())?;
    }
    let told = String::from_utf8_lossy(&told);
    let version = version_in(&told).map(str::to_owned);
    version.ok_or_else(|| "it tells no version".to_owned())
}
