use std::collections::BTreeMap;

use workforce_domain::actor::{ActorKind, CompanyOwned};
use workforce_domain::id::{AgentId, CommentId, IssueId};
use workforce_domain::issue::{Comment, Position};
use workforce_domain::page::{Order, PageRequest};
use workforce_domain::port::{ClaimedRun, Reads, RunFilter, StoreError};
use workforce_domain::run::RunStatus;
use workforce_domain::time::Timestamp;

use super::{MAX_COMMENT, MAX_COMMENTS};

/// Comments are read in pages of so many.
const PAGE_ROWS: usize = 25;
/// A page ends with the comment that exceeds so many bytes.
const PAGE_BYTES: usize = 64 * 1024;
/// At most so many pages are read, however many of the comments are the agent's
/// own.
const MAX_PAGES: usize = 4;
/// Of the comments that woke the agent, so many of the newest are looked up when
/// they are older than what is read anyway.
const MAX_CAUSES: usize = 8;

/// The comments of others that an agent has not dealt with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewComments {
    /// The comments, oldest first.
    pub comments: Vec<NewComment>,
    /// Whether older ones are left out.
    pub older: bool,
}

/// A comment with the name of its author.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewComment {
    /// Unique id.
    pub id: CommentId,
    /// Who wrote it.
    pub author: Writer,
    /// When.
    pub at: Timestamp,
    /// The lines that it is about.
    pub position: Option<Position>,
    /// What it says.
    pub body: String,
    /// Whether it woke the agent.
    pub woke: bool,
}

/// Who wrote something, as a prompt names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Writer {
    /// The kind of actor.
    pub kind: ActorKind,
    /// The name of an agent; what else is called by its kind alone.
    pub name: Option<String>,
    /// The agent.
    pub agent: Option<AgentId>,
}

/// The comments on the issue of a run that others wrote since the agent's latest
/// run about it that succeeded, and those that woke the agent. A run that failed
/// may have dealt with nothing, so that its comments are told once more; what
/// was written during a run counts as new.
pub(super) fn new_ones(
    reads: &mut dyn Reads,
    claimed: &ClaimedRun,
) -> Result<NewComments, StoreError> {
    let Some(issue) = claimed.run.issue else {
        return Ok(NewComments::default());
    };
    let since = dealt_with_at(reads, claimed, issue)?;
    let (mut found, older) = latest(reads, claimed, issue, since)?;
    let causes = &claimed.wake.comments;
    let missing: Vec<CommentId> = causes
        .iter()
        .rev()
        .filter(|id| found.iter().all(|comment| comment.id != **id))
        .take(MAX_CAUSES)
        .copied()
        .collect();
    if !missing.is_empty() {
        let company = claimed.company.scope();
        found.extend(reads.comments().find_all(company, &missing)?);
    }
    found.sort_by_key(|comment| (comment.created_at, comment.id));
    let mut names = BTreeMap::new();
    let comments = found
        .into_iter()
        .map(|comment| {
            Ok(NewComment {
                author: writer(reads, claimed, &comment, &mut names)?,
                id: comment.id,
                at: comment.created_at,
                woke: causes.contains(&comment.id),
                position: comment.position,
                body: comment.body.into(),
            })
        })
        .collect::<Result<_, StoreError>>()?;
    Ok(NewComments { comments, older })
}

/// When the agent's latest run about the issue that succeeded had been told of
/// everything before.
fn dealt_with_at(
    reads: &mut dyn Reads,
    claimed: &ClaimedRun,
    issue: IssueId,
) -> Result<Option<Timestamp>, StoreError> {
    let filter = RunFilter {
        agent: Some(claimed.agent.id),
        issue: Some(issue),
        statuses: vec![RunStatus::Succeeded],
    };
    let page = PageRequest {
        limit: 1,
        ..PageRequest::first()
    };
    let runs = reads.runs().list(claimed.company.scope(), &filter, &page)?;
    Ok(runs.items.first().and_then(|run| run.started_at))
}

/// The newest comments of others, as many as a prompt can show, and whether it
/// leaves some out.
fn latest(
    reads: &mut dyn Reads,
    claimed: &ClaimedRun,
    issue: IssueId,
    since: Option<Timestamp>,
) -> Result<(Vec<Comment>, bool), StoreError> {
    let company = claimed.company.scope();
    let mut page = PageRequest {
        after: None,
        limit: PAGE_ROWS,
        max_bytes: PAGE_BYTES,
    };
    let mut found = Vec::new();
    let mut shown = 0;
    for _ in 0..MAX_PAGES {
        let read = reads
            .comments()
            .list(company, issue, Order::Descending, &page)?;
        for comment in read.items {
            if since.is_some_and(|since| comment.created_at < since) {
                return Ok((found, false));
            }
            if comment.author.agent() == Some(claimed.agent.id) {
                continue;
            }
            if shown >= MAX_COMMENTS {
                return Ok((found, true));
            }
            shown += comment.body.len().min(MAX_COMMENT);
            found.push(comment);
        }
        match read.next {
            Some(next) => page.after = Some(next),
            None => return Ok((found, false)),
        }
    }
    Ok((found, true))
}

fn writer(
    reads: &mut dyn Reads,
    claimed: &ClaimedRun,
    comment: &Comment,
    names: &mut BTreeMap<AgentId, Option<String>>,
) -> Result<Writer, StoreError> {
    let agent = comment.author.agent();
    let name = match agent {
        Some(id) => match names.get(&id) {
            Some(name) => name.clone(),
            None => {
                let company = claimed.company.scope();
                let found = reads.agents().find(company.into(), id)?;
                let name = found.map(|agent| agent.name.into());
                names.insert(id, name.clone());
                name
            }
        },
        None => None,
    };
    Ok(Writer {
        kind: comment.author.kind(),
        name,
        agent,
    })
}
