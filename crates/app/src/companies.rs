//! Companies: make, read, change, switch on and off, delete
//! (docs/access.md#company-switches).

mod deletion;
mod lifecycle;

use serde::Serialize;

use serde::Deserialize;
use std::collections::HashMap;

use serde_json::{Value, json};
use workforce_domain::activity::Action;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::agent::first_free;
use workforce_domain::attachment::AttachmentLimit;
use workforce_domain::budget::{BudgetBasis, Spend};
use workforce_domain::change::{Change, Replace};
use workforce_domain::company::{Company, CompanyLifecycle, CompanyStatus, prefix_stem};
use workforce_domain::id::CompanyId;
use workforce_domain::money::Budget;
use workforce_domain::page::{Page, PageRequest};
use workforce_domain::port::{CompanyCursor, Failure, Locked, Reads, Spender, StoreError, Tx};
use workforce_domain::text::{Description, Label, Name};
use workforce_domain::time::Month;

pub use deletion::{DELETE, delete};
pub use lifecycle::{SWITCH, archive, pause, resume, unarchive};

use crate::access::{self, Denied};
use crate::activity_log::{log_activity, log_change};
use crate::budgets;
use crate::context::Context;
use crate::refusal::{Code, Refusal};

/// Why a call about companies is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompanyError {
    /// The caller may not, or there is no such company.
    #[error(transparent)]
    Denied(#[from] Denied),
    /// Only what was put away is deleted.
    #[error("archive the company before you delete it")]
    NotArchived,
    /// Its last runs are still being stopped.
    #[error("runs of the company are still being stopped: try again when they have ended")]
    LiveRuns,
}

impl Refusal for CompanyError {
    fn code(&self) -> Code {
        match self {
            Self::Denied(denied) => denied.code(),
            Self::NotArchived => Code::CompanyNotArchived,
            Self::LiveRuns => Code::CompanyHasLiveRuns,
        }
    }

    fn details(&self) -> Option<Value> {
        match self {
            Self::Denied(denied) => denied.details(),
            Self::NotArchived | Self::LiveRuns => None,
        }
    }
}

/// A company with its spend of the current month.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Company))]
#[serde(rename_all = "camelCase")]
pub struct CompanyView {
    /// The company.
    #[serde(flatten)]
    pub company: Company,
    /// What its agents spent this month, and hold.
    #[serde(flatten)]
    pub spend: Spend,
}

/// Makes a company.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct CreateCompany {
    /// Its name.
    pub name: Name,
    /// What it does.
    pub description: Option<Description>,
    /// Monthly limit over all its agents; none when left out.
    pub budget_monthly_cents: Option<Budget>,
    /// What counts as spent against the budgets; `actual` when left out.
    pub budget_basis: Option<BudgetBasis>,
    /// Whether new agents need an approval; they do when left out.
    pub require_board_approval_for_new_agents: Option<bool>,
    /// Whether every issue must be reviewed before it is done.
    pub review_required: Option<bool>,
    /// The most bytes that an attachment may have; the server's own limit when
    /// left out.
    pub attachment_max_bytes: Option<AttachmentLimit>,
    /// Language of generated text.
    pub locale: Option<Label>,
    /// Colour of its badge.
    pub brand_color: Option<Label>,
}

/// Makes a company. Board only.
pub fn create(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    command: CreateCompany,
) -> Result<CompanyView, Failure<CompanyError>> {
    let instance = ctx.instance()?;
    let stem = prefix_stem(&command.name);
    let taken = tx.companies_mut().lock_prefixes(instance, &stem)?;
    let company = Company {
        id: ctx.id(),
        name: command.name,
        description: command.description,
        lifecycle: CompanyLifecycle::ACTIVE,
        budget: command.budget_monthly_cents.unwrap_or_default(),
        budget_basis: command.budget_basis.unwrap_or(BudgetBasis::Actual),
        issue_prefix: first_free(&stem, "", &taken),
        require_board_approval_for_new_agents: command
            .require_board_approval_for_new_agents
            .unwrap_or(true),
        review_required: command.review_required.unwrap_or(false),
        max_concurrent_runs: Company::DEFAULT_MAX_CONCURRENT_RUNS,
        attachment_limit: command.attachment_max_bytes,
        locale: command.locale,
        brand_color: command.brand_color,
        created_at: ctx.now,
        updated_at: ctx.now,
    };
    let company = tx.companies_mut().insert(company)?;
    let details = json!({ "name": company.name });
    log_activity(tx, ctx, Action::CompanyCreated, &company, details);
    Ok(CompanyView {
        company: company.into_inner(),
        spend: Spend::default(),
    })
}

/// The companies a caller has access to: all of them for the board, its own
/// for an agent. Without statuses all but the archived ones.
pub fn list(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    statuses: &[CompanyStatus],
    page: &PageRequest<CompanyCursor>,
) -> Result<Page<CompanyView, CompanyCursor>, Failure<CompanyError>> {
    let page = without_spend(reads, ctx, statuses, page)?;
    let scopes: Vec<_> = page.items.iter().map(CompanyOwned::scope).collect();
    let spent: HashMap<CompanyId, Spend> = reads
        .ledger()
        .spent_by_companies(&scopes, Month::of(ctx.now))?
        .into_iter()
        .map(|(scope, spent)| (scope.company(), spent))
        .collect();
    Ok(page.map(|company| CompanyView {
        spend: spent.get(&company.id).copied().unwrap_or_default(),
        company,
    }))
}

/// The companies of [`list`], whose spend nobody asked for.
pub fn without_spend(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    statuses: &[CompanyStatus],
    page: &PageRequest<CompanyCursor>,
) -> Result<Page<Company, CompanyCursor>, Failure<CompanyError>> {
    let statuses = if statuses.is_empty() {
        &[CompanyStatus::Active, CompanyStatus::Paused]
    } else {
        statuses
    };
    let companies = reads.companies();
    Ok(companies.list(ctx.actor().scope(), statuses, page)?)
}

/// One company, archived or not.
pub fn get(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    id: CompanyId,
) -> Result<CompanyView, Failure<CompanyError>> {
    let company = access::company(reads, ctx, id)?;
    Ok(view(reads, ctx, company)?)
}

/// The company whose issues are named with this prefix. Board only.
pub fn by_prefix(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    prefix: &str,
) -> Result<Company, Failure<CompanyError>> {
    let instance = ctx.instance()?;
    let found = reads.companies().find_by_prefix(instance, prefix)?;
    Ok(found.ok_or(Denied::NotFound("company"))?)
}

/// Changes a company's fields.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct UpdateCompany {
    /// Its name.
    #[serde(default)]
    pub name: Replace<Name>,
    /// Its administrative state, with all that the switches do.
    #[serde(default)]
    pub status: Replace<CompanyStatus>,
    /// What it does.
    #[serde(default)]
    pub description: Change<Description>,
    /// Monthly limit over all its agents. A raise lifts a budget stop.
    #[serde(default)]
    pub budget_monthly_cents: Replace<Budget>,
    /// What counts as spent against the budgets of the company, its agents and its
    /// projects.
    #[serde(default)]
    pub budget_basis: Replace<BudgetBasis>,
    /// Whether new agents need an approval.
    #[serde(default)]
    pub require_board_approval_for_new_agents: Replace<bool>,
    /// Whether every issue must be reviewed before it is done.
    #[serde(default)]
    pub review_required: Replace<bool>,
    /// The most bytes that an attachment may have; `null` for the server's own
    /// limit.
    #[serde(default)]
    pub attachment_max_bytes: Change<AttachmentLimit>,
    /// Language of generated text.
    #[serde(default)]
    pub locale: Change<Label>,
    /// Colour of its badge.
    #[serde(default)]
    pub brand_color: Change<Label>,
}

/// Changes a company. Board only.
pub fn update(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: CompanyId,
    command: UpdateCompany,
) -> Result<CompanyView, Failure<CompanyError>> {
    let mut company = lock(tx, ctx, id)?;
    let had = (company.budget, company.budget_basis);
    if let Replace::Set(name) = command.name {
        company.name = name;
    }
    company.description = command.description.apply(company.description.take());
    company.budget = command.budget_monthly_cents.apply(company.budget);
    company.budget_basis = command.budget_basis.apply(company.budget_basis);
    company.require_board_approval_for_new_agents = command
        .require_board_approval_for_new_agents
        .apply(company.require_board_approval_for_new_agents);
    company.review_required = command.review_required.apply(company.review_required);
    company.attachment_limit = command.attachment_max_bytes.apply(company.attachment_limit);
    company.locale = command.locale.apply(company.locale.take());
    company.brand_color = command.brand_color.apply(company.brand_color.take());
    if company.is_changed() {
        company.updated_at = ctx.now;
        log_change(tx, ctx, Action::CompanyUpdated, &mut company, json!({}));
    }
    let month = Month::of(ctx.now);
    if (company.budget, company.budget_basis) != had {
        budgets::enforce_company(tx, ctx, &mut company, month)?;
    }
    if company.budget_basis != had.1 {
        budgets::enforce_everyone(tx, ctx, &company, month)?;
    }
    tx.companies_mut().save(&company)?;
    if let Replace::Set(status) = command.status {
        lifecycle::set_status(tx, ctx, &mut company, status)?;
    }
    Ok(view(tx.reads(), ctx, company.into_inner())?)
}

/// A company as it is answered.
fn view(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    company: Company,
) -> Result<CompanyView, StoreError> {
    let month = Month::of(ctx.now);
    let spend = reads
        .ledger()
        .spent(company.scope(), Spender::Company, month)?;
    Ok(CompanyView { company, spend })
}

fn lock(
    tx: &mut dyn Tx,
    ctx: &Context<'_>,
    id: CompanyId,
) -> Result<Locked<Company>, Failure<CompanyError>> {
    let scope = ctx.actor().enter(id).ok_or(Denied::CompanyForbidden)?;
    ctx.require_board()?;
    tx.companies_mut()
        .lock(scope.into(), id)?
        .ok_or_else(|| Denied::NotFound("company").into())
}
