//! Access rules that many use cases share (docs/access.md#rights).

use std::collections::HashSet;

use serde_json::{Value, json};
use workforce_domain::Document;
use workforce_domain::actor::CompanyScope;
use workforce_domain::agent::CHAIN_LIMIT;
use workforce_domain::company::Company;
use workforce_domain::id::{AgentId, CompanyId};
use workforce_domain::port::{Failure, Reads, StoreError};

use crate::context::Context;
pub use crate::denied::Denied;
use crate::refusal::{Code, Refusal};

/// The company a caller names in a path: 403 when it is out of reach, 404 when
/// it does not exist.
///
/// # Errors
/// [`Denied::CompanyForbidden`], [`Denied::NotFound`]
pub fn company<E: From<Denied>>(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    id: CompanyId,
) -> Result<Company, Failure<E>> {
    let scope = ctx.actor().enter(id).ok_or(Denied::CompanyForbidden)?;
    if let Some(found) = ctx.found(id) {
        return Ok(found.clone());
    }
    reads
        .companies()
        .find(scope.into(), id)?
        .ok_or_else(|| Denied::NotFound("company").into())
}

/// The company of a list, whose existence the list itself does not show.
///
/// # Errors
/// [`Denied::CompanyForbidden`], [`Denied::NotFound`]
pub fn company_scope<E: From<Denied>>(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    id: CompanyId,
) -> Result<CompanyScope, Failure<E>> {
    let scope = ctx.actor().enter(id).ok_or(Denied::CompanyForbidden)?;
    // An agent's own company exists, or it could not have authenticated.
    let is_known = ctx.agent().is_some() || ctx.found(id).is_some();
    if !is_known && reads.companies().find(scope.into(), id)?.is_none() {
        return Err(Denied::NotFound("company").into());
    }
    Ok(scope)
}

/// True when `manager` stands above `agent` in the chain of command.
pub fn manages(
    reads: &mut dyn Reads,
    company: CompanyScope,
    manager: AgentId,
    agent: AgentId,
) -> Result<bool, StoreError> {
    // The chain is read in pieces to its end: cut short, it could hide a cycle.
    let (mut below, mut seen) = (agent, HashSet::new());
    while seen.insert(below) {
        let chain = reads.agents().chain_of_command(company, below)?;
        if chain.iter().any(|link| link.id == manager) {
            return Ok(true);
        }
        match chain.last() {
            Some(last) if chain.len() >= CHAIN_LIMIT => below = last.id,
            _ => break,
        }
    }
    Ok(false)
}

/// A field whose value breaks a rule that needs more than the field's own
/// shape.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{pointer}: {message}")]
pub struct FieldFault {
    /// The field, as a JSON pointer into the body.
    pub pointer: String,
    /// What is wrong.
    pub message: String,
    /// The kind of fault.
    pub code: Code,
}

impl<E: From<FieldFault>> From<FieldFault> for Failure<E> {
    fn from(fault: FieldFault) -> Self {
        Self::Refused(fault.into())
    }
}

impl FieldFault {
    /// A value that breaks a rule.
    pub fn invalid(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            pointer: pointer.into(),
            message: message.into(),
            code: Code::InvalidField,
        }
    }

    /// A reference to something that does not exist in the company. What
    /// belongs to another company is answered the same way
    /// (docs/access.md#companies).
    pub fn missing(pointer: impl Into<String>, kind: &str) -> Self {
        Self {
            pointer: pointer.into(),
            message: format!("no such {kind} in this company"),
            code: Code::ReferenceNotFound,
        }
    }

    /// A fault with a code of its own.
    pub fn coded(code: Code, pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            pointer: pointer.into(),
            message: message.into(),
            code,
        }
    }

    /// The fault as the details of a problem list it.
    pub fn details(&self) -> Value {
        json!([{ "pointer": self.pointer, "message": self.message }])
    }
}

/// Refuses a JSON object that is longer than `max` bytes.
///
/// # Errors
/// The fault at `pointer`.
pub(crate) fn check_document(
    document: &Document,
    pointer: &str,
    max: usize,
) -> Result<(), FieldFault> {
    // Serialising a JSON object cannot fail; a failure counts as too long.
    let length = serde_json::to_vec(document).map_or(usize::MAX, |bytes| bytes.len());
    if length > max {
        let message = format!("must be at most {max} bytes of JSON");
        return Err(FieldFault::invalid(pointer, message));
    }
    Ok(())
}

impl Refusal for FieldFault {
    fn code(&self) -> Code {
        self.code
    }

    fn details(&self) -> Option<Value> {
        Some(Self::details(self))
    }
}
