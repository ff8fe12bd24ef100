//! What servers and the board do to a plan that is carried out step by step.

use workforce_app::Failure;
use workforce_app::approvals::execution::{self, StepRef};
use workforce_app::approvals::{self, ApprovalError};
use workforce_domain::Document;
use workforce_domain::actor::{CompanyOwned, CompanyScope};
use workforce_domain::approval::{ApprovalExecution, ExecutionStep};
use workforce_domain::id::{ApprovalId, ExecutionWorkspaceId};
use workforce_domain::port::{StepFailure, StepFault, StoreError};
use workforce_testkit::world::World;

use crate::deeds::{decide, plainly};
use crate::outcome::{Outcome, as_somebody, board};
use crate::scene::Scene;

/// The first attempt, which is the only one that a scene begins with.
const ATTEMPT: i32 = 1;

/// What a scene has, or why a deed comes to nothing.
type Found<T> = Result<Result<T, String>, StoreError>;

macro_rules! found {
    ($found:expr) => {
        match $found? {
            Ok(found) => found,
            Err(nothing) => return Ok(Err(nothing)),
        }
    };
}

/// Approves as the route does: what needs steps is begun.
pub(crate) fn approve(world: &World, scene: &Scene) -> Outcome {
    let Some(plan) = scene.plan else {
        return Ok(Err("no plan".into()));
    };
    let needs = world
        .board()
        .read(|reads, ctx| execution::is_executed(reads, ctx, plan));
    match needs {
        Ok(None) => decide(world, scene, approvals::approve),
        Ok(Some(_)) => board(world, |tx, ctx| execution::begin(tx, ctx, plan, plainly())),
        Err(Failure::Refused(refusal)) => Ok(Err(format!("{refusal:?}"))),
        Err(Failure::Store(error)) => Err(error),
    }
}

/// The execution of the plan, and its worktree.
fn begun(
    world: &World,
    scene: &Scene,
) -> Found<(
    CompanyScope,
    ApprovalId,
    ApprovalExecution,
    ExecutionWorkspaceId,
)> {
    let Some(plan) = scene.plan else {
        return Ok(Err("no plan".into()));
    };
    let (company, issue) = (scene.issue.scope(), scene.issue.id);
    let read = world.system().read(|reads, _| {
        let execution = reads.approvals().executions(company, &[plan])?.pop();
        let owned = reads.execution_workspaces().owned_by(company, issue)?;
        Ok::<_, Failure<ApprovalError>>(execution.zip(owned.first().map(|it| it.id)))
    });
    match read {
        Ok(Some((execution, worktree))) => Ok(Ok((company, plan, execution, worktree))),
        Ok(None) => Ok(Err("nothing was begun".into())),
        Err(Failure::Refused(refusal)) => Ok(Err(format!("{refusal:?}"))),
        Err(Failure::Store(error)) => Err(error),
    }
}

/// Takes a step from its beginning to its end.
pub(crate) fn begin_step(world: &World, scene: &Scene) -> Outcome {
    let (company, approval, _, workspace) = found!(begun(world, scene));
    let step = StepRef {
        company,
        approval,
        attempt: ATTEMPT,
        workspace,
        step: ExecutionStep::Source,
    };
    as_somebody(world.system(), |tx, ctx| {
        if execution::begin_step(tx, ctx, step)? {
            execution::finish_step(tx, ctx, step, serde_json::json!({}), &|_| {})?;
        }
        Ok::<_, Failure<ApprovalError>>(())
    })
}

pub(crate) fn fail(world: &World, scene: &Scene) -> Outcome {
    let (company, plan, _, _) = found!(begun(world, scene));
    let failure = StepFailure {
        step: ExecutionStep::Source,
        fault: StepFault::GitFailed,
        message: "it did not work".into(),
        details: Document::new(),
    };
    as_somebody(world.system(), |tx, ctx| {
        execution::fail(tx, ctx, company, plan, ATTEMPT, &failure)?;
        Ok::<_, Failure<ApprovalError>>(())
    })
}

pub(crate) fn renew(world: &World, scene: &Scene) -> Outcome {
    let (company, plan, _, _) = found!(begun(world, scene));
    as_somebody(world.system(), |tx, ctx| {
        Ok::<_, Failure<ApprovalError>>(execution::renew(tx, ctx, company, plan, ATTEMPT)?)
    })
}

/// Gives the execution up as it was when it was found.
pub(crate) fn give_up(world: &World, scene: &Scene) -> Outcome {
    let (_, _, found, _) = found!(begun(world, scene));
    as_somebody(world.system(), |tx, ctx| {
        execution::abandon(tx, ctx, &found)
    })
}

pub(crate) fn complete(world: &World, scene: &Scene) -> Outcome {
    let (_, plan, _, _) = found!(begun(world, scene));
    board(world, |tx, ctx| execution::complete(tx, ctx, plan, ATTEMPT))
}
