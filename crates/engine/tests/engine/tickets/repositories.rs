//! The repositories of tickets, and people who work with them.

use std::fs;
use std::path::Path;
use std::process::Command;

use workforce_app::projects;
use workforce_domain::id::{AgentId, IssueId};
use workforce_forge_imitation::ForgeImitation;
use workforce_testkit::world::{label, new_project, new_workspace};

use super::site::REPOSITORY;
use crate::support::House;

/// A ticket in a new repository, with a remote or without.
pub(crate) fn new_ticket(
    house: &House,
    forge: &ForgeImitation,
    agent: AgentId,
    suffix: &str,
    with_remote: bool,
) -> IssueId {
    let source = house.path(&format!("source{suffix}"));
    fs::create_dir(&source).expect("a folder");
    git(&source, &["init", "-q", "-b", "main"]);
    fs::write(source.join("README.md"), "shop\n").expect("a file");
    commit_all(&source, "Begin");
    if with_remote {
        let (remote, name) = (
            house.path(&format!("remote{suffix}.git")),
            format!("{REPOSITORY}{suffix}"),
        );
        git(&source, &["clone", "-q", "--bare", ".", as_text(&remote)]);
        let named = forge.repository_url(&name);
        git(&source, &["remote", "add", "origin", &named]);
        let key = format!("url.file://{}.insteadOf", remote.display());
        git(&source, &["config", &key, &named]);
        forge.add_repository_of(&name, &remote);
    }
    let project =
        house.act(|tx, ctx| projects::create(tx, ctx, house.company, new_project("Shop")));
    let project = project.project.id;
    house.act(|tx, ctx| {
        let mut workspace = new_workspace(as_text(&source));
        workspace.is_primary = Some(true);
        projects::create_workspace(tx, ctx, project, workspace)
    });
    house.assign(agent, |command| {
        command.project_id = Some(project);
        command.ticket_key = Some(label("ABC-1"));
    })
}

pub(crate) fn as_text(path: &Path) -> &str {
    path.to_str().expect("a path")
}

#[expect(
    clippy::disallowed_methods,
    reason = "it stands for people who work with the repositories"
)]
pub(crate) fn git(folder: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=Bob", "-c", "user.email=bob@example.com"])
        .args(args)
        .current_dir(folder)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .expect("git");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {args:?}: {told}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

pub(crate) fn commit_all(folder: &Path, message: &str) {
    git(folder, &["add", "-A"]);
    git(folder, &["commit", "-q", "-m", message]);
}
