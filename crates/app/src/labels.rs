//! Labels of issues: make, read, change, delete (docs/issues.md#labels).

use serde::Deserialize;
use serde_json::{Value, json};
use workforce_domain::activity::Action;
use workforce_domain::actor::{CompanyOwned, CompanyScope};
use workforce_domain::change::Replace;
use workforce_domain::id::{CompanyId, LabelId};
use workforce_domain::label::IssueLabel;
use workforce_domain::page::{Page, PageRequest};
use workforce_domain::port::{Failure, LabelCursor, Locked, Reads, Tx};
use workforce_domain::text::{Color, LabelName};

use crate::access::{self, Denied};
use crate::activity_log::{log_activity, log_change};
use crate::context::Context;
use crate::refusal::{Code, Codes, Refusal};

/// Why a call about labels is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LabelError {
    /// The caller may not, or there is no such label.
    #[error(transparent)]
    Denied(#[from] Denied),
    /// The company has a label of that name.
    #[error("the company has a label `{name}` already")]
    NameTaken {
        /// The label that has it.
        id: LabelId,
        /// Its name.
        name: LabelName,
    },
}

impl Refusal for LabelError {
    fn code(&self) -> Code {
        match self {
            Self::Denied(denied) => denied.code(),
            Self::NameTaken { .. } => Code::NameTaken,
        }
    }

    fn details(&self) -> Option<Value> {
        match self {
            Self::Denied(denied) => denied.details(),
            Self::NameTaken { id, .. } => Some(json!({ "pointer": "/name", "labelId": id })),
        }
    }
}

/// Makes a label.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct CreateLabel {
    /// Its name.
    pub name: LabelName,
    /// Colour of its badge.
    pub color: Color,
}

/// Changes a label.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct UpdateLabel {
    /// Its name.
    #[serde(default)]
    pub name: Replace<LabelName>,
    /// Colour of its badge.
    #[serde(default)]
    pub color: Replace<Color>,
}

/// What [`create`] and [`update`] refuse with.
pub const NAME: Codes = Codes::of(&[Code::NameTaken]);

/// Makes a label. The board, the ceo, and agents to whom others report.
pub fn create(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    company: CompanyId,
    command: CreateLabel,
) -> Result<IssueLabel, Failure<LabelError>> {
    let scope = access::company_scope(tx.reads(), ctx, company)?;
    require_manager(tx.reads(), ctx, scope)?;
    require_free(tx.reads(), scope, &command.name)?;
    let label = IssueLabel {
        id: ctx.id(),
        company,
        name: command.name,
        color: command.color,
        created_at: ctx.now,
        updated_at: ctx.now,
    };
    let label = tx.labels_mut().insert(label)?;
    log_activity(tx, ctx, Action::LabelCreated, &label, json!({}));
    Ok(label.into_inner())
}

/// Labels of a company, oldest first. Anyone of the company.
pub fn list(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    company: CompanyId,
    page: &PageRequest<LabelCursor>,
) -> Result<Page<IssueLabel, LabelCursor>, Failure<LabelError>> {
    let scope = access::company_scope(reads, ctx, company)?;
    Ok(reads.labels().list(scope, page)?)
}

/// One label of a company. Anyone of the company.
pub fn get(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    company: CompanyId,
    id: LabelId,
) -> Result<IssueLabel, Failure<LabelError>> {
    let scope = access::company_scope(reads, ctx, company)?;
    let found = reads.labels().find_all(scope, &[id])?.into_iter().next();
    found.ok_or_else(|| Denied::NotFound("label").into())
}

/// Changes a label. Whoever may make one.
pub fn update(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: LabelId,
    command: UpdateLabel,
) -> Result<IssueLabel, Failure<LabelError>> {
    let mut label = lock(tx, ctx, id)?;
    if let Replace::Set(name) = command.name {
        let had = label.key();
        label.name = name;
        if label.key() != had {
            require_free(tx.reads(), label.scope(), &label.name)?;
        }
    }
    if let Replace::Set(color) = command.color {
        label.color = color;
    }
    if label.is_changed() {
        label.updated_at = ctx.now;
        tx.labels_mut().save(&label)?;
        log_change(tx, ctx, Action::LabelUpdated, &mut label, json!({}));
    }
    Ok(label.into_inner())
}

/// Deletes a label and takes it off every issue. Whoever may make one.
pub fn delete(tx: &mut dyn Tx, ctx: &Context<'_>, id: LabelId) -> Result<(), Failure<LabelError>> {
    let label = lock(tx, ctx, id)?;
    log_activity(tx, ctx, Action::LabelDeleted, &label, json!({}));
    tx.labels_mut().delete(label)?;
    Ok(())
}

fn lock(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: LabelId,
) -> Result<Locked<IssueLabel>, Failure<LabelError>> {
    let Some(label) = tx.labels_mut().lock(ctx.actor().scope(), id)? else {
        return Err(Denied::NotFound("label").into());
    };
    require_manager(tx.reads(), ctx, label.scope())?;
    Ok(label)
}

/// Refuses agents that assign work to nobody but themselves.
fn require_manager(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    scope: CompanyScope,
) -> Result<(), Failure<LabelError>> {
    ctx.require_working_company()?;
    match ctx.agent() {
        None => Ok(()),
        Some(caller) if caller.is_ceo() || reads.agents().has_reports(scope, caller.agent)? => {
            Ok(())
        }
        Some(_) => Err(Denied::Forbidden(
            "only the board, the ceo and managers change a company's labels",
        )
        .into()),
    }
}

fn require_free(
    reads: &mut dyn Reads,
    scope: CompanyScope,
    name: &LabelName,
) -> Result<(), Failure<LabelError>> {
    match reads.labels().find_by_name(scope, name)? {
        None => Ok(()),
        Some(label) => Err(Failure::Refused(LabelError::NameTaken {
            id: label.id,
            name: label.name,
        })),
    }
}
