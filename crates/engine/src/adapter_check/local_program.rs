//! Whether the program of an agent could run on this computer.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use workforce_agent_programs::{
    AgentProgram, ProgramDefinition, ProgramSettings, RunUser, Session, SignInHint, command_line,
    version_in,
};
use workforce_domain::Document;
use workforce_domain::adapter_check::{
    AdapterCheck, CheckName, CheckStatus, CheckedProgram, SignedIn,
};
use workforce_domain::port::AdapterToCheck;
use workforce_folders::remove_folder;
use workforce_guard::client::{self, GuardError};
use workforce_guard::{LaunchError, Survey};

use super::{check_configuration, version};
use crate::adapter::adapter;
use crate::adapter::agent_program::{command_of, user_of};
use crate::adapter::local::{Place, make_trial_place, offload};
use crate::adapter::settings::{LocalSettings, ProcessSettings};
use crate::instructions;
use crate::run_context::Occupant;
use crate::secret_resolution::Preview;
use crate::state::EngineState;

pub(super) async fn check(
    state: &EngineState,
    adapter: &AdapterToCheck,
    preview: &Preview,
    check: &mut AdapterCheck,
) {
    let trial = match Trial::plan(state, adapter, &preview.config) {
        Ok(trial) => trial,
        Err(fault) => return check_configuration(Some(fault), check),
    };
    check_configuration(None, check);
    trial.run(state, preview, check).await;
    let Occupant {
        company,
        agent,
        run,
    } = trial.occupant;
    instructions::remove(state, company, run).await;
    if adapter.agent.is_none() {
        let home = state.config.home_of(agent);
        if let Err(error) = offload(move || remove_folder(&home)).await {
            tracing::warn!(%error, "the home of an agent that is not hired is left behind");
        }
    }
}

/// What is to be tried.
struct Trial {
    occupant: Occupant,
    settings: LocalSettings,
    command: OsString,
    /// The agent program that it is, and who it would run as.
    program: Option<(AgentProgram, RunUser)>,
    /// What it needs in its environment.
    variables: Vec<(&'static str, String)>,
}

impl Trial {
    /// What a run with this configuration would start; else why it would not.
    fn plan(
        state: &EngineState,
        adapter_to_check: &AdapterToCheck,
        config: &Document,
    ) -> Result<Self, String> {
        let ids = &state.store.ports.ids;
        let mut trial = Self {
            occupant: Occupant {
                company: adapter_to_check.company.company(),
                agent: adapter_to_check.agent.unwrap_or_else(|| ids.next().into()),
                run: ids.next().into(),
            },
            settings: LocalSettings::read(config).map_err(|fault| fault.to_string())?,
            command: OsString::new(),
            program: None,
            variables: Vec::new(),
        };
        if let Some(program) = adapter(adapter_to_check.adapter_type).program() {
            let settings = ProgramSettings::read(config).map_err(|fault| fault.to_string())?;
            let user = user_of(state, config);
            let line = command_line(program, &settings, Session::New { id: None }, user)
                .map_err(|fault| fault.to_string())?;
            trial.command = command_of(program, &settings).into();
            trial.program = Some((program, user));
            trial.variables = line.environment;
        } else {
            let settings = ProcessSettings::read(config).map_err(|fault| fault.to_string())?;
            trial.command = settings.program.into();
        }
        Ok(trial)
    }

    async fn run(&self, state: &EngineState, preview: &Preview, check: &mut AdapterCheck) {
        let (settings, variables) = (&self.settings, &*self.variables);
        let limits = version::limits(&state.config);
        let made = make_trial_place(state, self.occupant, settings, variables, limits);
        let mut place = match made.await {
            Ok(place) => place,
            Err(ending) => {
                let message = ending.end.and_then(|end| end.error).unwrap_or_default();
                return check.add(CheckName::WorkingDirectory, CheckStatus::Failed, message);
            }
        };
        let definition = self.program.map(|(program, _)| program.definition());
        let hint = definition.map(|it| it.signed_in_by.look(|name| place.environment.get(name)));
        let login = match &hint {
            Some(SignInHint::File(file)) => vec![file.clone()],
            _ => Vec::new(),
        };
        let start = place.trial(state, self.occupant, (self.command.clone(), &[]), &[]);
        let survey = match client::survey(&state.config.guard, start, login).await {
            Ok(survey) => survey,
            Err(error) => return check_refusal(&error, check),
        };
        let has_login = survey.files.first().copied().unwrap_or_default();
        self.check_directory(&place, &survey, check);
        let found = self.check_program(&survey, check);
        if let (Some(definition), Some(hint)) = (definition, hint) {
            check_sign_in(definition, preview, &hint, has_login, check);
            if let Some(file) = found {
                if survey.directory.is_err() {
                    // It tells its version anywhere.
                    place.cwd = "/".into();
                }
                let secrets = &preview.secrets;
                let command = (file.into_os_string(), definition.version_arguments);
                let start = place.trial(state, self.occupant, command, secrets);
                let answer = version::ask(state, self.occupant, start).await;
                check_version(definition, answer, check);
            }
        }
    }

    fn check_directory(&self, place: &Place, survey: &Survey, check: &mut AdapterCheck) {
        let name = CheckName::WorkingDirectory;
        let cwd = place.cwd.display();
        match &survey.directory {
            Err(fault) => check.add(name, CheckStatus::Failed, fault.to_string()),
            Ok(false) => {
                let message = format!("{cwd} cannot be written by the user of its runs");
                check.add(name, CheckStatus::Warning, message);
            }
            Ok(true) if matches!(self.program, Some((AgentProgram::Claude, RunUser::Root))) => {
                let message = format!(
                    "{cwd} can be written. Claude Code refuses to act without asking when it is \
                     root: it gets a list of tools that it may use, and what else it asks for is \
                     refused. Better is a server that is not root, or IS_SANDBOX=1 in \
                     adapterConfig.env where the computer is a sandbox itself"
                );
                check.add(name, CheckStatus::Warning, message);
            }
            Ok(true) => check.add(name, CheckStatus::Ok, format!("{cwd} can be written")),
        }
    }

    /// The file of the program, where there is one.
    fn check_program(&self, survey: &Survey, check: &mut AdapterCheck) -> Option<PathBuf> {
        let definition = self.program.map(|(program, _)| program.definition());
        let path: &Path = match &survey.program {
            Ok(path) => path,
            Err(fault) => {
                let message = match definition.map(how_to_install) {
                    Some(how) => format!("{fault}. {how}"),
                    None => fault.to_string(),
                };
                check.add(CheckName::Program, CheckStatus::Failed, message);
                return None;
            }
        };
        let shown = path.to_string_lossy().into_owned();
        check.add(
            CheckName::Program,
            CheckStatus::Ok,
            format!("it is {shown}"),
        );
        let package = definition.and_then(|it| it.package);
        check.program = Some(CheckedProgram {
            path: shown,
            version: None,
            tested_version: package.map(|package| package.version.to_owned()),
        });
        Some(path.to_owned())
    }
}

/// A guard that refuses to look around.
fn check_refusal(error: &GuardError, check: &mut AdapterCheck) {
    let name = match error {
        GuardError::Refused(LaunchError::Containment { .. }) => CheckName::Containment,
        GuardError::Refused(LaunchError::ProcessesUnbounded) => CheckName::Configuration,
        GuardError::Refused(_) | GuardError::Failed(_) => CheckName::Program,
    };
    // It says now what it did not know before.
    check.checks.retain(|item| item.name != name);
    check.add(name, CheckStatus::Failed, error.to_string());
}

fn how_to_install(definition: &ProgramDefinition) -> String {
    match definition.package {
        Some(package) => format!(
            "Install it on the server with `npm install -g {}@{}` and have it in the PATH of the \
             server, or name its file in adapterConfig.command",
            package.name, package.version
        ),
        None => "Install it on the server as its own documentation says, and have it in the PATH \
                 of the server, or name its file in adapterConfig.command"
            .into(),
    }
}

fn check_sign_in(
    definition: &ProgramDefinition,
    preview: &Preview,
    hint: &SignInHint,
    has_login: bool,
    check: &mut AdapterCheck,
) {
    let how = definition.sign_in;
    let keys = definition.signed_in_by.keys;
    let unread = preview
        .unresolved
        .iter()
        .find(|missing| keys.iter().any(|key| missing.variable == *key));
    let (signed_in, status, message) = match (hint, unread) {
        (SignInHint::Key(key), _) => {
            let message = format!("it has a key in {key}");
            (SignedIn::Yes, CheckStatus::Ok, message)
        }
        (_, Some(missing)) => {
            let message = format!("its key {} is a secret without a value", missing.variable);
            (SignedIn::Unknown, CheckStatus::Warning, message)
        }
        (SignInHint::File(file), None) if has_login => {
            let message = format!("somebody signed in: {}", file.display());
            (SignedIn::Yes, CheckStatus::Ok, message)
        }
        (SignInHint::File(_), None) => {
            let message = format!("it has neither a key nor a login. {how}");
            (SignedIn::No, CheckStatus::Failed, message)
        }
        (SignInHint::Unknown, None) => {
            let message = format!("it has no key, and a login is not seen from outside. {how}");
            (SignedIn::Unknown, CheckStatus::Warning, message)
        }
    };
    check.signed_in = signed_in;
    check.add(CheckName::SignIn, status, message);
}

fn check_version(
    definition: &ProgramDefinition,
    answer: Result<String, String>,
    check: &mut AdapterCheck,
) {
    let asked = [&[definition.command], definition.version_arguments].concat();
    let asked = asked.join(" ");
    let version = answer.and_then(|output| {
        let version = version_in(&output).map(str::to_owned);
        version.ok_or_else(|| "it tells no version".to_owned())
    });
    if let (Some(program), Ok(version)) = (&mut check.program, &version) {
        program.version = Some(version.clone());
    }
    let (status, message) = match (version, definition.package) {
        (Err(fault), _) => (CheckStatus::Failed, format!("`{asked}`: {fault}")),
        (Ok(version), Some(package)) if version == package.version => {
            (CheckStatus::Ok, format!("it is {version}, as tried"))
        }
        (Ok(version), Some(package)) => {
            let message = format!(
                "it is {version}; {tried} was tried: `npm install -g {name}@{tried}`",
                tried = package.version,
                name = package.name
            );
            (CheckStatus::Warning, message)
        }
        (Ok(version), None) => {
            let message = format!("it is {version}; no version of it was tried");
            (CheckStatus::Warning, message)
        }
    };
    check.add(CheckName::Version, status, message);
}
