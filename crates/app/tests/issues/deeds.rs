//! The use cases as somebody who acts calls them.

use workforce_app::Failure;
use workforce_app::issues::{
    self, AddComment, CheckOut, CreateIssue, IssueError, IssueView, UpdateIssue, UpdatedIssue,
};
use workforce_domain::agent::Agent;
use workforce_domain::change::{Change, Replace};
use workforce_domain::id::CompanyId;
use workforce_domain::issue::{Comment, Issue, IssueStatus};
use workforce_domain::text::CommentBody;
use workforce_testkit::world::{Acting, no_change};

pub(crate) type Outcome<T> = Result<T, Failure<IssueError>>;

/// A checkout by an agent for itself, from the statuses that are expected by default.
pub(crate) const PLAIN: CheckOut = CheckOut {
    agent: None,
    expected: None,
};

/// A change of the status alone.
pub(crate) fn to(status: IssueStatus) -> UpdateIssue {
    UpdateIssue {
        status: Replace::Set(status),
        ..no_change()
    }
}

/// A change of the assignee alone.
pub(crate) fn given_to(agent: &Agent) -> UpdateIssue {
    UpdateIssue {
        assignee_agent_id: Change::Set(agent.id),
        ..no_change()
    }
}

/// A change that takes the assignee away.
pub(crate) fn taken_away() -> UpdateIssue {
    UpdateIssue {
        assignee_agent_id: Change::Clear,
        ..no_change()
    }
}

/// What a comment says.
pub(crate) fn words(body: &str) -> CommentBody {
    CommentBody::parse(body).unwrap()
}

/// A comment that does nothing besides.
pub(crate) fn saying(body: &str) -> AddComment {
    AddComment {
        body: words(body),
        reopen: Some(false),
        interrupt: Some(false),
    }
}

/// A comment that takes ended work up again.
pub(crate) fn reopening(body: &str) -> AddComment {
    AddComment {
        reopen: Some(true),
        ..saying(body)
    }
}

/// A checkout from these statuses.
pub(crate) fn from(expected: &[IssueStatus]) -> CheckOut {
    CheckOut {
        agent: None,
        expected: Some(expected.to_vec()),
    }
}

/// The use cases of issues, each in a transaction of its own.
pub(crate) trait Deeds {
    fn creates(&self, company: CompanyId, command: &CreateIssue) -> Outcome<Issue>;
    fn checks_out_with(&self, issue: &Issue, command: &CheckOut) -> Outcome<IssueView>;
    fn releases(&self, issue: &Issue) -> Outcome<IssueView>;
    fn changes(&self, issue: &Issue, command: &UpdateIssue) -> Outcome<UpdatedIssue>;
    fn adds(&self, issue: &Issue, command: &AddComment) -> Outcome<Comment>;

    fn checks_out(&self, issue: &Issue) -> Outcome<IssueView> {
        self.checks_out_with(issue, &PLAIN)
    }

    fn checks_out_for(&self, issue: &Issue, agent: &Agent) -> Outcome<IssueView> {
        self.checks_out_with(
            issue,
            &CheckOut {
                agent: Some(agent.id),
                expected: None,
            },
        )
    }

    fn moves(&self, issue: &Issue, status: IssueStatus) -> Outcome<UpdatedIssue> {
        self.changes(issue, &to(status))
    }

    fn says(&self, issue: &Issue, body: &str) -> Outcome<Comment> {
        self.adds(issue, &saying(body))
    }
}

impl Deeds for Acting<'_> {
    fn creates(&self, company: CompanyId, command: &CreateIssue) -> Outcome<Issue> {
        self.write(|tx, ctx| issues::create(tx, ctx, company, command.clone()))
            .map(|created| created.view.issue)
    }

    fn checks_out_with(&self, issue: &Issue, command: &CheckOut) -> Outcome<IssueView> {
        self.write(|tx, ctx| issues::check_out(tx, ctx, &issue.id.into(), command.clone()))
    }

    fn releases(&self, issue: &Issue) -> Outcome<IssueView> {
        self.write(|tx, ctx| issues::release(tx, ctx, &issue.id.into()))
    }

    fn changes(&self, issue: &Issue, command: &UpdateIssue) -> Outcome<UpdatedIssue> {
        self.write(|tx, ctx| issues::update(tx, ctx, &issue.id.into(), command.clone()))
    }

    fn adds(&self, issue: &Issue, command: &AddComment) -> Outcome<Comment> {
        self.write(|tx, ctx| issues::add_comment(tx, ctx, &issue.id.into(), command.clone()))
            .map(|commented| commented.comment)
    }
}
