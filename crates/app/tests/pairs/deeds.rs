//! The writes that meet.

use std::time::Duration;

use workforce_app::agents::{self, UpdateAgent};
use workforce_app::approvals::{self, Decide};
use workforce_app::companies::{self, UpdateCompany};
use workforce_app::issues::{self, AddComment, CheckOut, CreateIssue, UpdateIssue};
use workforce_app::runs::{self, WakeUp};
use workforce_app::{Context, Failure, costs};
use workforce_domain::Document;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::change::{Change, Replace};
use workforce_domain::issue::IssueStatus;
use workforce_domain::money::Budget;
use workforce_domain::port::{ClaimRequest, StoreError, TokenKind, Tokens, Tx};
use workforce_domain::run::{RunEnd, RunErrorCode, RunOutcome};
use workforce_domain::text::CommentBody;
use workforce_domain::wake::WakeSource;
use workforce_testkit::world::{World, key_name, new_issue, no_change, report_of};

use crate::executions;
use crate::outcome::{Outcome, as_somebody, board};
use crate::scene::{Scene, Stage};

/// A write.
pub(crate) struct Deed {
    /// Its name, which is that of its test.
    pub(crate) name: &'static str,
    /// What must have come about before.
    pub(crate) after: &'static [Stage],
    /// Does it.
    pub(crate) act: fn(&World, &Scene) -> Outcome,
}

impl Deed {
    /// True when an agent itself does it, who must be there to be somebody.
    fn is_the_agents(&self) -> bool {
        let its = [
            "check_out",
            "release",
            "ask_for_review",
            "end_review",
            "send_back",
        ];
        its.contains(&self.name)
    }

    /// True when the agent is gone afterwards.
    fn removes_the_agent(&self) -> bool {
        ["delete_agent", "delete_company"].contains(&self.name)
    }

    /// True when both can be asked for at the same time.
    pub(crate) fn can_meet(&self, other: &Self) -> bool {
        !(self.is_the_agents() && other.removes_the_agent()
            || self.removes_the_agent() && other.is_the_agents())
    }
}

macro_rules! deeds {
    ($($name:ident after [$($stage:ident),*] = $act:expr;)+) => {
        /// Every write.
        pub(crate) const ALL: &[Deed] = &[$(Deed {
            name: stringify!($name),
            after: &[$(Stage::$stage),*],
            act: $act,
        }),+];
    };
}

deeds! {
    check_out after [] = |world, scene| {
        let command = CheckOut { agent: None, expected: None };
        as_somebody(world.agent(scene.agent.id), |tx, ctx| {
            issues::check_out(tx, ctx, &scene.issue.id.into(), command.clone())
        })
    };
    check_out_for after [] = |world, scene| {
        let command = CheckOut { agent: Some(scene.agent.id), expected: None };
        board(world, |tx, ctx| {
            issues::check_out(tx, ctx, &scene.issue.id.into(), command.clone())
        })
    };
    release after [CheckedOut] = |world, scene| {
        as_somebody(world.agent(scene.agent.id), |tx, ctx| {
            issues::release(tx, ctx, &scene.issue.id.into())
        })
    };
    assign after [] = |world, scene| board(world, |tx, ctx| scene.assign(tx, ctx));
    create_issue after [] = |world, scene| {
        let command = CreateIssue {
            status: Some(IssueStatus::Todo),
            assignee_agent_id: Some(scene.agent.id),
            parent_id: Some(scene.issue.id.into()),
            ..new_issue("A part of it")
        };
        board(world, |tx, ctx| issues::create(tx, ctx, scene.company.id, command.clone()))
    };
    create_issue_for_nobody after [] = |world, scene| {
        let command = new_issue("To be sorted");
        board(world, |tx, ctx| issues::create(tx, ctx, scene.company.id, command.clone()))
    };
    end_issue after [Assigned] = |world, scene| {
        board(world, |tx, ctx| scene.go(tx, ctx, IssueStatus::Done))
    };
    reopen_issue after [Assigned, Ended] = |world, scene| {
        board(world, |tx, ctx| scene.go(tx, ctx, IssueStatus::Todo))
    };
    delete_issue after [] = |world, scene| {
        board(world, |tx, ctx| issues::delete(tx, ctx, &scene.issue.id.into()))
    };
    put_below_other after [] = |world, scene| {
        let command = UpdateIssue {
            parent_id: Change::Set(scene.other_issue.id.into()),
            ..no_change()
        };
        board(world, |tx, ctx| {
            issues::update(tx, ctx, &scene.issue.id.into(), command.clone())
        })
    };
    put_other_below after [] = |world, scene| {
        let command = UpdateIssue {
            parent_id: Change::Set(scene.issue.id.into()),
            ..no_change()
        };
        board(world, |tx, ctx| {
            issues::update(tx, ctx, &scene.other_issue.id.into(), command.clone())
        })
    };
    ask_for_review after [Governed, CheckedOut] = |world, scene| {
        as_somebody(world.agent(scene.agent.id), |tx, ctx| scene.go(tx, ctx, IssueStatus::Done))
    };
    end_review after [Governed, CheckedOut, Reviewed] = |world, scene| {
        as_somebody(world.agent(scene.other.id), |tx, ctx| scene.go(tx, ctx, IssueStatus::Done))
    };
    send_back after [Governed, CheckedOut, Reviewed] = |world, scene| {
        as_somebody(world.agent(scene.other.id), |tx, ctx| {
            scene.go(tx, ctx, IssueStatus::InProgress)
        })
    };
    give_parent_away after [Governed] = |world, scene| {
        let command = UpdateIssue {
            assignee_agent_id: Change::Set(scene.agent.id),
            ..no_change()
        };
        board(world, |tx, ctx| {
            issues::update(tx, ctx, &scene.other_issue.id.into(), command.clone())
        })
    };
    terminate_reviewer after [Governed] = |world, scene| {
        board(world, |tx, ctx| agents::terminate(tx, ctx, scene.other.id))
    };
    mention after [] = |world, scene| {
        board(world, |tx, ctx| {
            let command = AddComment { body: words()?, reopen: Some(false), interrupt: Some(false) };
            issues::add_comment(tx, ctx, &scene.issue.id.into(), command)
        })
    };
    reopen_by_comment after [Assigned, Ended] = |world, scene| {
        board(world, |tx, ctx| {
            let command = AddComment { body: words()?, reopen: Some(true), interrupt: Some(false) };
            issues::add_comment(tx, ctx, &scene.issue.id.into(), command)
        })
    };
    file_plan after [Assigned] = |world, scene| {
        board(world, |tx, ctx| {
            approvals::submit(tx, ctx, scene.company.id, scene.plan_of())
        })
    };
    approve after [Planned] = |world, scene| executions::approve(world, scene);
    approve_with_steps after [Housed, Planned] = |world, scene| executions::approve(world, scene);
    resubmit after [Housed, Planned, InRevision] = |world, scene| {
        let Some(plan) = scene.plan else { return Ok(Err("no plan".into())) };
        board(world, |tx, ctx| approvals::resubmit(tx, ctx, plan, None, None))
    };
    begin_step after [Housed, Planned, Begun] = |world, scene| executions::begin_step(world, scene);
    fail_step after [Housed, Planned, Begun] = |world, scene| executions::fail(world, scene);
    renew_steps after [Housed, Planned, Begun] = |world, scene| executions::renew(world, scene);
    give_up_steps after [Housed, Planned, Begun] = |world, scene| executions::give_up(world, scene);
    complete_steps after [Housed, Planned, Begun] = |world, scene| {
        executions::complete(world, scene)
    };
    reject after [Planned] = |world, scene| decide(world, scene, approvals::reject);
    request_revision after [Planned] = |world, scene| {
        decide(world, scene, approvals::request_revision)
    };
    cancel_approval after [Planned] = |world, scene| {
        let Some(plan) = scene.plan else { return Ok(Err("no plan".into())) };
        board(world, |tx, ctx| approvals::cancel(tx, ctx, plan))
    };
    hire after [] = |world, scene| board(world, |tx, ctx| scene.propose(tx, ctx));
    approve_hire after [Proposed] = |world, scene| {
        let Some(hire) = scene.hire else { return Ok(Err("no hire".into())) };
        board(world, |tx, ctx| approvals::approve(tx, ctx, hire, plainly()))
    };
    reject_hire after [Proposed] = |world, scene| {
        let Some(hire) = scene.hire else { return Ok(Err("no hire".into())) };
        board(world, |tx, ctx| approvals::reject(tx, ctx, hire, plainly()))
    };
    terminate after [] = |world, scene| {
        board(world, |tx, ctx| agents::terminate(tx, ctx, scene.agent.id))
    };
    pause_agent after [] = |world, scene| {
        board(world, |tx, ctx| agents::pause(tx, ctx, scene.agent.id))
    };
    resume_agent after [AgentPaused] = |world, scene| {
        board(world, |tx, ctx| agents::resume(tx, ctx, scene.agent.id, false))
    };
    delete_agent after [] = |world, scene| {
        board(world, |tx, ctx| agents::delete(tx, ctx, scene.agent.id))
    };
    create_key after [] = |world, scene| {
        board(world, |tx, ctx| agents::create_key(tx, ctx, scene.agent.id, key_name()))
    };
    reset_sessions after [] = |world, scene| {
        board(world, |tx, ctx| agents::reset_session(tx, ctx, scene.agent.id, None))
    };
    put_below_agent after [] = |world, scene| {
        let command = UpdateAgent {
            reports_to: Change::Set(scene.agent.id),
            ..UpdateAgent::default()
        };
        board(world, |tx, ctx| agents::update(tx, ctx, scene.other.id, command.clone()))
    };
    put_agent_below after [] = |world, scene| {
        let command = UpdateAgent {
            reports_to: Change::Set(scene.other.id),
            ..UpdateAgent::default()
        };
        board(world, |tx, ctx| agents::update(tx, ctx, scene.agent.id, command.clone()))
    };
    limit_agent after [] = |world, scene| {
        let command = UpdateAgent {
            budget: Budget::from_cents(1).ok(),
            ..UpdateAgent::default()
        };
        board(world, |tx, ctx| agents::update(tx, ctx, scene.agent.id, command.clone()))
    };
    limit_company after [] = |world, scene| {
        let command = UpdateCompany {
            budget_monthly_cents: Budget::from_cents(1).map_or(Replace::Keep, Replace::Set),
            ..UpdateCompany::default()
        };
        board(world, |tx, ctx| companies::update(tx, ctx, scene.company.id, command.clone()))
    };
    report_cost after [Limited] = |world, scene| {
        let report = report_of(scene.agent.id, "2");
        board(world, |tx, ctx| costs::report(tx, ctx, scene.company.id, report.clone()))
    };
    invoke after [] = |world, scene| {
        board(world, |tx, ctx| runs::invoke(tx, ctx, scene.agent.id, Document::new()))
    };
    wake_up after [] = |world, scene| {
        let command = WakeUp {
            source: WakeSource::Automation,
            trigger_detail: None,
            reason: None,
            payload: Document::new(),
        };
        board(world, |tx, ctx| runs::wake_up(tx, ctx, scene.agent.id, command.clone()))
    };
    claim after [Invoked] = |world, _scene| {
        let request = ClaimRequest {
            instance: world.id(),
            now: world.now(),
            lease_until: world.now().plus(Duration::from_secs(60)),
            token_digest: world.tokens().mint(TokenKind::Run).digest,
            instance_cap: 100,
        };
        as_somebody(world.system(), |tx, ctx| runs::start(tx, ctx, &request))
    };
    cancel_run after [Running] = |world, scene| {
        let Some(run) = &scene.run else { return Ok(Err("no run".into())) };
        board(world, |tx, ctx| runs::cancel(tx, ctx, run.id))
    };
    finish_run after [Running] = |world, scene| {
        let Some(run) = &scene.run else { return Ok(Err("no run".into())) };
        let end = RunEnd::without_exit(RunOutcome::Succeeded, "it ended");
        as_somebody(world.system(), |tx, ctx| {
            runs::finish(tx, ctx, run.scope(), run.id, run.fence, end.clone(), None)
        })
    };
    lose_run after [Running] = |world, scene| {
        let Some(run) = &scene.run else { return Ok(Err("no run".into())) };
        let lost = RunOutcome::Lost(RunErrorCode::ProcessLost);
        let end = RunEnd::without_exit(lost, "its server is gone");
        as_somebody(world.system(), |tx, ctx| {
            runs::finish(tx, ctx, run.scope(), run.id, run.fence, end.clone(), None)
        })
    };
    pause_company after [] = |world, scene| {
        board(world, |tx, ctx| companies::pause(tx, ctx, scene.company.id))
    };
    resume_company after [Assigned, CompanyPaused] = |world, scene| {
        board(world, |tx, ctx| companies::resume(tx, ctx, scene.company.id))
    };
    archive after [] = |world, scene| {
        board(world, |tx, ctx| companies::archive(tx, ctx, scene.company.id))
    };
    unarchive after [Archived] = |world, scene| {
        board(world, |tx, ctx| companies::unarchive(tx, ctx, scene.company.id))
    };
    delete_company after [Archived] = |world, scene| {
        board(world, |tx, ctx| companies::delete(tx, ctx, scene.company.id))
    };
}

/// The comment that calls the agent.
fn words<E>() -> Result<CommentBody, Failure<E>> {
    CommentBody::parse("@Ada, look at this.")
        .map_err(|error| Failure::Store(StoreError::Failed(error.into())))
}

pub(crate) const fn plainly() -> Decide {
    Decide {
        decision_note: None,
        force: Some(false),
        seen: None,
    }
}

pub(crate) type Decision = fn(
    &mut dyn Tx,
    &Context<'_>,
    workforce_domain::id::ApprovalId,
    Decide,
)
    -> Result<approvals::ApprovalView, Failure<approvals::ApprovalError>>;

pub(crate) fn decide(world: &World, scene: &Scene, decision: Decision) -> Outcome {
    let Some(plan) = scene.plan else {
        return Ok(Err("no plan".into()));
    };
    board(world, |tx, ctx| decision(tx, ctx, plan, plainly()))
}
