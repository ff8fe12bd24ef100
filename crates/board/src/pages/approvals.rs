//! What waits for the board's word, and what it said last.

use actix_web::HttpResponse;
use askama::Template;
use workforce_app::approvals::{self, ApprovalView};
use workforce_app::attention::Need;
use workforce_app::{Context, issues};
use workforce_domain::approval::{Approval, ApprovalStanding};
use workforce_domain::id::CompanyId;
use workforce_domain::port::{ApprovalFilter, Reads};
use workforce_http::door::{Access, Pages, Visit};

use super::{Gathered, Told as _, everyone, of, show};
use crate::html::approval::{Names, icon, named_by, subject};
use crate::html::filters;
use crate::html::people::{Staff, Who};
use crate::html::status::Pill;
use crate::html::when::Ago;
use crate::links::Links;
use crate::shell::{Asked, Shell};

/// So many rows of what is decided.
const DECIDED: usize = 10;
/// So many of what waits.
const WAITING: usize = 50;

pub(super) fn register(pages: Pages) -> Pages {
    pages.get("/c/{prefix}/approvals", Access::Board, list)
}

/// An approval in a list.
pub(crate) struct Row {
    pub(crate) icon: &'static str,
    pub(crate) what: String,
    pub(crate) link: String,
    pub(crate) who: Option<Who>,
    pub(crate) since: Ago,
    pub(crate) pill: Pill,
    /// How much of it deserves a second look.
    pub(crate) marks: usize,
}

impl Row {
    pub(crate) fn new(
        ctx: &Context<'_>,
        links: &Links,
        staff: &Staff,
        names: &Names,
        view: &ApprovalView,
    ) -> Self {
        let approval = &view.approval;
        Self {
            icon: icon(approval.kind),
            what: subject(approval, names),
            link: links.approval(approval.id),
            who: staff.author(approval.requested_by),
            since: Ago::new(approval.created_at, ctx.now),
            pill: Pill::of_approval(approval.status()),
            marks: approval.attention.len(),
        }
    }
}

/// What the issues are called that approvals say nothing of.
pub(super) fn names<'a>(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    company: CompanyId,
    approvals: impl Iterator<Item = &'a Approval>,
) -> Gathered<Names> {
    let unnamed: Vec<_> = approvals.filter_map(named_by).collect();
    match unnamed.is_empty() {
        true => Ok(Names::new()),
        false => issues::titles(reads, ctx, company, &unnamed).told(),
    }
}

/// The same for all that waits for a person.
pub(super) fn names_of_needs(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    company: CompanyId,
    needs: &[Need],
) -> Gathered<Names> {
    let approvals = needs.iter().filter_map(|need| match need {
        Need::Decision(approval) => Some(approval),
        _ => None,
    });
    names(reads, ctx, company, approvals)
}

#[derive(Template)]
#[template(path = "pages/approvals.html")]
struct ApprovalsPage {
    shell: Shell,
    waiting: Vec<Row>,
    decided: Vec<Row>,
}

async fn list(visit: Visit) -> HttpResponse {
    let asked = Asked::of(&visit);
    show(&visit, move |reads, ctx| gather(reads, ctx, &asked)).await
}

fn gather(reads: &mut dyn Reads, ctx: &Context<'_>, asked: &Asked) -> Gathered<ApprovalsPage> {
    use ApprovalStanding::{
        Approved, Cancelled, Pending, Rejected, Resubmitted, RevisionRequested,
    };
    let company = asked.company(reads, ctx)?;
    let ctx = &ctx.within(&company);
    let id = company.id;
    let agents = everyone(reads, ctx, id, true)?;
    let staff = Staff::of(&agents);
    let links = asked.links();
    let mut rows = |standings: &[ApprovalStanding], most| -> Gathered<Vec<Row>> {
        let filter = ApprovalFilter {
            standings: standings.to_vec(),
            ..ApprovalFilter::default()
        };
        let page = approvals::list(reads, ctx, id, &filter, &of(most)).told()?;
        let names = names(reads, ctx, id, page.items.iter().map(|it| &it.approval))?;
        let rows = page
            .items
            .iter()
            .map(|view| Row::new(ctx, &links, &staff, &names, view));
        Ok(rows.collect())
    };
    let waiting = rows(&[Pending, Resubmitted], WAITING)?;
    let decided = rows(&[Approved, Rejected, Cancelled, RevisionRequested], DECIDED)?;
    Ok(ApprovalsPage {
        waiting,
        decided,
        shell: Shell::gather(reads, ctx, asked, &company, "approvals")?,
    })
}
