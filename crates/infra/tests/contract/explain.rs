//! Every list is read along an index: no table is scanned and nothing is
//! sorted, however much there is.
//!
//! The statements are taken from the connections of the store as they run, and
//! explained on a connection of our own. PostgreSQL explains the generic plan,
//! which knows the shape of a statement but not its values.

use std::fmt::Write as _;

use diesel::connection::SimpleConnection;
use diesel::sql_types::Text;
use diesel::{Connection, PgConnection, QueryableByName, RunQueryDsl, SqliteConnection, sql_query};
use workforce_domain::Document;
use workforce_domain::activity::{Action, Activity, Entity, Event, EventKind};
use workforce_domain::actor::{ActorKind, CompanyScope, Owned, Scope};
use workforce_domain::agent::{Agent, AgentKey};
use workforce_domain::approval::{
    Approval, ApprovalComment, ApprovalEvent, ApprovalHistoryKind, ApprovalStanding, ApprovalState,
    ApprovalType, Decider, Decision,
};
use workforce_domain::attachment::{Attachment, ObjectName};
use workforce_domain::board::BoardMember;
use workforce_domain::conventions::Conventions;
use workforce_domain::cost::{CostEvent, Window};
use workforce_domain::goal::Goal;
use workforce_domain::id::{AgentId, GoalId, IssueId, LabelId, ProjectId, SecretId};
use workforce_domain::issue::{
    Assignee, Author, Comment, Holder, Issue, IssueStatus, Lease, Priority, Progress,
};
use workforce_domain::page::{CreationKey, Order, PageRequest};
use workforce_domain::port::{
    ActivityFilter, AgentFilter, ApprovalFilter, AssigneeFilter, FoundKey, Held, IssueFilter,
    IssueKey, Reads, RevisionKey, RunFilter, StoreError,
};
use workforce_domain::project::Project;
use workforce_domain::run::RunStatus;
use workforce_domain::search::SearchQuery;
use workforce_domain::text::{CommentBody, LabelName, Name};
use workforce_domain::time::{Month, Timestamp};
use workforce_domain::word::Word;
use workforce_testkit::store::{TestStore, postgres_store, sqlite_store};

use crate::attachments::{asset, attachment};
use crate::engine::cost;
use crate::instructions::{instruct, revision};
use crate::labels::label;
use crate::recorder;
use crate::world::{
    World, agent, execute, goal, id, issue, later, now, number, project, read, wake,
};

const COMPANIES: usize = 3;
const ROWS: usize = 1200;
const PLACES: usize = 20;

/// The queries that `body` runs, without their values.
pub(crate) fn recorded(
    store: &TestStore,
    body: impl FnMut(&mut dyn Reads) -> Result<(), StoreError>,
) -> Vec<String> {
    let mut statements = recorder::recorded(|| read(&**store, body)).run;
    statements.retain(|query| query.starts_with("SELECT") || query.starts_with("WITH"));
    statements
}

#[derive(QueryableByName)]
struct SqliteLine {
    #[diesel(sql_type = Text)]
    detail: String,
}

#[derive(QueryableByName)]
pub(crate) struct PostgresLine {
    #[diesel(sql_type = Text, column_name = "QUERY PLAN")]
    pub(crate) line: String,
}

pub(crate) fn plan(store: &TestStore, query: &str, may_sort: bool) -> Vec<String> {
    if store.connection().starts_with("postgres") {
        let mut connection = PgConnection::establish(store.connection()).unwrap();
        let (query, parameters) = prepared(query);
        let nulls = vec!["NULL"; parameters].join(", ");
        let arguments = if nulls.is_empty() {
            nulls
        } else {
            format!("({nulls})")
        };
        // For a handful of rows, which is what statistics of small tables promise at times, it is
        // cheaper to gather them and sort. What counts is that an index gives the order: without
        // one the sort stays, whatever is said here.
        // In the same way, a walk of a few steps may as well read a small table as a whole.
        let settings = if may_sort {
            "SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_seqscan = off;"
        } else {
            "SET enable_bitmapscan = off; SET enable_sort = off;"
        };
        connection
            .batch_execute(&format!(
                "SET plan_cache_mode = force_generic_plan; {settings} PREPARE explained AS {query}"
            ))
            .unwrap();
        let lines: Vec<PostgresLine> = sql_query(format!("EXPLAIN EXECUTE explained {arguments}"))
            .load(&mut connection)
            .unwrap();
        lines.into_iter().map(|line| line.line).collect()
    } else {
        let mut connection = SqliteConnection::establish(store.connection()).unwrap();
        let lines: Vec<SqliteLine> = sql_query(format!("EXPLAIN QUERY PLAN {query}"))
            .load(&mut connection)
            .unwrap();
        lines.into_iter().map(|line| line.detail).collect()
    }
}

/// The query with a page's size in the place of its last parameter, which
/// PostgreSQL would otherwise take for a tenth of the table; and how many
/// parameters are left.
pub(crate) fn prepared(query: &str) -> (String, usize) {
    let query = match query.rfind("LIMIT $") {
        Some(limit) => format!("{}LIMIT 21", &query[..limit]),
        None => query.to_owned(),
    };
    let parameters = query
        .split('$')
        .skip(1)
        .filter_map(|rest| {
            let digits = rest
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(rest.len());
            rest[..digits].parse().ok()
        })
        .max()
        .unwrap_or(0);
    (query, parameters)
}

/// What a plan must not do.
fn fault(line: &str, may_sort: bool) -> bool {
    // The index of words is looked up, not walked, where a match is asked for.
    let of_words = line.contains(" VIRTUAL TABLE INDEX ") && line.ends_with(":M1");
    let scans = line.contains("Seq Scan") || (line.starts_with("SCAN") && !of_words);
    let sorts = line.contains("Sort") || line.contains("TEMP B-TREE FOR");
    let in_memory = ["SCAN chain", "SCAN up", "SCAN below", "SCAN CONSTANT ROW"].contains(&line);
    // What is looked up has more of a key than its company.
    let walks_company = may_sort && line.ends_with("(company_id=?)");
    (scans && !in_memory) || (sorts && !may_sort) || walks_company
}

/// What the lists are asked about.
pub(crate) struct Asked {
    pub(crate) scope: CompanyScope,
    agent: AgentId,
    project: ProjectId,
    goal: GoalId,
    issue: IssueId,
    /// A label of every issue, and one of a few.
    common: LabelId,
    rare: LabelId,
    secret: SecretId,
}

/// Companies with some thousand rows in each table, of which the last is asked
/// about.
pub(crate) fn fill(store: &TestStore) -> Asked {
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
                assignee: Assignee::Agent(agents[n % PLACES].id),
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
                tx.labels_mut().insert(label)?;
            }
            for n in 0..ROWS / 4 {
                tx.labels_mut().insert(&label(&world, &n.to_string()))?;
            }
            for (agent, (goal, project)) in agents.iter().zip(goals.iter().zip(&projects)) {
                tx.agents_mut().insert(agent)?;
                instruct(tx, agent)?;
                tx.goals_mut().insert(goal)?;
                tx.projects_mut().insert(project)?;
                let conventions = Conventions::none(project.company, project.id);
                tx.projects_mut()
                    .save_conventions(&Held::locked(project.clone()), &conventions)?;
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
                let holder = Holder::Agent(agents[n % PLACES].id);
                let lease = Lease {
                    issue: held.id,
                    company: held.company,
                    holder,
                    fence: 0,
                    expires_at: holder.expiry(now()),
                };
                tx.issues_mut().take_lease(&held, lease)?;
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
    tx: &mut dyn workforce_domain::port::Tx,
    world: &World<'_>,
    agent: &Agent,
    issue: &Issue,
    seconds: u64,
) -> Result<(), StoreError> {
    let at = later(seconds);
    let turn = seconds as usize;
    let approval = approval(world, agent, at, turn);
    tx.approvals_mut().insert(&approval, &[issue.id], None)?;
    tx.approvals_mut().add_event(&ApprovalEvent {
        id: id(),
        company: approval.company,
        approval: approval.id,
        kind: ApprovalHistoryKind::Created,
        actor_kind: ActorKind::Agent,
        actor_id: "x".into(),
        note: None,
        details: Document::new(),
        created_at: at,
    })?;
    tx.approvals_mut().add_comment(&ApprovalComment {
        id: id(),
        company: approval.company,
        approval: approval.id,
        author: Author::default(),
        run: None,
        body: CommentBody::new("x").unwrap(),
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
        created_at: at,
        updated_at: at,
    }
}

/// A secret with versions.
fn add_secret(
    tx: &mut dyn workforce_domain::port::Tx,
    world: &World<'_>,
    secret: SecretId,
    n: usize,
) -> Result<(), StoreError> {
    tx.secrets_mut().insert(&crate::secrets::secret(
        &world.company,
        secret,
        &format!("s{n}"),
    ))?;
    (1..5).try_for_each(|number| {
        let version = crate::secrets::version(&world.company, secret, number);
        tx.secrets_mut().insert_version(&version)
    })
}

/// A comment, an attachment, a run, an activity, an event, a key and a cost.
fn add_records(
    tx: &mut dyn workforce_domain::port::Tx,
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
        body: CommentBody::new("x").unwrap(),
        mentions: Vec::new(),
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
    tx.runs_mut().cancel_pending(
        world.scope(),
        workforce_domain::port::StopScope::Agent(agent.id),
        later(seconds),
    )?;
    tx.runs_mut().queue(&wake, &run)?;
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
    tx.credentials_mut().insert_key(&AgentKey {
        id: id(),
        company: world.company.id,
        agent: agent.id,
        name: Name::new("k").unwrap(),
        prefix: "wfk".into(),
        digest,
        created_at: later(seconds),
        last_used_at: None,
        revoked_at: None,
    })?;
    let n = i32::try_from(seconds / PLACES as u64).unwrap() + 1;
    tx.revisions_mut().insert(&revision(agent, n))?;
    tx.ledger_mut().record(&CostEvent {
        agent: agent.id,
        created_at: later(seconds),
        ..cost(world, "1")
    })
}

/// The first page, and one from the middle of the list.
fn pages<K: Copy>(after: K) -> [PageRequest<K>; 2] {
    [None, Some(after)].map(|after| PageRequest {
        after,
        limit: 20,
        max_bytes: usize::MAX,
    })
}

type Body<'a> = Box<dyn FnMut(&mut dyn Reads) -> Result<(), StoreError> + 'a>;

/// Every list, under the filters that have an index.
fn lists(asked: &Asked) -> Vec<(String, Body<'_>)> {
    let scope = asked.scope;
    let mut lists: Vec<(String, Body<'_>)> = Vec::new();
    for filter in issue_filters(asked) {
        let middle = IssueKey {
            rank: 2,
            updated_at: later(500).micros(),
            id: asked.issue,
        };
        lists.push((
            format!("issues {filter:?}"),
            Box::new(move |reads| {
                for page in pages(middle) {
                    reads.issues().list(scope, &filter, &page)?;
                }
                Ok(())
            }),
        ));
    }
    for filter in run_filters(asked) {
        lists.push((
            format!("runs {filter:?}"),
            Box::new(move |reads| {
                for page in pages(CreationKey {
                    at: later(500).micros(),
                    id: id(),
                }) {
                    reads.runs().list(scope, &filter, &page)?;
                }
                Ok(())
            }),
        ));
    }
    for filter in [
        ActivityFilter::default(),
        ActivityFilter::of_issue(asked.issue),
        ActivityFilter {
            entity_id: Some("x".into()),
            ..ActivityFilter::default()
        },
        ActivityFilter {
            agent: Some(asked.agent),
            ..ActivityFilter::default()
        },
    ] {
        lists.push((
            format!("activity {filter:?}"),
            Box::new(move |reads| {
                for page in pages(CreationKey {
                    at: later(500).micros(),
                    id: id(),
                }) {
                    reads.activity().list(scope, &filter, &page)?;
                }
                Ok(())
            }),
        ));
    }
    lists.push((
        "what happened to a run".into(),
        Box::new(move |reads| {
            for page in pages(CreationKey {
                at: later(500).micros(),
                id: id(),
            }) {
                reads.activity().of_run(scope, id(), &page)?;
            }
            Ok(())
        }),
    ));
    lists.extend(approval_lists(asked));
    for order in [Order::Ascending, Order::Descending] {
        lists.push((
            format!("comments {order:?}"),
            Box::new(move |reads| {
                for page in pages(CreationKey {
                    at: later(500).micros(),
                    id: id(),
                }) {
                    reads.comments().list(scope, asked.issue, order, &page)?;
                }
                Ok(())
            }),
        ));
    }
    lists.push((
        "agents, revisions, goals, projects, credentials, costs, labels and events".into(),
        Box::new(move |reads| {
            let at = later(0).micros();
            let filter = AgentFilter {
                include_terminated: false,
            };
            for page in pages(CreationKey { at, id: id() }) {
                reads.agents().list(scope, filter, &page)?;
            }
            for page in pages(RevisionKey { n: 30 }) {
                reads.revisions().list(scope, asked.agent, &page)?;
            }
            for page in pages(CreationKey { at, id: id() }) {
                reads.goals().list(scope, &page)?;
            }
            for page in pages(CreationKey { at, id: id() }) {
                reads.secrets().list(scope, &page)?;
            }
            for page in pages(5) {
                reads.secrets().versions(scope, asked.secret, &page)?;
            }
            reads.secrets().uses(scope, asked.secret, 20)?;
            for page in pages(CreationKey { at, id: id() }) {
                reads.projects().list(scope, &page)?;
            }
            for page in pages(CreationKey { at, id: id() }) {
                reads.credentials().keys(scope, asked.agent, &page)?;
            }
            // The first page has no condition: reading an index from its start is no search.
            let [_, page] = pages(CreationKey { at, id: id() });
            reads.board_tokens().list(&page)?;
            for page in pages(CreationKey { at, id: id() }) {
                reads.ledger().list(scope, &page)?;
            }
            for page in pages(CreationKey { at, id: id() }) {
                reads.labels().list(scope, &page)?;
            }
            for page in pages(CreationKey { at, id: id() }) {
                reads.attachments().list(scope, asked.issue, &page)?;
            }
            reads.activity().events(scope, 5, 20)?;
            Ok(())
        }),
    ));
    lists
}

/// The lists of approvals and of what belongs to them.
fn approval_lists(asked: &Asked) -> Vec<(String, Body<'_>)> {
    let scope = asked.scope;
    let mut lists: Vec<(String, Body<'_>)> = Vec::new();
    let standings = vec![ApprovalStanding::Resubmitted, ApprovalStanding::Approved];
    let types = vec![ApprovalType::HireAgent, ApprovalType::AgentQuestion];
    for filter in [
        ApprovalFilter::default(),
        ApprovalFilter {
            standings: standings.clone(),
            types: Vec::new(),
        },
        ApprovalFilter {
            standings: Vec::new(),
            types: types.clone(),
        },
        ApprovalFilter { standings, types },
    ] {
        lists.push((
            format!("approvals {filter:?}"),
            Box::new(move |reads| {
                for page in pages(CreationKey {
                    at: later(500).micros(),
                    id: id(),
                }) {
                    reads.approvals().list(scope, &filter, &page)?;
                }
                Ok(())
            }),
        ));
    }
    lists.push((
        "approvals of an issue, comments on an approval".into(),
        Box::new(move |reads| {
            for page in pages(id()) {
                reads.approvals().of_issue(scope, asked.issue, &page)?;
            }
            for order in [Order::Ascending, Order::Descending] {
                for page in pages(CreationKey {
                    at: later(500).micros(),
                    id: id(),
                }) {
                    reads.approvals().comments(scope, id(), order, &page)?;
                }
            }
            Ok(())
        }),
    ));
    lists
}

fn issue_filters(asked: &Asked) -> Vec<IssueFilter> {
    let base = IssueFilter::default;
    let open = vec![
        IssueStatus::Todo,
        IssueStatus::InProgress,
        IssueStatus::Blocked,
    ];
    let assignee = Some(AssigneeFilter::Agent(asked.agent));
    vec![
        base(),
        IssueFilter {
            statuses: vec![IssueStatus::Todo],
            ..base()
        },
        IssueFilter {
            statuses: open.clone(),
            ..base()
        },
        IssueFilter {
            priorities: vec![Priority::High, Priority::Medium],
            ..base()
        },
        IssueFilter { assignee, ..base() },
        IssueFilter {
            assignee,
            statuses: open.clone(),
            ..base()
        },
        IssueFilter {
            assignee: Some(AssigneeFilter::User(id())),
            ..base()
        },
        IssueFilter {
            project: Some(asked.project),
            ..base()
        },
        IssueFilter {
            project: Some(asked.project),
            statuses: open,
            ..base()
        },
        IssueFilter {
            goal: Some(asked.goal),
            ..base()
        },
        IssueFilter {
            parent: Some(asked.issue),
            ..base()
        },
        IssueFilter {
            labels: vec![asked.common],
            ..base()
        },
        IssueFilter {
            labels: vec![asked.common, asked.rare],
            assignee,
            ..base()
        },
        IssueFilter {
            labels: vec![asked.rare],
            ..base()
        },
    ]
}

fn run_filters(asked: &Asked) -> Vec<RunFilter> {
    vec![
        RunFilter::default(),
        RunFilter {
            agent: Some(asked.agent),
            ..RunFilter::default()
        },
        RunFilter {
            issue: Some(asked.issue),
            ..RunFilter::default()
        },
        RunFilter {
            statuses: vec![RunStatus::Queued, RunStatus::Running],
            ..RunFilter::default()
        },
    ]
}

/// Look-ups and sums that need no order of their own.
fn others(asked: &Asked) -> Vec<(String, Body<'_>)> {
    let scope = asked.scope;
    let month = Month::of(now());
    vec![
        (
            "look-ups".into(),
            Box::new(move |reads: &mut dyn Reads| {
                reads.agents().find(Scope::Instance, asked.agent)?;
                reads.agents().find_by_url_key(scope, "ada")?;
                reads.agents().chain_of_command(scope, asked.agent)?;
                reads.agents().running(scope, &[asked.agent])?;
                reads.revisions().find(scope.into(), id())?;
                reads.revisions().last_number(scope, asked.agent)?;
                reads.instructions().pointer(scope, asked.agent)?;
                reads.instructions().manifest(scope, asked.agent, 1)?;
                reads.instructions().content(scope, asked.agent, "x")?;
                reads.credentials().key(&[0; 32])?;
                reads.credentials().run_token(&[0; 32])?;
                reads.issues().find(Scope::Instance, &asked.issue.into())?;
                reads.issues().find(
                    scope.into(),
                    &workforce_domain::issue::IssueRef::Identifier("A-1".into()),
                )?;
                reads.issues().ancestors(scope, asked.issue)?;
                reads.issues().depth_below(scope, asked.issue)?;
                reads.issues().open_children(scope, asked.issue)?;
                reads.issues().lease(scope, asked.issue)?;
                reads
                    .labels()
                    .find_by_name(scope, &LabelName::new("x").unwrap())?;
                reads.labels().of_issues(scope, &[asked.issue])?;
                reads.labels().of_issues(scope, &[asked.issue, id()])?;
                reads.agents().has_reports(scope, asked.agent)?;
                reads.projects().find_by_url_key(scope, "site")?;
                reads.issues().find_all(scope, &[asked.issue])?;
                let approvals = reads.approvals();
                approvals.find(Scope::Instance, id())?;
                approvals.undecided_of(scope, asked.issue)?;
                let kind = ApprovalType::ApproveIssuePlan;
                approvals.undecided_about(scope, kind, asked.issue)?;
                approvals.of_draft(scope, asked.agent)?;
                approvals.draft_of(scope, id())?;
                approvals.links(scope, &[id(), id()])?;
                approvals.history(scope, &[id(), id()])?;
                reads.projects().find_workspace(scope, id())?;
                reads.goals().is_within(scope, asked.goal, asked.goal)?;
                reads.attachments().find(Scope::Instance, id())?;
                reads.attachments().assets_among(&[ObjectName {
                    company: scope.company(),
                    asset: id(),
                }])?;
                reads.runs().wake_of(scope, id())?;
                reads.runs().live_of(scope, asked.agent)?;
                reads.runs().pending_of(scope, asked.agent, 20)?;
                reads.agents().timer(scope, asked.agent)?;
                reads.agents().has_work(scope, asked.agent)?;
                reads.projects().conventions(scope, asked.project)?;
                reads.ledger().find_by_key(scope, asked.agent, "k")?;
                Ok(())
            }) as Body<'_>,
        ),
        (
            "search".into(),
            Box::new(move |reads: &mut dyn Reads| {
                for typed in ["x", "fix this", "C1-7"] {
                    let query = SearchQuery::parse(typed).unwrap();
                    for filter in issue_filters(asked) {
                        let [first, _] = pages(FoundKey {
                            found: 2,
                            rank: 2,
                            updated_at: 0,
                            id: asked.issue,
                        });
                        reads.issues().search(scope, &query, &filter, &first)?;
                    }
                }
                reads.issues().live_child(scope, asked.issue, &[0; 32])?;
                Ok(())
            }) as Body<'_>,
        ),
        (
            "sums".into(),
            Box::new(move |reads: &mut dyn Reads| {
                let window = Window {
                    start: month.start(),
                    end: month.end(),
                };
                reads.ledger().total(scope, window)?;
                reads.ledger().by_agent(scope, window)?;
                Ok(())
            }),
        ),
    ]
}

/// Collects every fault of every plan.
fn faults(store: &TestStore, asked: &Asked) -> String {
    let mut report = String::new();
    let all = lists(asked).into_iter().map(|list| (list, false));
    for ((name, body), may_sort) in all.chain(others(asked).into_iter().map(|it| (it, true))) {
        let queries = recorded(store, body);
        assert!(!queries.is_empty(), "{name} asks the database");
        for query in queries {
            let lines = plan(store, &query, may_sort);
            if lines.iter().any(|line| fault(line, may_sort)) {
                let _ = writeln!(report, "{name}\n{query}\n  {}\n", lines.join("\n  "));
            }
        }
    }
    report
}

#[test]
fn sqlite_reads_every_list_along_an_index() {
    recorder::install();
    let store = sqlite_store();
    let asked = fill(&store);
    let blind = faults(&store, &asked);
    assert!(blind.is_empty(), "{blind}");
    execute(&store, "ANALYZE");
    let informed = faults(&store, &asked);
    assert!(informed.is_empty(), "{informed}");
}

#[test]
fn postgres_reads_every_list_along_an_index() {
    recorder::install();
    let Some(store) = postgres_store() else {
        return;
    };
    let asked = fill(&store);
    execute(&store, "ANALYZE");
    let faults = faults(&store, &asked);
    assert!(faults.is_empty(), "{faults}");
}

#[test]
fn a_scan_and_a_sort_are_told_from_the_use_of_an_index() {
    for (line, scans, sorts) in [
        ("Seq Scan on issues", true, false),
        ("SCAN issues", true, false),
        ("SCAN issues USING INDEX issues_by_goal", true, false),
        ("SCAN chain", false, false),
        ("CTE Scan on chain", false, false),
        ("Index Scan using issues_by_goal on issues", false, false),
        ("USE TEMP B-TREE FOR ORDER BY", false, true),
        ("USE TEMP B-TREE FOR LAST TERM OF ORDER BY", false, true),
        ("  Sort Key: updated_at", false, true),
        ("  ->  Incremental Sort", false, true),
    ] {
        assert_eq!(fault(line, true), scans, "{line}");
        assert_eq!(fault(line, false), scans || sorts, "{line}");
    }
    // A list may follow its company; a look-up must know more.
    let company = "SEARCH issues USING INDEX issues_by_urgency (company_id=?)";
    assert!(!fault(company, false));
    assert!(fault(company, true));
}
