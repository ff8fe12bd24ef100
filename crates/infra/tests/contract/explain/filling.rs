//! Companies with so much in every table that a scan would tell.

use workforce_domain::Document;
use workforce_domain::activity::{Action, Activity, Entity, Event, EventKind};
use workforce_domain::actor::{ActorKind, CompanyOwned, CompanyScope};
use workforce_domain::agent::{Agent, AgentKey};
use workforce_domain::approval::{
    Approval, ApprovalComment, ApprovalEvent, ApprovalHistoryEntry, ApprovalHistoryKind,
    ApprovalState, ApprovalType, Decider, Decision,
};
use workforce_domain::attachment::Attachment;
use workforce_domain::board::BoardMember;
use workforce_domain::conventions::Conventions;
use workforce_domain::cost::CostEvent;
use workforce_domain::goal::Goal;
use workforce_domain::id::{AgentId, GoalId, IssueId, LabelId, ProjectId, SecretId};
use workforce_domain::issue::{
    Assignee, Assignment, Author, Comment, Issue, IssueStatus, Priority, Progress,
};
use workforce_domain::port::{Locked, NewLease, Shared, StopScope, StoreError, Tx};
use workforce_domain::project::Project;
use workforce_domain::session::TaskKey;
use workforce_domain::string_enum::StringEnum;
use workforce_domain::text::{CommentBody, Name};
use workforce_domain::time::Timestamp;
use workforce_testkit::store::TestStore;

use super::tickets::{add_execution, add_ticket};
use crate::attachments::{asset, attachment};
use crate::engine::cost;
use crate::instructions::{instruct, revision};
use crate::labels::label;
use crate::sessions::{gate, session};
use crate::world::{World, agent, goal, id, issue, later, now, number, project, queue, wake};

const COMPANIES: usize = 3;
const ROWS: usize = 1200;
const PLACES: usize = 20;

/// What the lists are asked about.
pub(super) struct Asked {
    pub(super) scope: CompanyScope,
    pub(super) agent: AgentId,
    pub(super) project: ProjectId,
    pub(super) goal: GoalId,
    pub(super) issue: IssueId,
    /// A label of every issue, and one of a few.
    pub(super) common: LabelId,
    pub(super) rare: LabelId,
    pub(super) secret: SecretId,
}

/// Companies with some thousand rows in each table, of which the last is asked
/// about.
pub(super) fn fill(store: &TestStore) -> Asked {
    let mut asked = None;
    for _ in 0..COMPANIES {
        let world = World::new(store);
        let agents: Vec<Agent> = (0..ROWS / 4).map(|_| agent(&world.company)).collect();
        let goals: Vec<Goal> = (0..ROWS / 4).map(|_| goal(&world.company)).collect();
        let projects: Vec<Project> = (0..ROWS / 4).map(|_| project(&world.company)).collect();
        let issues: Vec<Issue> = (0..ROWS)
            .map(|n| Issue {
                project: Some(projects[n % PLACES].id),
                goal: Some(goals[n % PLACES].id),
                assignee: Assignment::stored(Assignee::Agent(agents[n % PLACES].id)),
                progress: Progress::begin(IssueStatus::ALL[n % 7], now()),
                priority: Priority::ALL[n % 4],
                updated_at: later(n as u64),
                ..issue(&world.company)
            })
            .collect();
        let labels = ["common", "rare"].map(|name| label(&world, name));
        let secrets: Vec<SecretId> = (0..ROWS / 4).map(|_| id()).collect();
        world.write(|tx| {
            for label in &labels {
                tx.labels_mut().insert(label.clone())?;
            }
            for n in 0..ROWS / 4 {
                tx.labels_mut().insert(label(&world, &n.to_string()))?;
            }
            for (agent, (goal, project)) in agents.iter().zip(goals.iter().zip(&projects)) {
                tx.agents_mut().insert(agent.clone())?;
                instruct(tx, agent)?;
                tx.goals_mut().insert(goal.clone())?;
                tx.projects_mut().insert(project.clone())?;
                let held = Locked::assume_locked(project.clone());
                tx.projects_mut().set_goals(&held, &[goal.id])?;
                let conventions = Conventions::none(project.company, project.id);
                tx.projects_mut().save_conventions(&held, &conventions)?;
            }
            for (n, issue) in issues.iter().enumerate() {
                let issue = Issue {
                    parent: (n >= PLACES).then(|| issues[n % PLACES].id),
                    ..issue.clone()
                };
                let held = tx.issues_mut().insert(issue)?;
                let count = if n % 100 == 0 { 2 } else { 1 };
                tx.labels_mut()
                    .set_for_issue(&held, &labels.each_ref().map(|it| it.id)[..count])?;
                let mut key = [0; 32];
                key[..8].copy_from_slice(&number().to_be_bytes());
                tx.issues_mut().set_child_key(&held, &key)?;
                let holder = Shared::assume_locked(agents[n % PLACES].clone()).employed();
                let holder = holder.expect("it is employed");
                let lease = NewLease::of(&held, &holder, None, now());
                tx.issues_mut().take_lease(&held, lease)?;
                let task = TaskKey::Issue(held.id);
                let session = session(&agents[n % PLACES], task, n as u64);
                tx.sessions_mut().save_session(&session)?;
                let gate = gate(&world, &n.to_string(), n as u64);
                tx.sessions_mut().note_gate(&gate)?;
            }
            for (n, (issue, project)) in issues.iter().zip(&projects).enumerate() {
                add_ticket(tx, issue, project, n as u64)?;
            }
            for (n, secret) in secrets.iter().enumerate() {
                add_secret(tx, &world, *secret, n)?;
            }
            for n in 0..ROWS {
                add_approval(
                    tx,
                    &world,
                    &agents[n % PLACES],
                    &issues[n % PLACES],
                    n as u64,
                )?;
                add_records(
                    tx,
                    &world,
                    &agents[n % PLACES],
                    &issues[n % PLACES],
                    n as u64,
                )?;
            }
            Ok(())
        });
        asked = Some(Asked {
            scope: world.company.scope(),
            agent: agents[0].id,
            project: projects[0].id,
            goal: goals[0].id,
            issue: issues[0].id,
            common: labels[0].id,
            rare: labels[1].id,
            secret: secrets[0],
        });
    }
    asked.expect("there are companies")
}

/// An approval with a link, an entry of its history and a comment.
fn add_approval(
    tx: &mut dyn Tx,
    world: &World<'_>,
    agent: &Agent,
    issue: &Issue,
    seconds: u64,
) -> Result<(), StoreError> {
    let at = later(seconds);
    let turn = seconds as usize;
    let issue = Locked::assume_locked(issue.clone());
    let approval = approval(world, agent, at, turn);
    let approval = tx.approvals_mut().insert(approval, &[issue], None)?;
    add_execution(tx, &approval, seconds)?;
    let event = ApprovalEvent {
        id: id(),
        company: approval.company,
        approval: approval.id,
        kind: ApprovalHistoryKind::Created,
        actor_kind: ActorKind::Agent,
        actor_id: "x".into(),
        note: None,
        details: Document::new(),
        created_at: at,
    };
    let payload = Some(Document::new());
    tx.approvals_mut()
        .add_event(&ApprovalHistoryEntry { event, payload })?;
    tx.approvals_mut().add_comment(&ApprovalComment {
        id: id(),
        company: approval.company,
        approval: approval.id,
        author: Author::default(),
        run: None,
        body: CommentBody::parse("x").unwrap(),
        mentions: Vec::new(),
        created_at: at,
    })
}

/// An approval whose type and status depend on its turn.
fn approval(world: &World<'_>, agent: &Agent, at: Timestamp, turn: usize) -> Approval {
    let decision = Decision {
        by: Decider(BoardMember::Local),
        note: None,
        at,
    };
    let state = match turn % 4 {
        0 => ApprovalState::Pending,
        1 => ApprovalState::Approved { decision },
        2 => ApprovalState::RevisionRequested { decision },
        _ => ApprovalState::Cancelled { at },
    };
    Approval {
        id: id(),
        company: world.company.id,
        kind: ApprovalType::ALL[turn % 9],
        state,
        payload: Document::new(),
        attention: Vec::new(),
        requested_by: Author::Agent(agent.id),
        primary_issue: None,
        resubmit_count: 0,
        revision: 1,
        created_at: at,
        updated_at: at,
    }
}

/// A secret with versions.
fn add_secret(
    tx: &mut dyn Tx,
    world: &World<'_>,
    secret: SecretId,
    n: usize,
) -> Result<(), StoreError> {
    let held = tx.secrets_mut().insert(crate::secrets::secret(
        &world.company,
        secret,
        &format!("s{n}"),
    ))?;
    (1..5).try_for_each(|number| {
        let version = crate::secrets::version(&world.company, secret, number);
        tx.secrets_mut().insert_version(&held, &version)
    })
}

/// A comment, an attachment, a run, an activity, an event, a key and a cost.
fn add_records(
    tx: &mut dyn Tx,
    world: &World<'_>,
    agent: &Agent,
    issue: &Issue,
    seconds: u64,
) -> Result<(), StoreError> {
    tx.comments_mut().insert(&Comment {
        id: id(),
        company: world.company.id,
        issue: issue.id,
        author: Author::default(),
        run: None,
        body: CommentBody::parse("x").unwrap(),
        mentions: Vec::new(),
        review: None,
        position: None,
        created_at: later(seconds),
    })?;
    let asset = tx
        .attachments_mut()
        .keep_asset(&asset(&world.company, number()))?;
    tx.attachments_mut().insert(&Attachment {
        created_at: later(seconds),
        ..attachment(issue, asset)
    })?;
    let (wake, mut run) = wake(agent, Some(issue));
    run.created_at = later(seconds);
    tx.runs_mut()
        .cancel_pending(world.scope(), StopScope::Agent(agent.id), later(seconds))?;
    queue(tx, &wake, &run)?;
    tx.journal().activity(Activity {
        id: id(),
        company: world.company.id,
        actor_kind: ActorKind::Agent,
        actor_id: "x".into(),
        agent: Some(agent.id),
        run: None,
        action: Action::IssueUpdated,
        entity: Entity::Issue,
        entity_id: issue.id.to_string(),
        details: Document::new(),
        created_at: later(seconds),
    });
    tx.journal().event(Event {
        company: world.company.id,
        kind: EventKind::IssueUpdated,
        payload: Document::new(),
        created_at: later(seconds),
    });
    let mut digest = [0; 32];
    digest[..8].copy_from_slice(&number().to_be_bytes());
    let key = AgentKey {
        id: id(),
        company: world.company.id,
        agent: agent.id,
        name: Name::parse("k").unwrap(),
        prefix: "wfk".into(),
        digest,
        created_at: later(seconds),
        last_used_at: None,
        revoked_at: None,
    };
    let held = Locked::assume_locked(agent.clone());
    tx.credentials_mut().insert_key(&held, &key)?;
    let n = i32::try_from(seconds / PLACES as u64).unwrap() + 1;
    tx.revisions_mut().insert(&revision(agent, n))?;
    tx.ledger_mut().record(&CostEvent {
        agent: agent.id,
        project: issue.project,
        created_at: later(seconds),
        ..cost(world, "1")
    })
}
