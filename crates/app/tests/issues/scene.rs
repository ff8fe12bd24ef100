//! A company with agents, and what is stored about an issue.

use std::convert::Infallible;

use serde_json::json;
use workforce_app::Failure;
use workforce_app::agents::CreateAgent;
use workforce_app::issues::{CreateIssue, IssueError};
use workforce_domain::Document;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::agent::Agent;
use workforce_domain::company::Company;
use workforce_domain::id::RunId;
use workforce_domain::issue::{CheckoutConflict, Comment, Issue, IssueStatus, Lease};
use workforce_domain::lifecycle::IllegalTransition;
use workforce_domain::page::{Order, PageRequest};
use workforce_domain::port::{ActivityFilter, Reads, RunFilter, StoreError};
use workforce_domain::run::{Run, RunStatus};
use workforce_domain::text::Role;
use workforce_domain::wake::{Wake, WakeReason};
use workforce_testkit::world::{World, done, new_agent, new_company, new_issue, refused};

use crate::deeds::{Deeds, Outcome};

/// A company with two engineers who have nothing to say to each other.
pub(crate) struct Scene {
    pub(crate) world: World,
    pub(crate) company: Company,
    pub(crate) ada: Agent,
    pub(crate) bob: Agent,
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self::in_world(World::sqlite())
    }

    pub(crate) fn in_world(world: World) -> Self {
        let company = world.company_with(&new_company("Acme"));
        let ada = world.hired_with(company.id, &at_once("Ada", 3));
        let bob = world.hired_with(company.id, &at_once("Bob", 3));
        Self {
            world,
            company,
            ada,
            bob,
        }
    }

    /// An issue that the board made in some status for Ada.
    pub(crate) fn adas(&self, status: IssueStatus) -> Issue {
        self.issue(status, Some(&self.ada))
    }

    /// An issue that the board made in some status for nobody.
    pub(crate) fn nobodys(&self, status: IssueStatus) -> Issue {
        self.issue(status, None)
    }

    fn issue(&self, status: IssueStatus, assignee: Option<&Agent>) -> Issue {
        let command = CreateIssue {
            status: Some(status),
            assignee_agent_id: assignee.map(|agent| agent.id),
            ..new_issue("Fix the printer")
        };
        self.world.issue_with(self.company.id, &command)
    }

    /// An issue in todo that Ada made for herself, of which nobody was told.
    pub(crate) fn adas_own(&self) -> Issue {
        let command = CreateIssue {
            status: Some(IssueStatus::Todo),
            assignee_agent_id: Some(self.ada.id),
            ..new_issue("Write it down")
        };
        done(
            self.world
                .agent(self.ada.id)
                .creates(self.company.id, &command),
        )
    }

    /// An issue that Ada works on by a key, of which nobody was told.
    pub(crate) fn adas_work(&self) -> Issue {
        let issue = self.adas_own();
        done(self.world.agent(self.ada.id).checks_out(&issue)).issue
    }

    /// An issue of Ada's with the live run that holds it, and another live run of hers.
    pub(crate) fn held_beside_another(&self) -> (Issue, RunId, RunId) {
        let (issue, _other) = (self.adas(IssueStatus::Todo), self.adas(IssueStatus::Todo));
        let runs = self.world.start_all();
        let at_work = |on: bool| {
            runs.iter()
                .find(|it| (it.run.issue == Some(issue.id)) == on)
                .unwrap()
        };
        let (own, second) = (at_work(true).run.id, at_work(false).run.id);
        done(self.world.run_of(own).checks_out(&issue));
        (issue, own, second)
    }

    /// The issue as it is stored now.
    pub(crate) fn now(&self, issue: &Issue) -> Issue {
        self.world.stored_issue(issue.id)
    }

    /// Where the issue stands now.
    pub(crate) fn status(&self, issue: &Issue) -> IssueStatus {
        self.now(issue).status()
    }

    /// What an agent is about to be told, per pending wake.
    pub(crate) fn told(&self, agent: &Agent) -> Vec<Vec<WakeReason>> {
        self.world
            .pending_wakes(agent)
            .into_iter()
            .map(|wake| wake.reasons)
            .collect()
    }

    /// Everything that is stored about an issue and its company's work.
    pub(crate) fn footprint(&self, issue: &Issue) -> Footprint {
        Footprint::of(&self.world, issue)
    }

    /// The refusal of a call, which must have changed nothing about the issue.
    #[track_caller]
    pub(crate) fn refused<T: std::fmt::Debug>(
        &self,
        issue: &Issue,
        ctx: impl FnOnce() -> Outcome<T>,
    ) -> IssueError {
        let before = self.footprint(issue);
        let refusal = refused(ctx());
        assert_eq!(
            self.footprint(issue),
            before,
            "refused, yet it changed something: {refusal:?}"
        );
        refusal
    }

    /// The conflict a call is refused with, which must have changed nothing about the issue.
    #[track_caller]
    pub(crate) fn conflict<T: std::fmt::Debug>(
        &self,
        issue: &Issue,
        ctx: impl FnOnce() -> Outcome<T>,
    ) -> CheckoutConflict {
        match self.refused(issue, ctx) {
            IssueError::Conflict {
                issue: named,
                conflict,
            } => {
                assert_eq!(named, issue.id);
                conflict
            }
            other => panic!("no conflict: {other:?}"),
        }
    }

    /// The illegal move a call is refused for, which must have changed nothing about the issue.
    #[track_caller]
    pub(crate) fn illegal<T: std::fmt::Debug>(
        &self,
        issue: &Issue,
        ctx: impl FnOnce() -> Outcome<T>,
    ) -> IllegalTransition<IssueStatus> {
        match self.refused(issue, ctx) {
            IssueError::Transition(illegal) => illegal,
            other => panic!("no illegal move: {other:?}"),
        }
    }
}

/// An agent that may have so many runs at once.
pub(crate) fn at_once(called: &str, runs: u32) -> CreateAgent {
    CreateAgent {
        runtime_config: heartbeat(runs),
        ..new_agent(called)
    }
}

/// An agent with a role.
pub(crate) fn with_role(called: &str, role: &str) -> CreateAgent {
    CreateAgent {
        role: Some(Role::parse(role).unwrap()),
        ..new_agent(called)
    }
}

fn heartbeat(runs: u32) -> Document {
    json!({ "heartbeat": { "maxConcurrentRuns": runs } })
        .as_object()
        .unwrap()
        .clone()
        .into()
}

/// Everything that is stored about an issue, and the runs, wakes and activity of its company.
#[derive(Debug, PartialEq)]
pub(crate) struct Footprint {
    pub(crate) issue: Issue,
    pub(crate) lease: Option<Lease>,
    pub(crate) comments: Vec<Comment>,
    pub(crate) runs: Vec<Run>,
    pub(crate) pending: Vec<Wake>,
    pub(crate) deeds: usize,
}

impl Footprint {
    pub(crate) fn of(world: &World, issue: &Issue) -> Self {
        let read: Result<_, Failure<Infallible>> =
            world.store().read(|reads| Ok(Self::read(reads, issue)?));
        done(read)
    }

    fn read(reads: &mut dyn Reads, issue: &Issue) -> Result<Self, StoreError> {
        let (scope, all) = (issue.scope(), ActivityFilter::default());
        let runs = reads
            .runs()
            .list(scope, &RunFilter::default(), &PageRequest::first())?
            .items;
        let mut pending = Vec::new();
        for run in runs.iter().filter(|run| run.status == RunStatus::Queued) {
            pending.extend(reads.runs().wake_of(scope, run.id)?);
        }
        let comments = reads.comments();
        let comments = comments.list(scope, issue.id, Order::Ascending, &PageRequest::first())?;
        Ok(Self {
            issue: reads
                .issues()
                .find(scope.into(), &issue.id.into())?
                .unwrap(),
            lease: reads.issues().lease(scope, issue.id)?,
            comments: comments.items,
            runs,
            pending,
            deeds: reads
                .activity()
                .list(scope, &all, &PageRequest::first())?
                .items
                .len(),
        })
    }
}
