//! Names, which tell agents apart in mentions (docs/access.md#fields-of-an-agent).

use workforce_domain::actor::CompanyScope;
use workforce_domain::id::{AgentId, CompanyId, ProjectId};
use workforce_domain::issue::IssueRef;
use workforce_domain::mention::is_alike;
use workforce_domain::port::{Failure, Reads, StoreError};
use workforce_domain::text::Name;

use super::AgentError;
use crate::context::Context;

/// Makes sure that no agent but `own` has this name.
///
/// # Errors
/// [`AgentError::NameTaken`]
pub(super) fn require_free(
    reads: &mut dyn Reads,
    company: CompanyScope,
    name: &Name,
    own: Option<AgentId>,
) -> Result<(), Failure<AgentError>> {
    let mut all = reads.agents().names(company)?.into_iter();
    match all.find(|(id, other)| Some(*id) != own && is_alike(other, name)) {
        Some((agent, name)) => Err(Failure::Refused(AgentError::NameTaken { agent, name })),
        None => Ok(()),
    }
}

/// What the path of a call names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A company.
    Company(CompanyId),
    /// An issue.
    Issue(IssueRef),
    /// An agent.
    Agent(AgentId),
    /// A project.
    Project(ProjectId),
}

/// The agent of this name or short name, as somebody means it who calls at `place`. `None` where
/// there is no such agent, several, or none that the caller may know of.
pub fn called(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    place: Option<&Place>,
    name: &str,
) -> Result<Option<AgentId>, StoreError> {
    let scope = ctx.actor().scope();
    let company = match (ctx.agent(), place) {
        (Some(caller), _) => Some(caller.company),
        (None, None) => None,
        (None, Some(Place::Company(id))) => Some(*id),
        (None, Some(Place::Issue(name))) => reads.issues().find(scope, name)?.map(|it| it.company),
        (None, Some(Place::Agent(id))) => reads.agents().find(scope, *id)?.map(|it| it.company),
        (None, Some(Place::Project(id))) => reads.projects().find(scope, *id)?.map(|it| it.company),
    };
    let Some(company) = company.and_then(|company| ctx.actor().enter(company)) else {
        return Ok(None);
    };
    let mut called = reads.agents().mentionable(company)?.into_iter();
    let mut next =
        || called.find(|agent| is_alike(&agent.name, name) || is_alike(&agent.url_key, name));
    match (next(), next()) {
        (Some(only), None) => Ok(Some(only.id)),
        _ => Ok(None),
    }
}
