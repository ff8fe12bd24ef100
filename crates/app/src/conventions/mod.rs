//! The conventions of projects: read, write, sum up, and hand to agents
//! (docs/workspaces.md#conventions).

mod layer;

use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use workforce_domain::activity::Action;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::change::Change;
use workforce_domain::conventions::{Compact, CompactOrigin, Conventions};
use workforce_domain::id::ProjectId;
use workforce_domain::port::{Failure, Locked, Reads, Tx};
use workforce_domain::project::Project;
use workforce_domain::text::{CompactContext, Description};

pub use layer::{MAX_LAYER, project_layer};

use crate::access::{Denied, FieldFault};
use crate::activity_log::log_activity_with;
use crate::changes::Changes;
use crate::compaction;
use crate::context::Context;
use crate::refusal::{Code, Codes, Refusal};

/// Why a call about conventions is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConventionsError {
    /// The caller may not, or there is no such project.
    #[error(transparent)]
    Denied(#[from] Denied),
    /// A field's value breaks a rule.
    #[error(transparent)]
    Field(#[from] FieldFault),
}

impl Refusal for ConventionsError {
    fn code(&self) -> Code {
        match self {
            Self::Denied(denied) => denied.code(),
            Self::Field(fault) => fault.code(),
        }
    }

    fn details(&self) -> Option<Value> {
        match self {
            Self::Denied(denied) => denied.details(),
            Self::Field(fault) => Some(fault.details()),
        }
    }
}

/// Conventions with what is derived for their answer.
#[derive(Clone, Debug, PartialEq)]
pub struct ConventionsView {
    /// The conventions.
    pub conventions: Conventions,
    /// Whether they changed since the short form was written.
    pub compact_stale: bool,
}

impl From<Conventions> for ConventionsView {
    fn from(conventions: Conventions) -> Self {
        Self {
            compact_stale: is_stale(&conventions),
            conventions,
        }
    }
}

/// Whether the conventions changed since their short form was written.
pub fn is_stale(conventions: &Conventions) -> bool {
    conventions
        .compact
        .as_ref()
        .is_some_and(|compact| compact.source_hash != source_hash(conventions))
}

/// SHA-256 of what a short form stands for.
fn source_hash(conventions: &Conventions) -> [u8; 32] {
    let mut hash = Sha256::new();
    // The length keeps the two texts apart.
    hash.update(conventions.backstory.len().to_be_bytes());
    hash.update(conventions.backstory.as_bytes());
    hash.update(conventions.conventions_md.as_bytes());
    hash.finalize().into()
}

/// The conventions of a project; empty ones when nobody wrote any. Anyone of
/// the company.
pub fn get(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    id: ProjectId,
) -> Result<ConventionsView, Failure<ConventionsError>> {
    let Some(project) = reads.projects().find(ctx.actor().scope(), id)? else {
        return Err(Denied::NotFound("project").into());
    };
    let found = reads.projects().conventions(project.scope(), id)?;
    Ok(found.unwrap_or_else(|| none(&project)).into())
}

/// Conventions as a whole.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReplaceConventions {
    /// Background and context of the project; empty when left out.
    pub backstory: Option<Description>,
    /// The rules, in Markdown; empty when left out.
    pub conventions_md: Option<Description>,
    /// Further sources: any JSON, at most 64 KiB; none when left out.
    pub extra_references: Option<Value>,
}

/// What [`replace`] and [`update`] refuse with.
pub const WRITE: Codes = Codes::of(&[Code::InvalidField]);

/// Writes the conventions of a project in place of those it has. Their short
/// form goes too, since it stood for the replaced ones. The board, the lead of
/// the project, and a ceo.
pub fn replace(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: ProjectId,
    command: ReplaceConventions,
) -> Result<ConventionsView, Failure<ConventionsError>> {
    let (project, before) = lock(tx, ctx, id)?;
    let extra_references = command
        .extra_references
        .unwrap_or_else(Conventions::no_references);
    check_references(&extra_references).map_err(Failure::Refused)?;
    let after = Conventions {
        backstory: command.backstory.unwrap_or_default(),
        conventions_md: command.conventions_md.unwrap_or_default(),
        extra_references,
        compact: None,
        ..before.clone()
    };
    save(
        tx,
        ctx,
        &project,
        &before,
        after,
        Action::ConventionsUpdated,
    )
}

/// Changes some of the conventions.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct UpdateConventions {
    /// Background and context of the project.
    #[serde(default)]
    pub backstory: Change<Description>,
    /// The rules, in Markdown.
    #[serde(default)]
    pub conventions_md: Change<Description>,
    /// A short form by hand; `null` removes it.
    #[serde(default)]
    pub compact_context: Change<CompactContext>,
    /// Further sources, in place of the present ones: any JSON, at most 64 KiB.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Value>))]
    #[serde(default)]
    pub extra_references: Change<Value>,
}

/// Changes some of the conventions of a project. The board, the lead of the
/// project, and a ceo.
pub fn update(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: ProjectId,
    command: UpdateConventions,
) -> Result<ConventionsView, Failure<ConventionsError>> {
    let (project, before) = lock(tx, ctx, id)?;
    let mut after = before.clone();
    let text =
        |change: Change<Description>, current| change.apply(Some(current)).unwrap_or_default();
    after.backstory = text(command.backstory, after.backstory);
    after.conventions_md = text(command.conventions_md, after.conventions_md);
    after.extra_references = command
        .extra_references
        .apply(Some(after.extra_references))
        .unwrap_or_else(Conventions::no_references);
    check_references(&after.extra_references).map_err(Failure::Refused)?;
    match command.compact_context {
        Change::Keep => {}
        Change::Clear => after.compact = None,
        Change::Set(text) => {
            after.compact = Some(Compact {
                text,
                origin: CompactOrigin::Manual,
                source_hash: source_hash(&after),
            });
        }
    }
    save(
        tx,
        ctx,
        &project,
        &before,
        after,
        Action::ConventionsUpdated,
    )
}

/// Makes and keeps the short form of a project's conventions, of at most
/// `max_chars` characters. The board, the lead of the project, and a ceo.
pub fn compact(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: ProjectId,
    max_chars: usize,
) -> Result<ConventionsView, Failure<ConventionsError>> {
    let (project, before) = lock(tx, ctx, id)?;
    let mut after = before.clone();
    let text = compaction::compact(&after.backstory, &after.conventions_md, max_chars);
    let text = CompactContext::parse(&text).map_err(|error| {
        // No character has more than four bytes, so that it is short enough.
        FieldFault::invalid("/conventionsMd", error.to_string())
    })?;
    after.compact = Some(Compact {
        text,
        origin: CompactOrigin::Generated {
            max_chars: i32::try_from(max_chars).unwrap_or(i32::MAX),
        },
        source_hash: source_hash(&after),
    });
    save(
        tx,
        ctx,
        &project,
        &before,
        after,
        Action::ConventionsCompacted,
    )
}

fn none(project: &Project) -> Conventions {
    Conventions::none(project.company, project.id)
}

/// Locks a project for a caller who may write its conventions.
fn lock(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: ProjectId,
) -> Result<(Locked<Project>, Conventions), Failure<ConventionsError>> {
    let Some(project) = tx.projects_mut().lock(ctx.actor().scope(), id)? else {
        return Err(Denied::NotFound("project").into());
    };
    if let Some(caller) = ctx.agent() {
        ctx.require_working_company()?;
        if !caller.is_ceo() && project.lead_agent != Some(caller.agent) {
            let message = "only the board, the lead of the project or a ceo writes its conventions";
            return Err(Denied::Forbidden(message).into());
        }
    }
    let found = tx.projects().conventions(project.scope(), id)?;
    let conventions = found.unwrap_or_else(|| none(&project));
    Ok((project, conventions))
}

/// Refuses further sources that are too long.
fn check_references(references: &Value) -> Result<(), ConventionsError> {
    let length = serde_json::to_vec(references).map_or(usize::MAX, |json| json.len());
    let max = Conventions::MAX_REFERENCE_BYTES;
    if length > max {
        let message = format!("must be at most {max} bytes of JSON");
        return Err(FieldFault::invalid("/extraReferences", message).into());
    }
    Ok(())
}

/// Stores conventions that changed, and tells which parts did.
fn save(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    project: &Locked<Project>,
    before: &Conventions,
    mut after: Conventions,
    action: Action,
) -> Result<ConventionsView, Failure<ConventionsError>> {
    if after != *before || before.updated_at.is_none() {
        after.updated_at = Some(ctx.now);
        tx.projects_mut().save_conventions(project, &after)?;
        let changes = Changes::between(before, &after);
        log_activity_with(tx, ctx, action, project, json!({}), changes);
    }
    Ok(after.into())
}
