use serde_json::{Value, json};
use workforce_app::activity_log::document;
use workforce_app::authenticate::{AuthError, AuthPolicy, Presented, authenticate};
use workforce_app::{Failure, agents, approvals, issues, projects};
use workforce_domain::ObjectOnly;
use workforce_domain::actor::{Actor, AgentCredential};
use workforce_domain::approval::ApprovalType;
use workforce_domain::id::{AgentId, RunId};
use workforce_domain::project::Workspace;
use workforce_domain::run::RunStatus;
use workforce_domain::text::{CommentBody, Label, Location, Name};

use crate::support::{House, UNTIL_GO, os, shell, variables};

/// Copies the environment it was started with; a shell would add to its own.
fn copying(house: &House) -> Value {
    json!({ "command": "/bin/cp", "args": ["/proc/self/environ", house.path("environ")] })
}

async fn environment_of(house: &House, run: RunId) -> std::collections::BTreeMap<String, String> {
    let run = house.ended(run).await;
    assert_eq!((run.status, run.error), (RunStatus::Succeeded, None));
    variables(&house.path("environ"))
}

fn caller_of(house: &House, token: &str) -> Result<Actor, AuthError> {
    let authorization = format!("Bearer {token}");
    let presented = Presented {
        authorization: Some(&authorization),
        run_header: None,
    };
    let (tokens, now) = (&*house.ports.tokens, house.ports.clock.now());
    let outcome = house
        .store()
        .read(|reads| authenticate(reads, tokens, now, AuthPolicy::token([0; 32]), presented));
    match outcome {
        Ok(authenticated) => Ok(authenticated.caller.actor),
        Err(Failure::Refused(error)) => Err(error),
        Err(Failure::Store(error)) => panic!("{error:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_token_lives_and_dies_with_the_run() {
    let house = House::new();
    let engine = house.start();
    let script = format!("echo $WORKFORCE_API_KEY > key; mv key token; {UNTIL_GO}");
    let agent = house.hire_shell(&script);
    let run = house.invoke(agent).run.id;
    house.file("ready").await;
    let token = house.file("token").await;
    let caller = caller_of(&house, token.trim());
    let Ok(Actor::Agent(caller)) = caller else {
        panic!("{caller:?}")
    };
    assert_eq!((caller.agent, caller.company), (agent, house.company));
    assert_eq!(
        caller.credential,
        AgentCredential::Run {
            run,
            consult: false
        }
    );
    house.go();
    house.ended(run).await;
    assert_eq!(caller_of(&house, token.trim()), Err(AuthError::Invalid));
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_child_sees_what_it_may_and_nothing_else() {
    let house = House::new();
    let mut config = house.config();
    config.server_environment = vec![
        os("PATH", "/usr/bin:/bin"),
        os("HOME", "/home/x"),
        os("LC_ALL", "C.UTF-8"),
        os("XDG_CACHE_HOME", "/cache"),
        os("FORGE_TOKEN", "listed"),
        os("AWS_SECRET_ACCESS_KEY", "secret"),
        os("WORKFORCE_DATABASE_URL", "postgres://secret"),
        os("WORKFORCE_BOARD_TOKEN", "secret"),
    ];
    config.allowed_env = vec!["FORGE_TOKEN".into(), "WORKFORCE_BOARD_TOKEN".into()];
    let engine = house.start_with(config);
    let mut settings = copying(&house);
    settings["env"] = json!({ "OWN": "1", "HOME": { "type": "plain", "value": "/own" } });
    let agent = house.hire(settings);
    let run = house.invoke(agent).run.id;
    let seen = environment_of(&house, run).await;
    let names: Vec<_> = seen.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "FORGE_TOKEN",
            "HOME",
            "LC_ALL",
            "OWN",
            "PATH",
            "WORKFORCE_AGENT_ID",
            "WORKFORCE_API_KEY",
            "WORKFORCE_API_URL",
            "WORKFORCE_COMPANY_ID",
            "WORKFORCE_INSTRUCTIONS_DIR",
            "WORKFORCE_INSTRUCTIONS_FILE",
            "WORKFORCE_RUN_ID",
            "WORKFORCE_WAKE_PAYLOAD_JSON",
            "WORKFORCE_WAKE_REASON",
            "WORKFORCE_WORKSPACE_CWD",
            "XDG_CACHE_HOME",
        ]
    );
    assert_eq!(seen["HOME"], "/own");
    assert_eq!(seen["WORKFORCE_API_URL"], "http://127.0.0.1:3100");
    assert_eq!(seen["WORKFORCE_AGENT_ID"], agent.to_string());
    assert_eq!(seen["WORKFORCE_COMPANY_ID"], house.company.to_string());
    assert_eq!(seen["WORKFORCE_RUN_ID"], run.to_string());
    assert_eq!(seen["WORKFORCE_WAKE_REASON"], "manual");
    assert!(seen["WORKFORCE_API_KEY"].starts_with("wfr_"));
    engine.shutdown().await;
}

fn label(text: &str) -> Label {
    Label::parse(text).expect("a label")
}

fn project(house: &House) -> Workspace {
    let location = |text: &str| Location::parse(text).expect("a location");
    std::fs::create_dir(house.path("checkout")).expect("a folder");
    let command = projects::CreateProject {
        goal_id: None,
        name: Name::parse("Site").expect("a name"),
        description: None,
        status: None,
        goal_ids: Some(Vec::new()),
        lead_agent_id: None,
        target_date: None,
        color: None,
        review_required: Some(false),
        governance: None,
        remote_required: None,
        budget_monthly_cents: None,
        budget_total_cents: None,
        workspace: Some(ObjectOnly(projects::CreateWorkspace {
            name: None,
            cwd: Some(location(&house.path("checkout").display().to_string())),
            repo_url: Some(location("https://example.org/site.git")),
            repo_ref: Some(label("main")),
            default_base_branch: None,
            is_primary: Some(true),
            metadata: Some(document(json!({}))),
        })),
    };
    let view = house.act(|tx, ctx| projects::create(tx, ctx, house.company, command.clone()));
    let project = view.project.id;
    house
        .act(|tx, ctx| projects::workspaces(tx.reads(), ctx, project))
        .remove(0)
}

fn comment(house: &House, issue: workforce_domain::id::IssueId, body: &str) {
    let command = issues::AddComment {
        body: CommentBody::parse(body).expect("a body"),
        reopen: Some(false),
        interrupt: Some(false),
    };
    house.act(|tx, ctx| issues::add_comment(tx, ctx, &issue.into(), command.clone()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_told_of_its_issue_and_of_the_comments_on_it() {
    let house = House::new();
    let workspace = project(&house);
    let mut settings = copying(&house);
    settings["cwd"] = Value::Null;
    let agent = house.hire_with(settings, |command| {
        command.runtime_config = document(json!({ "compat": "paperclip" }));
    });
    house.act(|tx, ctx| agents::pause(tx, ctx, agent));
    let issue = house.assign(agent, |command| {
        command.project_id = Some(workspace.project);
        command.ticket_key = Some(label("SITE-7"));
        command.assignee_adapter_overrides = Some(document(
            json!({ "adapterConfig": { "env": { "EXTRA": "of the issue" } } }),
        ));
    });
    comment(&house, issue, "first");
    comment(&house, issue, "and \"second\"");
    house.act(|tx, ctx| agents::resume(tx, ctx, agent, false));
    let engine = house.start();
    let run = house.runs(&[]).remove(0);
    let seen = environment_of(&house, run.id).await;
    assert_eq!(seen["WORKFORCE_TASK_ID"], issue.to_string());
    assert_eq!(seen["WORKFORCE_TASK_IDENTIFIER"], "ACM-1");
    assert_eq!(seen["WORKFORCE_TICKET_KEY"], "SITE-7");
    assert_eq!(seen["WORKFORCE_LINKED_ISSUE_IDS"], issue.to_string());
    assert_eq!(seen["WORKFORCE_WAKE_REASON"], "issue_assigned");
    assert_eq!(seen["EXTRA"], "of the issue");
    let checkout = house.path("checkout").display().to_string();
    assert_eq!(seen["WORKFORCE_WORKSPACE_CWD"], checkout);
    assert_eq!(seen["WORKFORCE_WORKSPACE_ID"], workspace.id.to_string());
    assert_eq!(
        seen["WORKFORCE_WORKSPACE_REPO_URL"],
        "https://example.org/site.git"
    );
    assert_eq!(seen["WORKFORCE_WORKSPACE_REPO_REF"], "main");
    let payload: Value = serde_json::from_str(&seen["WORKFORCE_WAKE_PAYLOAD_JSON"]).expect("JSON");
    assert_eq!(
        payload["reasons"],
        json!(["issue_assigned", "issue_commented"])
    );
    assert_eq!(payload["issue"]["identifier"], "ACM-1");
    assert_eq!(payload["truncated"], json!(false));
    let comments = payload["comments"].as_array().expect("comments");
    let bodies: Vec<_> = comments.iter().map(|comment| &comment["body"]).collect();
    assert_eq!(bodies, ["first", "and \"second\""]);
    assert_eq!(seen["WORKFORCE_WAKE_COMMENT_ID"], comments[1]["id"]);
    for (name, value) in &seen {
        if let Some(suffix) = name.strip_prefix("WORKFORCE_") {
            assert_eq!(seen.get(&format!("PAPERCLIP_{suffix}")), Some(value));
        }
    }
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn however_much_was_said_a_wake_stays_short() {
    let house = House::new();
    let agent = house.hire(copying(&house));
    house.act(|tx, ctx| agents::pause(tx, ctx, agent));
    let issue = house.assign(agent, |_| ());
    for number in 0..60 {
        comment(
            &house,
            issue,
            &format!("{number} {}", "\u{1}ä\n".repeat(5000)),
        );
    }
    house.act(|tx, ctx| agents::resume(tx, ctx, agent, false));
    let engine = house.start();
    let seen = environment_of(&house, house.runs(&[])[0].id).await;
    let text = &seen["WORKFORCE_WAKE_PAYLOAD_JSON"];
    assert!(text.len() <= 32 * 1024, "{}", text.len());
    let payload: Value = serde_json::from_str(text).expect("JSON");
    assert_eq!(payload["truncated"], json!(true));
    let comments = payload["comments"].as_array().expect("comments");
    assert_eq!(comments.len(), 60);
    assert_eq!(seen["WORKFORCE_WAKE_COMMENT_ID"], comments[59]["id"]);
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_printed_token_is_not_in_the_log() {
    let house = House::new();
    let engine = house.start();
    let script = "printf '<%s' \"${WORKFORCE_API_KEY%????}\"; sleep 0.2; \
        printf '%s>' \"${WORKFORCE_API_KEY#\"${WORKFORCE_API_KEY%????}\"}\"";
    let agent = house.hire_shell(script);
    let run = house.ended(house.invoke(agent).run.id).await;
    assert_eq!(house.log(run.id), "<***REDACTED***>");
    assert_eq!(run.log_tail.as_deref(), Some("<***REDACTED***>"));
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_may_bring_a_key_of_its_own() {
    let house = House::new();
    let engine = house.start();
    let mut settings = copying(&house);
    settings["env"] = json!({ "WORKFORCE_API_KEY": "wfk_its_own" });
    let agent = house.hire(settings);
    let seen = environment_of(&house, house.invoke(agent).run.id).await;
    assert_eq!(seen["WORKFORCE_API_KEY"], "wfk_its_own");
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_issue_overrides_is_checked_by_its_run() {
    let house = House::new();
    let engine = house.start();
    let overridden: AgentId = house.hire(shell("true"));
    let issue = house.assign(overridden, |command| {
        command.assignee_adapter_overrides =
            Some(document(json!({ "adapterConfig": { "args": "x" } })));
    });
    let runs = house.all_ended().await;
    let run = runs
        .iter()
        .find(|run| run.issue == Some(issue))
        .expect("a run");
    assert_eq!(
        run.error.as_deref(),
        Some("adapterConfig.args must be an array of strings")
    );
    engine.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decision_is_told_to_whoever_asked_for_it() {
    let house = House::new();
    let agent = house.hire(copying(&house));
    let company = house.company;
    let filed = house.act(|tx, ctx| {
        let command = approvals::SubmitApproval {
            kind: ApprovalType::AgentQuestion,
            requested_by_agent_id: Some(agent),
            payload: Some(document(json!({ "question": "May I?" }))),
            issue_ids: Some(Vec::new()),
            work: Vec::new(),
        };
        approvals::submit(tx, ctx, company, command)
    });
    let id = filed.view.approval.id;
    house.act(|tx, ctx| approvals::approve(tx, ctx, id, approvals::Decide::default()));
    let engine = house.start();
    let seen = environment_of(&house, house.runs(&[])[0].id).await;
    assert_eq!(seen["WORKFORCE_WAKE_REASON"], "approval_approved");
    assert_eq!(seen["WORKFORCE_APPROVAL_ID"], id.to_string());
    assert_eq!(seen["WORKFORCE_APPROVAL_STATUS"], "approved");
    assert!(!seen.contains_key("WORKFORCE_LINKED_ISSUE_IDS"));
    engine.shutdown().await;
}
