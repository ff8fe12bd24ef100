//! Every list: no table is scanned for it, and nothing is sorted.

use uuid::Uuid;
use workforce_domain::activity::Entity;
use workforce_domain::actor::Scope;
use workforce_domain::approval::{ApprovalStanding, ApprovalType};
use workforce_domain::board::BoardMember;
use workforce_domain::company::CompanyStatus;
use workforce_domain::issue::{IssueStatus, Priority};
use workforce_domain::page::{CreationKey, Order, PageRequest};
use workforce_domain::port::{
    ActivityFilter, AgentFilter, ApprovalFilter, AssigneeFilter, IssueCursor, IssueFilter,
    RevisionCursor, RunFilter,
};
use workforce_domain::run::RunStatus;

use super::Body;
use super::filling::Asked;
use crate::world::{id, later};

/// The first page, and one from the middle of the list.
pub(super) fn pages<K: Copy>(after: K) -> [PageRequest<K>; 2] {
    [None, Some(after)].map(|after| PageRequest {
        after,
        limit: 20,
        max_bytes: usize::MAX,
    })
}

/// A place amid what is ordered by its creation.
fn middle<I: From<Uuid>>() -> CreationKey<I> {
    CreationKey {
        at: later(500).micros(),
        id: id(),
    }
}

/// Every list, under the filters that have an index.
pub(super) fn lists(asked: &Asked) -> Vec<(String, Body<'_>)> {
    let scope = asked.scope;
    let mut lists: Vec<(String, Body<'_>)> = Vec::new();
    for filter in issue_filters(asked) {
        let middle = IssueCursor {
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
                for page in pages(middle()) {
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
        ActivityFilter {
            entity: Some(Entity::Issue),
            ..ActivityFilter::default()
        },
        ActivityFilter {
            agent: Some(asked.agent),
            ..ActivityFilter::of_issue(asked.issue)
        },
    ] {
        lists.push((
            format!("activity {filter:?}"),
            Box::new(move |reads| {
                for page in pages(middle()) {
                    reads.activity().list(scope, &filter, &page)?;
                }
                Ok(())
            }),
        ));
    }
    lists.push((
        "what happened to a run".into(),
        Box::new(move |reads| {
            for page in pages(middle()) {
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
                for page in pages(middle()) {
                    reads.comments().list(scope, asked.issue, order, &page)?;
                }
                Ok(())
            }),
        ));
    }
    lists.push((
        "companies and tokens of the board".into(),
        Box::new(move |reads| {
            // The first page has no condition: reading an index from its start is no search.
            let [_, page] = pages(middle());
            for statuses in [&[][..], &[CompanyStatus::Active, CompanyStatus::Paused]] {
                reads.companies().list(Scope::SYSTEM, statuses, &page)?;
            }
            let [_, page] = pages(middle());
            reads.board_tokens().list(&page)?;
            let [_, page] = pages(middle());
            reads.board_sessions().list(later(0), &page)?;
            Ok(())
        }),
    ));
    lists.push((
        "agents, revisions, goals, projects, credentials, costs, labels and events".into(),
        Box::new(move |reads| {
            for include_terminated in [false, true] {
                let filter = AgentFilter { include_terminated };
                for page in pages(middle()) {
                    reads.agents().list(scope, filter, &page)?;
                }
            }
            for page in pages(RevisionCursor { n: 30 }) {
                reads.revisions().list(scope, asked.agent, &page)?;
            }
            for page in pages(middle()) {
                reads.goals().list(scope, &page)?;
            }
            for page in pages(middle()) {
                reads.secrets().list(scope, &page)?;
            }
            for page in pages(5) {
                reads.secrets().versions(scope, asked.secret, &page)?;
            }
            reads.secrets().uses(scope, asked.secret, 20)?;
            for page in pages(middle()) {
                reads.projects().list(scope, &page)?;
            }
            for page in pages(middle()) {
                reads.credentials().keys(scope, asked.agent, &page)?;
            }
            for page in pages(middle()) {
                reads.ledger().list(scope, &page)?;
            }
            for page in pages(middle()) {
                reads.labels().list(scope, &page)?;
            }
            for page in pages(middle()) {
                reads.attachments().list(scope, asked.issue, &page)?;
            }
            reads.activity().events(scope, 5, 20)?;
            reads.runs().pending_of(scope, asked.agent, 20)?;
            reads.sessions().sessions_of(scope, asked.agent, 20)?;
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
                for page in pages(middle()) {
                    reads.approvals().list(scope, &filter, &page)?;
                }
                Ok(())
            }),
        ));
    }
    lists.push((
        "approvals of an issue, comments on an approval and its history".into(),
        Box::new(move |reads| {
            for page in pages(id()) {
                reads.approvals().of_issue(scope, asked.issue, &page)?;
            }
            for page in pages(middle()) {
                reads.approvals().history_of(scope, id(), &page)?;
            }
            for order in [Order::Ascending, Order::Descending] {
                for page in pages(middle()) {
                    reads.approvals().comments(scope, id(), order, &page)?;
                }
            }
            Ok(())
        }),
    ));
    lists
}

pub(super) fn issue_filters(asked: &Asked) -> Vec<IssueFilter> {
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
            assignee: Some(AssigneeFilter::Board(BoardMember::Token(id()))),
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
    let live = vec![RunStatus::Queued, RunStatus::Running];
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
            agent: Some(asked.agent),
            statuses: live.clone(),
            ..RunFilter::default()
        },
        RunFilter {
            issue: Some(asked.issue),
            statuses: live.clone(),
            ..RunFilter::default()
        },
        RunFilter {
            statuses: live,
            ..RunFilter::default()
        },
    ]
}
