//! One issue: what is to be done, who does it, what was said and happened, and what can be done
//! about it.

mod deeds;
mod facts;
mod files;
mod found;
mod thread;

use actix_web::HttpResponse;
use askama::Template;
use serde::Deserialize;
use workforce_app::Context;
use workforce_app::issues::{self, IssueDetail};
use workforce_domain::company::Company;
use workforce_domain::id::ExecutionWorkspaceId;
use workforce_domain::issue::IssueRef;
use workforce_domain::port::Reads;
use workforce_http::door::{Access, Pages, Visit};
use workforce_http::problem::Problem;

use self::found::{Found, gather};
use self::thread::Kind;
use super::approval::work::Work;
use super::{Gathered, Refused, Told as _, led_or_shown};
use crate::answer;
use crate::form::{Filled, Form};
use crate::html::filters;
use crate::shell::{Asked, Shell};

const PATH: &str = "/c/{prefix}/issues/{issue}";

pub(super) fn register(pages: Pages) -> Pages {
    let pages = pages
        .get(PATH, Access::Board, issue)
        .post(PATH, Access::Board, deeds::change)
        .get(&format!("{PATH}/diff"), Access::Board, diff)
        .post(&format!("{PATH}/texts"), Access::Board, deeds::edit)
        .post(&format!("{PATH}/comments"), Access::Board, deeds::say)
        .post(&format!("{PATH}/deeds"), Access::Board, deeds::act);
    pages
        .upload(&format!("{PATH}/files"), files::place, files::sent)
        .get(
            &format!("{PATH}/files/{{file}}"),
            Access::Board,
            files::content,
        )
        .post(
            &format!("{PATH}/files/{{file}}"),
            Access::Board,
            files::remove,
        )
}

#[derive(Template)]
#[template(path = "pages/issue.html")]
struct IssuePage {
    shell: Shell,
    found: Found,
    work: Option<Work>,
    forms: Forms,
}

#[derive(Template)]
#[template(path = "pages/issue_diff.html")]
struct DiffPage {
    shell: Shell,
    found: Found,
    work: Option<Work>,
}

/// The forms of the page.
#[derive(Clone)]
struct Forms {
    comment: Filled,
    facts: Filled,
    more: Filled,
    texts: Filled,
    files: Filled,
    deeds: Filled,
}

impl Forms {
    fn blank(visit: &Visit) -> Self {
        let blank = || Filled::blank(visit);
        Self {
            comment: blank(),
            facts: blank(),
            more: blank(),
            texts: blank(),
            files: blank(),
            deeds: blank(),
        }
    }
}

/// What of an issue is wanted, as the address says it.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
struct Wanted {
    before: Option<i64>,
    worktree: String,
}

/// The issue that a page is about.
#[derive(Clone)]
struct About {
    asked: Asked,
    issue: Option<IssueRef>,
    before: Option<i64>,
    worktree: Option<ExecutionWorkspaceId>,
}

impl About {
    fn of(visit: &Visit) -> Self {
        let wanted: Wanted = serde_html_form::from_str(visit.query()).unwrap_or_default();
        Self {
            asked: Asked::of(visit),
            issue: IssueRef::parse(visit.parameter("issue")),
            before: wanted.before,
            worktree: wanted.worktree.parse().ok(),
        }
    }

    /// The company in the address, and the issue if it is one of that.
    fn find(&self, reads: &mut dyn Reads, ctx: &Context<'_>) -> Gathered<(Company, IssueDetail)> {
        let company = self.asked.company(reads, ctx)?;
        let detail = issues::get(reads, ctx, self.issue()?).told()?;
        if detail.view.issue.company == company.id {
            Ok((company, detail))
        } else {
            Err(Refused::missing("issue"))
        }
    }

    fn issue(&self) -> Gathered<&IssueRef> {
        self.issue.as_ref().ok_or_else(|| Refused::missing("issue"))
    }
}

async fn issue(visit: Visit) -> HttpResponse {
    match page(&visit, Forms::blank(&visit)).await {
        Ok(page) => answer::page(&page),
        Err(problem) => answer::refused(&visit, &problem),
    }
}

/// Leads to a page, or shows this one with the form that was refused.
async fn answered(
    visit: &Visit,
    form: Form,
    done: Result<String, Problem>,
    place: impl Fn(Filled, Forms) -> Forms,
) -> HttpResponse {
    led_or_shown(visit, done, async |problem| {
        let refused = Filled::refused(form, problem, visit);
        page(visit, place(refused, Forms::blank(visit))).await
    })
    .await
}

async fn page(visit: &Visit, forms: Forms) -> Result<IssuePage, Problem> {
    let about = About::of(visit);
    let look = visit.look(move |reads, ctx| gather(reads, ctx, &about));
    let (shell, mut found) = look.await?;
    let work = match found.worktree.take() {
        Some(view) => Some(Work::without_diff(visit, view).await),
        None => None,
    };
    Ok(IssuePage {
        shell,
        found,
        work,
        forms,
    })
}

/// What the worktree of the issue changes.
async fn diff(visit: Visit) -> HttpResponse {
    let about = About::of(&visit);
    let looked = visit
        .look(move |reads, ctx| gather(reads, ctx, &about))
        .await;
    let (shell, mut found) = match looked {
        Ok(found) => found,
        Err(problem) => return answer::refused(&visit, &problem),
    };
    let work = match found.worktree.take() {
        Some(view) => {
            let link = format!("{}/diff?worktree={}&", found.link, view.record.id);
            Some(Work::read(&visit, view, &link).await)
        }
        None => None,
    };
    answer::page(&DiffPage { shell, found, work })
}
