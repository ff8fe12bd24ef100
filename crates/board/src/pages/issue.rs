//! One issue: what is to be done, who does it, what was said, and what can be done about it.

use actix_web::HttpResponse;
use askama::Template;
use serde::de::DeserializeOwned;
use workforce_app::companies::CompanyView;
use workforce_app::issues::{self, AddComment, IssueDetail, UpdateIssue};
use workforce_app::{Context, approvals, runs};
use workforce_domain::issue::{Comment, IssueRef, IssueStatus, Priority};
use workforce_domain::lifecycle::Lifecycle as _;
use workforce_domain::page::Order;
use workforce_domain::port::{IssueFilter, Reads, Tx};
use workforce_domain::run::Run;
use workforce_domain::string_enum::StringEnum;
use workforce_http::door::{Access, Pages, Visit};
use workforce_http::problem::Problem;

use super::issues::who;
use super::new_issue::{Colleague, colleagues};
use super::{Gathered, Refused, Told as _, everyone, form_answered, of, show};
use crate::form::{Filled, Form, Kind};
use crate::html::filters;
use crate::html::markdown::Prose;
use crate::html::people::{Staff, Who};
use crate::html::status::{Pill, of_priority, why_woken, word};
use crate::html::when::Ago;
use crate::links::Links;
use crate::shell::{Asked, Shell};

/// So many comments and runs are shown.
const SHOWN: usize = 50;

const PATH: &str = "/c/{prefix}/issues/{issue}";

/// The fields of the form that changes an issue.
const CHANGED: &[(&str, Kind)] = &[
    ("status", Kind::Text),
    ("priority", Kind::Text),
    ("assigneeAgentId", Kind::OrNull),
];

const SAID: &[(&str, Kind)] = &[("body", Kind::Text), ("interrupt", Kind::Switch)];

pub(super) fn register(pages: Pages) -> Pages {
    pages
        .get(PATH, Access::Board, issue)
        .post(PATH, Access::Board, change)
        .post(&format!("{PATH}/comments"), Access::Board, say)
}

/// An entry of the thread.
enum Entry {
    Comment {
        who: Option<Who>,
        text: Prose,
        at: Ago,
    },
    Run {
        pill: Pill,
        who: Who,
        why: &'static str,
        at: Ago,
        link: String,
    },
}

struct Child {
    pill: Pill,
    key: String,
    title: String,
    link: String,
    assignee: Option<Who>,
}

/// A value that can be chosen, with its word.
struct Choice {
    value: &'static str,
    word: &'static str,
    is_chosen: bool,
}

#[derive(Template)]
#[template(path = "pages/issue.html")]
struct IssuePage {
    shell: Shell,
    link: String,
    key: String,
    title: String,
    pill: Pill,
    description: Option<Prose>,
    parents: Vec<(String, String)>,
    children: Vec<Child>,
    entries: Vec<Entry>,
    assignee: Option<Who>,
    assignee_id: String,
    priority: &'static str,
    project: Option<String>,
    goal: Option<String>,
    labels: Vec<String>,
    made: Ago,
    changed: Ago,
    statuses: Vec<Choice>,
    priorities: Vec<Choice>,
    colleagues: Vec<Colleague>,
    is_live: bool,
    comment: Filled,
    facts: Filled,
}

/// The forms of the page.
#[derive(Clone)]
struct Forms {
    comment: Filled,
    facts: Filled,
}

impl Forms {
    fn blank(visit: &Visit) -> Self {
        Self {
            comment: Filled::blank(visit),
            facts: Filled::blank(visit),
        }
    }
}

/// The issue that a page is about.
#[derive(Clone)]
struct About {
    asked: Asked,
    issue: Option<IssueRef>,
}

impl About {
    fn of(visit: &Visit) -> Self {
        Self {
            asked: Asked::of(visit),
            issue: IssueRef::parse(visit.parameter("issue")),
        }
    }

    /// The company in the address, and the issue if it is one of that.
    fn find(
        &self,
        reads: &mut dyn Reads,
        ctx: &Context<'_>,
    ) -> Gathered<(CompanyView, IssueDetail)> {
        let company = self.asked.company(reads, ctx)?;
        let detail = issues::get(reads, ctx, self.issue()?).told()?;
        if detail.view.issue.company == company.company.id {
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
    let (about, forms) = (About::of(&visit), Forms::blank(&visit));
    show(&visit, move |reads, ctx| gather(reads, ctx, &about, &forms)).await
}

fn gather(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    about: &About,
    forms: &Forms,
) -> Gathered<IssuePage> {
    let (asked, name) = (&about.asked, about.issue()?);
    let (company, detail) = about.find(reads, ctx)?;
    let id = company.company.id;
    let shell = Shell::gather(reads, ctx, asked, &company, "issues")?;
    let issue = &detail.view.issue;
    let agents = everyone(reads, ctx, id, true)?;
    let staff = Staff::of(&agents);
    let comments = issues::comments(reads, ctx, name, Order::Descending, &of(SHOWN)).told()?;
    let runs = runs::of_issue(reads, ctx, name, &[], &of(SHOWN)).told()?;
    let below = IssueFilter {
        parent: Some(issue.id),
        ..IssueFilter::default()
    };
    let children = issues::list(reads, ctx, id, &below, &of(SHOWN)).told()?;
    let links = asked.links();
    Ok(IssuePage {
        link: links.issue(&issue.identifier),
        key: issue.identifier.clone(),
        title: issue.title.to_string(),
        pill: Pill::of_issue(issue.status()),
        description: issue.description.as_ref().map(|text| Prose::new(text)),
        parents: detail
            .ancestors
            .iter()
            .rev()
            .map(|parent| {
                let issue = &parent.view.issue;
                let words = format!("{} {}", issue.identifier, issue.title);
                (words, links.issue(&issue.identifier))
            })
            .collect(),
        children: children
            .items
            .iter()
            .map(|view| Child {
                pill: Pill::of_issue(view.issue.status()),
                link: links.issue(&view.issue.identifier),
                key: view.issue.identifier.clone(),
                title: view.issue.title.to_string(),
                assignee: who(&staff, *view.issue.assignee),
            })
            .collect(),
        entries: thread(ctx, &links, &staff, &comments.items, &runs.items),
        assignee: who(&staff, *issue.assignee),
        assignee_id: issue
            .assignee
            .agent()
            .map_or_else(String::new, |id| id.to_string()),
        priority: of_priority(issue.priority),
        project: detail
            .project
            .as_ref()
            .map(|it| it.project.name.to_string()),
        goal: detail.goal.as_ref().map(|it| it.title.to_string()),
        labels: detail
            .view
            .labels
            .iter()
            .map(|label| label.name.to_string())
            .collect(),
        made: Ago::new(issue.created_at, ctx.now),
        changed: Ago::new(issue.updated_at, ctx.now),
        statuses: statuses(issue.status()),
        priorities: Priority::ALL
            .iter()
            .map(|priority| Choice {
                value: priority.as_str(),
                word: of_priority(*priority),
                is_chosen: *priority == issue.priority,
            })
            .collect(),
        colleagues: colleagues(&agents),
        is_live: detail.view.lease.is_some(),
        comment: forms.comment.clone(),
        facts: forms.facts.clone(),
        shell,
    })
}

/// The present status and those that may follow.
fn statuses(present: IssueStatus) -> Vec<Choice> {
    let may = IssueStatus::ALL
        .iter()
        .filter(|status| **status == present || present.successors().contains(status));
    may.map(|status| Choice {
        value: status.as_str(),
        word: word(*status),
        is_chosen: *status == present,
    })
    .collect()
}

/// Comments and runs, oldest first.
fn thread(
    ctx: &Context<'_>,
    links: &Links,
    staff: &Staff,
    comments: &[Comment],
    runs: &[Run],
) -> Vec<Entry> {
    let comments = comments.iter().map(|comment| {
        let entry = Entry::Comment {
            who: staff.author(comment.author),
            text: Prose::new(&comment.body),
            at: Ago::new(comment.created_at, ctx.now),
        };
        (comment.created_at, entry)
    });
    let runs = runs.iter().map(|run| {
        let entry = Entry::Run {
            pill: Pill::of_run(run.status),
            who: staff.agent(run.agent),
            why: why_woken(run.reason),
            at: Ago::new(run.created_at, ctx.now),
            link: links.run(run.id),
        };
        (run.created_at, entry)
    });
    let mut all: Vec<_> = comments.chain(runs).collect();
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, entry)| entry).collect()
}

async fn change(visit: Visit) -> HttpResponse {
    let form = Form::of(&visit);
    let act = |tx: &mut dyn Tx, ctx: &Context<'_>, name: &IssueRef, command: &UpdateIssue| {
        approvals::update_issue(tx, ctx, name, command.clone())
            .told()
            .map(drop)
    };
    let done = acted(&visit, &form, CHANGED, act).await;
    let (about, blank) = (About::of(&visit), Forms::blank(&visit));
    form_answered(&visit, form, done, move |reads, ctx, facts| {
        let forms = Forms {
            facts: facts.clone(),
            ..blank.clone()
        };
        gather(reads, ctx, &about, &forms)
    })
    .await
}

async fn say(visit: Visit) -> HttpResponse {
    let form = Form::of(&visit);
    let act = |tx: &mut dyn Tx, ctx: &Context<'_>, name: &IssueRef, command: &AddComment| {
        issues::add_comment(tx, ctx, name, command.clone())
            .told()
            .map(drop)
    };
    let done = acted(&visit, &form, SAID, act).await;
    let (about, blank) = (About::of(&visit), Forms::blank(&visit));
    form_answered(&visit, form, done, move |reads, ctx, comment| {
        let forms = Forms {
            comment: comment.clone(),
            ..blank.clone()
        };
        gather(reads, ctx, &about, &forms)
    })
    .await
}

/// Does something about the issue, and tells where the page is.
async fn acted<C: DeserializeOwned + Send + 'static>(
    visit: &Visit,
    form: &Form,
    fields: &[(&str, Kind)],
    act: impl Fn(&mut dyn Tx, &Context<'_>, &IssueRef, &C) -> Gathered<()> + Send + 'static,
) -> Result<String, Problem> {
    let command: C = form.command(fields)?;
    let about = About::of(visit);
    let place = about.asked.links().issue(visit.parameter("issue"));
    let done = visit.act(
        form.key(),
        (about, command),
        move |tx, ctx, (about, command)| {
            about.find(tx.reads(), ctx)?;
            act(tx, ctx, about.issue()?, command)
        },
        move |()| place.clone(),
    );
    done.await
}
