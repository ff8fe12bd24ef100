//! What the store tells of an issue.

use workforce_app::issues::{self, IssueDetail, IssueView};
use workforce_app::tickets::WorktreeView;
use workforce_app::{Context, approvals, attachments};
use workforce_domain::lifecycle::Lifecycle as _;
use workforce_domain::port::{IssueFilter, Reads};

use super::About;
use super::deeds;
use super::facts::Choices;
use super::files::File;
use super::thread::Thread;
use crate::html::approval::{Names, subject};
use crate::html::markdown::Prose;
use crate::html::people::{Staff, Who};
use crate::html::status::{Pill, of_priority};
use crate::html::when::Ago;
use crate::links::Links;
use crate::pages::approval::worktree;
use crate::pages::issues::who;
use crate::pages::new_issue::{Colleague, colleagues};
use crate::pages::{Gathered, Told as _, everyone, of};
use crate::shell::Shell;

/// So many children, files and approvals are shown.
const SHOWN: usize = 50;

pub(super) struct Child {
    pub(super) pill: Pill,
    pub(super) key: String,
    pub(super) title: String,
    pub(super) link: String,
    pub(super) assignee: Option<Who>,
}

/// An approval that is linked to the issue.
pub(super) struct LinkedApproval {
    pub(super) subject: String,
    pub(super) pill: Pill,
    pub(super) link: String,
}

/// What the store tells of an issue.
pub(super) struct Found {
    pub(super) link: String,
    pub(super) key: String,
    pub(super) title: String,
    pub(super) text: String,
    pub(super) seen: String,
    pub(super) pill: Pill,
    pub(super) description: Option<Prose>,
    pub(super) parents: Vec<(String, String)>,
    pub(super) children: Vec<Child>,
    pub(super) has_more_children: bool,
    pub(super) children_done: usize,
    pub(super) approvals: Vec<LinkedApproval>,
    pub(super) files: Vec<File>,
    pub(super) thread: Thread,
    pub(super) assignee: Option<Who>,
    pub(super) assignee_id: String,
    pub(super) holder: Option<Who>,
    pub(super) priority: &'static str,
    pub(super) project: Option<String>,
    pub(super) goal: Option<String>,
    pub(super) parent: String,
    pub(super) billing_code: String,
    pub(super) ticket_key: Option<String>,
    pub(super) labels: Vec<String>,
    pub(super) made: Ago,
    pub(super) changed: Ago,
    pub(super) choices: Choices,
    pub(super) colleagues: Vec<Colleague>,
    pub(super) is_live: bool,
    pub(super) has_ended: bool,
    pub(super) worktree: Option<WorktreeView>,
}

/// Looks for all that its page shows.
pub(super) fn gather(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    about: &About,
) -> Gathered<(Shell, Found)> {
    let (asked, name) = (&about.asked, about.issue()?);
    let (company, detail) = about.find(reads, ctx)?;
    let ctx = &ctx.within(&company);
    let id = company.id;
    let shell = Shell::gather(reads, ctx, asked, &company, "issues")?;
    let issue = &detail.view.issue;
    let agents = everyone(reads, ctx, id, true)?;
    let staff = Staff::of(&agents);
    let links = asked.links();
    let link = links.issue(&issue.identifier);
    let below = IssueFilter {
        parent: Some(issue.id),
        ..IssueFilter::default()
    };
    let children = issues::list(reads, ctx, id, &below, &of(SHOWN)).told()?;
    let linked = approvals::of_issue(reads, ctx, name, &of(SHOWN)).told()?;
    let attached = attachments::list(reads, ctx, name, &of(SHOWN)).told()?;
    let lease = detail.view.lease.as_ref();
    let choices = Choices::gather(reads, ctx, id, &detail)?;
    let mut names = staff.names();
    names.extend(choices.names());
    let found = Found {
        key: issue.identifier.clone(),
        title: issue.title.to_string(),
        text: issue
            .description
            .as_ref()
            .map(ToString::to_string)
            .unwrap_or_default(),
        seen: deeds::seen(issue),
        pill: Pill::of_issue(issue.status()),
        description: issue.description.as_ref().map(|text| Prose::new(text)),
        parents: parents(&detail, &links),
        children_done: children
            .items
            .iter()
            .filter(|view| view.issue.status().is_terminal())
            .count(),
        has_more_children: children.next.is_some(),
        children: children
            .items
            .iter()
            .map(|view| child(view, &links, &staff))
            .collect(),
        approvals: linked
            .items
            .iter()
            .map(|view| LinkedApproval {
                subject: subject(&view.approval, &Names::new()),
                pill: Pill::of_approval(view.approval.status()),
                link: links.approval(view.approval.id),
            })
            .collect(),
        files: attached
            .items
            .iter()
            .map(|file| File::of(file, ctx, &staff, &link))
            .collect(),
        thread: Thread::gather(
            reads,
            ctx,
            name,
            (&staff, &names),
            (&links, &link),
            about.before,
        )?,
        assignee: who(&staff, *issue.assignee),
        assignee_id: issue
            .assignee
            .agent()
            .map_or_else(String::new, |id| id.to_string()),
        holder: lease.map(|lease| staff.agent(lease.holder.agent())),
        priority: of_priority(issue.priority),
        project: detail
            .project
            .as_ref()
            .map(|it| it.project.name.to_string()),
        goal: detail.goal.as_ref().map(|it| it.title.to_string()),
        parent: detail
            .ancestors
            .first()
            .map_or_else(String::new, |it| it.view.issue.identifier.clone()),
        billing_code: issue
            .billing_code
            .as_ref()
            .map(ToString::to_string)
            .unwrap_or_default(),
        ticket_key: issue.ticket_key.as_ref().map(ToString::to_string),
        labels: detail
            .view
            .labels
            .iter()
            .map(|label| label.name.to_string())
            .collect(),
        made: Ago::new(issue.created_at, ctx.now),
        changed: Ago::new(issue.updated_at, ctx.now),
        choices,
        colleagues: colleagues(&agents),
        is_live: lease.is_some_and(|lease| lease.holder.run().is_some()),
        has_ended: issue.status().is_terminal(),
        worktree: match issue.execution_workspace {
            Some(_) => worktree(reads, ctx, name, about.worktree)?,
            None => None,
        },
        link,
    };
    Ok((shell, found))
}

fn parents(detail: &IssueDetail, links: &Links) -> Vec<(String, String)> {
    let parents = detail.ancestors.iter().rev().map(|parent| {
        let issue = &parent.view.issue;
        let words = format!("{} {}", issue.identifier, issue.title);
        (words, links.issue(&issue.identifier))
    });
    parents.collect()
}

fn child(view: &IssueView, links: &Links, staff: &Staff) -> Child {
    Child {
        pill: Pill::of_issue(view.issue.status()),
        link: links.issue(&view.issue.identifier),
        key: view.issue.identifier.clone(),
        title: view.issue.title.to_string(),
        assignee: who(staff, *view.issue.assignee),
    }
}
