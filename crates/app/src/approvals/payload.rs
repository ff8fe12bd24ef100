//! The fields that a payload must have, by the type of its approval. Other
//! fields are kept and mean nothing.

use serde_json::Value;
use workforce_domain::actor::CompanyScope;
use workforce_domain::approval::{
    Approval, ApprovalType, BranchFault, check_branch, check_work_branch, may_name_ticket,
};
use workforce_domain::port::{Failure, Reads};
use workforce_domain::{Document, JsonMap};

use super::error::ApprovalError;
use super::links;
use crate::access::{FieldFault, check_document};

/// A plan names at most so many delegations.
const MAX_DELEGATIONS: usize = 50;

type Checked = Result<(), Failure<ApprovalError>>;

/// Checks a payload, when it is filed and when it is sent again. The issue it
/// names is looked up, and so is every other reference: what belongs to
/// another company is missing.
pub(super) fn check(
    reads: &mut dyn Reads,
    company: CompanyScope,
    kind: ApprovalType,
    payload: &Document,
) -> Checked {
    check_document(payload, "/payload", Approval::MAX_PAYLOAD).map_err(refused)?;
    let within = Within {
        company,
        pointer: "/payload",
        object: payload,
    };
    within.references(reads)?;
    match kind {
        ApprovalType::ApproveIssuePlan => plan(reads, &within),
        ApprovalType::AgentQuestion => match within.text("question")? {
            Some(question) if !question.trim().is_empty() => Ok(()),
            _ => within.fault("question", "ask something"),
        },
        ApprovalType::BudgetOverrideRequired => {
            within.amount("budgetMonthlyCents")?;
            within.amount("amountCents")
        }
        // The fields of a hire are read where its draft is made.
        ApprovalType::HireAgent => Ok(()),
        ApprovalType::ApproveCeoStrategy
        | ApprovalType::ApprovePullRequest
        | ApprovalType::ApprovePushToExistingPr
        | ApprovalType::ApproveCompletion
        | ApprovalType::RequestBoardApproval => Ok(()),
    }
}

fn refused(fault: FieldFault) -> Failure<ApprovalError> {
    Failure::Refused(fault.into())
}

/// A plan and its workspace (docs/approvals.md#payloads).
fn plan(reads: &mut dyn Reads, payload: &Within<'_>) -> Checked {
    if let Some(workspace) = payload.object("workspace")? {
        let within = Within {
            object: workspace,
            pointer: "/payload/workspace",
            ..*payload
        };
        within.references(reads)?;
        if let Some(key) = within.text("ticketKey")?
            && !may_name_ticket(key)
        {
            return within.fault("ticketKey", "must look like ABC-123");
        }
        within.branch("branch", check_work_branch)?;
        within.branch("baseBranch", check_branch)?;
        if let Some(owner) = within.text("ownerIssueId")? {
            let pointer = "/payload/workspace/ownerIssueId";
            links::find(reads, payload.company, owner, pointer)?;
        }
    }
    let delegations = match payload.object.get("delegations") {
        None | Some(Value::Null) => return Ok(()),
        Some(Value::Array(delegations)) if delegations.len() <= MAX_DELEGATIONS => delegations,
        Some(_) => {
            let message = format!("must be an array of at most {MAX_DELEGATIONS}");
            return payload.fault("delegations", &message);
        }
    };
    for (n, delegation) in delegations.iter().enumerate() {
        let pointer = format!("/payload/delegations/{n}");
        let Value::Object(object) = delegation else {
            return Err(refused(FieldFault::invalid(pointer, "must be an object")));
        };
        let within = Within {
            company: payload.company,
            pointer: &pointer,
            object,
        };
        within.references(reads)?;
    }
    Ok(())
}

/// An object within a payload, and where it stands.
#[derive(Clone, Copy)]
struct Within<'a> {
    company: CompanyScope,
    pointer: &'a str,
    object: &'a JsonMap,
}

impl<'a> Within<'a> {
    fn fault<T>(&self, key: &str, message: &str) -> Result<T, Failure<ApprovalError>> {
        let pointer = format!("{}/{key}", self.pointer);
        Err(refused(FieldFault::invalid(pointer, message)))
    }

    fn text(&self, key: &str) -> Result<Option<&'a str>, Failure<ApprovalError>> {
        match self.object.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => self.fault(key, "must be a string"),
        }
    }

    fn object(&self, key: &str) -> Result<Option<&'a JsonMap>, Failure<ApprovalError>> {
        match self.object.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Object(object)) => Ok(Some(object)),
            Some(_) => self.fault(key, "must be an object"),
        }
    }

    fn branch(&self, key: &str, check: fn(&str) -> Result<(), BranchFault>) -> Checked {
        match self.text(key)?.map(check) {
            Some(Err(fault)) => self.fault(key, &fault.to_string()),
            Some(Ok(())) | None => Ok(()),
        }
    }

    fn amount(&self, key: &str) -> Checked {
        match self.object.get(key) {
            None | Some(Value::Null) => Ok(()),
            Some(Value::Number(amount)) if amount.as_f64().is_some_and(|it| it >= 0.0) => Ok(()),
            Some(_) => self.fault(key, "must be a number of cents, at least 0"),
        }
    }

    /// Looks up what ids name (docs/access.md#companies).
    fn references(&self, reads: &mut dyn Reads) -> Checked {
        let company = self.company;
        if let Some(text) = self.text("projectId")? {
            let found = match text.parse() {
                Ok(id) => reads.projects().find(company.into(), id)?.is_some(),
                Err(_) => false,
            };
            self.require(found, "projectId", "project")?;
        }
        if let Some(text) = self.text("projectWorkspaceId")? {
            let found = match text.parse() {
                Ok(id) => reads.projects().find_workspace(company, id)?.is_some(),
                Err(_) => false,
            };
            self.require(found, "projectWorkspaceId", "workspace")?;
        }
        if let Some(text) = self.text("goalId")? {
            let found = match text.parse() {
                Ok(id) => reads.goals().find(company.into(), id)?.is_some(),
                Err(_) => false,
            };
            self.require(found, "goalId", "goal")?;
        }
        if let Some(text) = self.text("agentId")? {
            let found = match text.parse() {
                Ok(id) => reads.agents().find(company.into(), id)?.is_some(),
                Err(_) => false,
            };
            self.require(found, "agentId", "agent")?;
        }
        Ok(())
    }

    fn require(&self, found: bool, key: &str, kind: &str) -> Checked {
        if found {
            return Ok(());
        }
        let pointer = format!("{}/{key}", self.pointer);
        Err(refused(FieldFault::missing(pointer, kind)))
    }
}
