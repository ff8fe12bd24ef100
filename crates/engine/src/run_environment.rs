use std::env;
use std::ffi::{OsStr, OsString};
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde_json::Value;
use workforce_domain::Document;
use workforce_domain::approval::ApprovalStatus;
use workforce_domain::execution_workspace::WorktreeFinding;
use workforce_domain::id::{ApprovalId, IssueId};
use workforce_domain::string_enum::StringEnum;

use crate::config::{AgentHome, EngineConfig};
use crate::run_context::{Occupant, RunContext};
use crate::wake_payload::wake_payload;
use workforce_guard::{ChildEnvironment, InvalidVariable};

/// The variable with which an agent may bring a key of its own.
pub(crate) const API_KEY: &str = "WORKFORCE_API_KEY";

const PATH: &str = "PATH";

/// The environment of a run's child: the allowed part of the server's, the
/// agent's own variables, and what workforce tells it, which nothing replaces
/// (docs/heartbeats.md#environment).
///
/// # Errors
/// A variable that an environment cannot hold.
pub(crate) fn environment(
    config: &EngineConfig,
    context: &RunContext,
    own: &[(String, String)],
    cwd: &Path,
) -> Result<ChildEnvironment, InvalidVariable> {
    let mut environment = base_environment(config, context.occupant(), own)?;
    let own_key = own
        .iter()
        .find(|(name, _)| name == API_KEY)
        .map(|(_, key)| key);
    let key = own_key.unwrap_or(&context.token.token);
    let wants_paperclip = context
        .claimed
        .agent
        .runtime_config
        .get("compat")
        .and_then(Value::as_str)
        == Some("paperclip");
    let mut facts = facts(config, context, cwd);
    facts.push(("API_KEY", key.into()));
    for (suffix, value) in facts {
        if wants_paperclip {
            environment.set(format!("PAPERCLIP_{suffix}"), &value)?;
        }
        environment.set(format!("WORKFORCE_{suffix}"), value)?;
    }
    Ok(environment)
}

/// The part of it that does not depend on what the run is about.
///
/// # Errors
/// A variable that an environment cannot hold.
pub(crate) fn base_environment(
    config: &EngineConfig,
    occupant: Occupant,
    own: &[(String, String)],
) -> Result<ChildEnvironment, InvalidVariable> {
    let run_as = config.containment.run_as.as_ref();
    let inherited = config.server_environment.iter();
    let inherited = inherited.filter(|(name, _)| {
        let is_listed = config.allowed_env.iter().any(|listed| name == &**listed);
        run_as.is_none() || is_listed || !tells_of_user(name)
    });
    let mut environment =
        ChildEnvironment::inherit_allowed(inherited.cloned(), &config.allowed_env);
    if let Some(run_as) = run_as {
        environment.set("HOME", &run_as.home)?;
        environment.set("USER", &run_as.name)?;
        environment.set("LOGNAME", &run_as.name)?;
        environment.set("SHELL", &run_as.shell)?;
    }
    if config.agent_home == AgentHome::Private {
        environment.set("HOME", config.home_of(occupant.agent))?;
    }
    if let Some(folder) = config.temporary_folder(occupant.company, occupant.run) {
        environment.set("TMPDIR", folder)?;
    }
    for (name, value) in own {
        environment.set(name, value)?;
    }
    if let Some(folder) = &config.command_folder {
        add_to_path(&mut environment, folder)?;
    }
    Ok(environment)
}

/// Puts a folder after all others that programs are looked up in.
fn add_to_path(environment: &mut ChildEnvironment, folder: &Path) -> Result<(), InvalidVariable> {
    let Some(path) = environment.get(PATH) else {
        return Ok(());
    };
    let mut folders: Vec<PathBuf> = env::split_paths(path).collect();
    if folders.iter().any(|known| known == folder) {
        return Ok(());
    }
    folders.push(folder.to_owned());
    // A folder that cannot stand in a path is left out.
    match env::join_paths(folders) {
        Ok(path) => environment.set(PATH, path).map(|_| ()),
        Err(_) => Ok(()),
    }
}

/// Whether a variable leads to folders of the server's user.
fn tells_of_user(name: &OsStr) -> bool {
    name == "TMPDIR" || name.as_encoded_bytes().starts_with(b"XDG_")
}

/// What workforce tells an agent about its run, by the end of the variable's
/// name.
pub(crate) fn facts(
    config: &EngineConfig,
    context: &RunContext,
    cwd: &Path,
) -> Vec<(&'static str, OsString)> {
    let claimed = &context.claimed;
    let mut facts: Vec<(&'static str, OsString)> = vec![
        ("API_URL", config.api_url.as_str().into()),
        ("AGENT_ID", text(claimed.agent.id)),
        ("COMPANY_ID", text(claimed.company.id)),
        ("RUN_ID", text(claimed.run.id)),
        ("WAKE_REASON", text(claimed.run.reason)),
        ("WAKE_PAYLOAD_JSON", wake_payload(context).into()),
    ];
    let mut add = |suffix, value: Option<OsString>| {
        facts.extend(value.map(|value| (suffix, value)));
    };
    add("TASK_ID", claimed.run.issue.map(text));
    let issue = context.issue.as_ref();
    add(
        "TASK_IDENTIFIER",
        issue.map(|issue| text(&issue.identifier)),
    );
    let worktree = context.worktree.as_ref();
    let own_key = issue.and_then(|issue| issue.ticket_key.as_deref());
    let ticket_key = worktree.map(|it| it.record.ticket_key.as_str());
    add("TICKET_KEY", ticket_key.or(own_key).map(text));
    add(
        "WORKSPACE_BRANCH",
        worktree.map(|it| text(&it.record.branch)),
    );
    add(
        "WORKSPACE_BASE_BRANCH",
        worktree.map(|it| text(&it.record.base_branch)),
    );
    add(
        "WORKSPACE_STATE",
        worktree.map(|it| WorktreeFinding::state_of(&it.findings).into()),
    );
    add("WAKE_COMMENT_ID", claimed.wake.comments.last().map(text));
    add("LINKED_ISSUE_IDS", linked_issues(context));
    let copy = context.copy.as_ref();
    add(
        "INSTRUCTIONS_DIR",
        copy.map(|copy| copy.folder.clone().into()),
    );
    add(
        "INSTRUCTIONS_FILE",
        copy.map(|copy| copy.entry.clone().into()),
    );
    let wake = &claimed.wake.payload;
    add("APPROVAL_ID", word::<ApprovalId>(wake, "approvalId"));
    let status = wake.get("approvalStatus").and_then(Value::as_str);
    add(
        "APPROVAL_STATUS",
        status.and_then(ApprovalStatus::parse).map(text),
    );
    add("LOCALE", claimed.company.locale.as_deref().map(text));
    let of_ticket = worktree.map(|worktree| &worktree.workspace);
    let workspace = of_ticket.or(context.workspace.as_ref());
    let workspace_cwd = workspace.and_then(|workspace| workspace.source.cwd());
    let in_workspace = match worktree {
        Some(worktree) => Some(worktree.path.clone().into_os_string()),
        None => workspace_cwd.map(|cwd| text(cwd.as_str())),
    };
    add(
        "WORKSPACE_CWD",
        Some(in_workspace.unwrap_or_else(|| cwd.into())),
    );
    add(
        "WORKSPACE_ID",
        workspace.map(|workspace| text(workspace.id)),
    );
    let repo_url = workspace.and_then(|workspace| workspace.source.repo_url());
    add("WORKSPACE_REPO_URL", repo_url.map(|url| text(url.as_str())));
    let repo_ref = workspace.and_then(|workspace| workspace.repo_ref.as_deref());
    add("WORKSPACE_REPO_REF", repo_ref.map(text));
    let context_path = context.project_layer.as_ref().map(|_| {
        let run = &claimed.run;
        config.context_path(run.company, run.id).into_os_string()
    });
    facts.extend(context_path.map(|path| ("PROJECT_CONTEXT_FILE", path)));
    facts
}

fn text(value: impl Display) -> OsString {
    value.to_string().into()
}

/// A fact of the wake that has the form of a `T`.
fn word<T: FromStr + Display>(wake: &Document, key: &str) -> Option<OsString> {
    wake.get(key)?.as_str()?.parse::<T>().ok().map(text)
}

/// The issue of the run and those that its wake names, without repeats.
fn linked_issues(context: &RunContext) -> Option<OsString> {
    let wake = &context.claimed.wake;
    let named = wake.payload.get("issueIds").and_then(Value::as_array);
    let named = named
        .into_iter()
        .flatten()
        .filter_map(|id| id.as_str()?.parse::<IssueId>().ok());
    let mut issues: Vec<IssueId> = Vec::new();
    for issue in context.claimed.run.issue.into_iter().chain(named) {
        if !issues.contains(&issue) {
            issues.push(issue);
        }
    }
    let issues: Vec<String> = issues.iter().map(ToString::to_string).collect();
    (!issues.is_empty()).then(|| issues.join(",").into())
}
