//! A company with an agent that works on an issue, and what it asks the board for.

use serde_json::json;
use workforce_app::activity_log::document;
use workforce_app::approvals::{self, ApprovalError, ApprovalView, Decide, SubmitApproval};
use workforce_app::{Context, Failure};
use workforce_domain::agent::Agent;
use workforce_domain::approval::{Approval, ApprovalType};
use workforce_domain::company::Company;
use workforce_domain::id::ApprovalId;
use workforce_domain::issue::Issue;
use workforce_domain::port::Tx;
use workforce_domain::text::DecisionNote;
use workforce_testkit::world::{Acting, World, done};

pub(crate) type Outcome = Result<ApprovalView, Failure<ApprovalError>>;

/// A company, an agent, and an issue in todo that is its.
pub(crate) struct Desk {
    pub(crate) world: World,
    pub(crate) company: Company,
    pub(crate) ada: Agent,
    pub(crate) issue: Issue,
}

impl Desk {
    pub(crate) fn in_world(world: World) -> Self {
        let company = world.company("Acme");
        let ada = world.hired(company.id, "Ada");
        let issue = world.todo_for(&ada, "Build it");
        Self {
            world,
            company,
            ada,
            issue,
        }
    }

    /// Something that Ada asks for about her issue.
    pub(crate) fn asks(&self, kind: ApprovalType) -> Approval {
        let payload = document(json!({ "issueId": self.issue.id, "question": "May I?" }));
        let command = SubmitApproval {
            kind,
            requested_by_agent_id: None,
            payload: Some(payload),
            issue_ids: Some(Vec::new()),
            work: Vec::new(),
        };
        let ada = self.world.agent(self.ada.id);
        let company = self.company.id;
        done(ada.write(|tx, ctx| approvals::submit(tx, ctx, company, command.clone())))
            .view
            .approval
    }

    /// The approval as it is now.
    pub(crate) fn now(&self, id: ApprovalId) -> ApprovalView {
        done(
            self.world
                .board()
                .read(|reads, ctx| approvals::get(reads, ctx, id)),
        )
    }
}

/// A decision with a note, or without.
pub(crate) fn saying(note: &str) -> Decide {
    Decide {
        decision_note: Some(DecisionNote::parse(note).unwrap()),
        force: Some(false),
        seen: None,
    }
}

/// A use case that decides.
pub(crate) type Verb = fn(&mut dyn Tx, &Context<'_>, ApprovalId, Decide) -> Outcome;

/// Decides as somebody.
pub(crate) fn decided(who: Acting<'_>, verb: Verb, id: ApprovalId, how: &Decide) -> Outcome {
    who.write(|tx, ctx| verb(tx, ctx, id, how.clone()))
}
