use workforce_domain::actor::ActorKind;
use workforce_domain::approval::ApprovalStatus;
use workforce_domain::issue::{DiffSide, Position};
use workforce_domain::run::RunKind;

use super::condition;
use super::draft::Draft;
use super::fence::quoted;
use super::{
    DecisionFacts, IssueFacts, IssueLines, MAX_COMMENT, MAX_COMMENTS, MAX_DESCRIPTION,
    MAX_HAND_OVER, MAX_NOTE, MAX_PATH, MAX_PAYLOAD, NewComment, PromptInput, Writer, next_steps,
    reasons,
};

/// What the prompt tells anyway, however the agent was woken.
const TOLD: [&str; 3] = ["issueId", "identifier", "commentId"];
/// The same, where a decision woke it.
const TOLD_OF_DECISION: [&str; 5] = [
    "approvalId",
    "approvalType",
    "approvalStatus",
    "decisionNote",
    "issueIds",
];

/// Why the agent runs, and what about.
pub(super) fn write(input: &PromptInput<'_>) -> Draft {
    let mut draft = Draft::default();
    wake(&mut draft, input);
    let facts = input.facts;
    if let Some(facts) = &facts.issue {
        issue(&mut draft, input, facts);
    }
    comments(&mut draft, input);
    if let Some(told) = &facts.decision {
        decision(&mut draft, told);
    }
    list(&mut draft, "children of the issue", &facts.children);
    list(&mut draft, "what waits for you", &facts.waiting);
    place(&mut draft, input);
    if let Some(text) = input.hand_over.filter(|_| !input.resumed) {
        draft.section("from your former session");
        draft.push_fenced(&quoted(text, MAX_HAND_OVER));
    }
    next_steps::write(&mut draft, input);
    draft
}

fn wake(draft: &mut Draft, input: &PromptInput<'_>) {
    let claimed = input.claimed;
    let (run, wake) = (&claimed.run, &claimed.wake);
    draft.section("why you run");
    if input.resumed {
        draft.line(
            "You go on with your former session. Where it disagrees with what follows, this is how \
things stand now.",
        );
    }
    let kind = match run.kind {
        RunKind::Execution => "to work on an issue",
        RunKind::Consult => "to give advice on an issue",
        RunKind::General => "about no issue in particular",
    };
    draft.line(&format!("This is run `{}`, {kind}.", run.id));
    for reason in &wake.reasons {
        draft.line(&format!("- {} (`{reason}`)", reasons::sentence(*reason)));
    }
    if run.issue.is_some() && input.facts.issue.is_none() {
        draft.line("The issue was deleted meanwhile: end the run.");
    }
    if wake.count > 1 {
        draft.line(&format!("You were woken {} times for it.", wake.count));
    }
    if let Some(who) = &wake.requested_by {
        let who = draft.name(who);
        draft.line(&format!("Asked for by `{who}`."));
    }
    payload(draft, input);
}

fn payload(draft: &mut Draft, input: &PromptInput<'_>) {
    let mut payload = input.claimed.wake.payload.clone();
    if input.facts.issue.is_some() {
        for key in TOLD {
            payload.remove(key);
        }
    }
    if input.facts.decision.is_some() {
        for key in TOLD_OF_DECISION {
            payload.remove(key);
        }
    }
    if payload.is_empty() {
        return;
    }
    let text = serde_json::to_string_pretty(&payload).unwrap_or_default();
    draft.line("What the wake says beyond that:");
    draft.push_fenced(&quoted(&text, MAX_PAYLOAD));
}

fn issue(draft: &mut Draft, input: &PromptInput<'_>, facts: &IssueFacts) {
    let issue = &facts.issue;
    let (identifier, title) = (draft.name(&issue.identifier), draft.name(&issue.title));
    draft.section("the issue");
    draft.line(&format!("{identifier}: \"{title}\""));
    let assignee = match (issue.assignee.agent(), issue.assignee.board()) {
        (Some(agent), _) if agent == input.claimed.agent.id => "you".to_owned(),
        (Some(agent), _) => format!("agent `{agent}`"),
        (None, Some(_)) => "the board".to_owned(),
        (None, None) => "nobody".to_owned(),
    };
    draft.line(&format!(
        "Status {}, priority {}, assigned to {assignee}, id `{}`.",
        issue.status(),
        issue.priority,
        issue.id
    ));
    if let Some(project) = &facts.project {
        let name = draft.name(&project.name);
        let due = project.target_date.map(|due| format!(", due {due}"));
        draft.line(&format!("Project: \"{name}\"{}.", due.unwrap_or_default()));
    }
    if let Some(goal) = &facts.goal {
        let goal = draft.name(goal);
        draft.line(&format!("Goal: \"{goal}\"."));
    }
    if facts.reviews {
        draft.line("Another agent did the work, and you are to review it.");
    } else if facts.review_required {
        draft.line("Somebody else must review it before it is done.");
    }
    if !facts.parents.lines.is_empty() {
        draft.line("Part of, nearest first:");
        items(draft, &facts.parents);
    }
    match issue.description.as_deref().map(str::trim) {
        None | Some("") => draft.line("It has no description."),
        Some(description) => {
            draft.line("Description:");
            draft.push_fenced(&quoted(description, MAX_DESCRIPTION));
        }
    }
}

fn items(draft: &mut Draft, list: &IssueLines) {
    for issue in &list.lines {
        draft.item(issue);
    }
    if list.more {
        draft.line("- and more");
    }
}

fn list(draft: &mut Draft, title: &str, list: &IssueLines) {
    if !list.lines.is_empty() {
        draft.section(title);
        items(draft, list);
    }
}

/// The comments, oldest first; the newest have the room.
fn comments(draft: &mut Draft, input: &PromptInput<'_>) {
    let new = &input.facts.comments;
    let Some(issue) = input.claimed.run.issue else {
        return;
    };
    if new.comments.is_empty() && !new.older {
        return;
    }
    draft.section("new comments");
    let mut shown = Vec::new();
    let mut room = MAX_COMMENTS;
    let mut left_out = 0;
    for comment in new.comments.iter().rev() {
        let heading = heading(draft, comment);
        let body = quoted(&comment.body, MAX_COMMENT);
        let takes = heading.len() + body.text.len() + 1;
        if takes > room || left_out > 0 {
            left_out += comment.body.len();
        } else {
            room -= takes;
            shown.push((heading, body));
        }
    }
    if left_out > 0 {
        draft.push_mark(left_out);
    }
    if new.older || left_out > 0 {
        draft.line(&format!(
            "There are older ones: `workforce api GET /api/issues/{issue}/comments`."
        ));
    }
    for (heading, body) in shown.into_iter().rev() {
        draft.line(&heading);
        draft.push_fenced(&body);
    }
}

fn heading(draft: &mut Draft, comment: &NewComment) -> String {
    let author = author(draft, &comment.author);
    let woke = if comment.woke { ", which woke you" } else { "" };
    let place = comment.position.as_ref().map(|it| position(draft, it));
    let place = place.unwrap_or_default();
    format!("{author} at {}{woke}{place}:", comment.at)
}

/// The lines that a comment is about: `path:line`, and what else is known of them.
fn position(draft: &mut Draft, position: &Position) -> String {
    let path = draft.inline(&position.path, MAX_PATH).replace('`', "'");
    let side = match position.side {
        DiffSide::Left => ", as it was before the change",
        DiffSide::Right => "",
    };
    let commit = position.commit.as_ref();
    let commit = commit.map(|commit| format!(", in commit `{commit}`"));
    let commit = commit.unwrap_or_default();
    format!(", on `{path}:{}`{side}{commit}", position.lines())
}

fn author(draft: &mut Draft, author: &Writer) -> String {
    match (author.kind, author.agent) {
        (ActorKind::Agent, Some(agent)) => {
            let name = author.name.as_deref().map(|name| draft.name(name));
            format!(
                "Agent {} (`{agent}`)",
                name.as_deref().unwrap_or("without a name")
            )
        }
        (ActorKind::Agent, None) => "An agent".to_owned(),
        (ActorKind::Board, _) => "The board".to_owned(),
        (ActorKind::System, _) => "workforce".to_owned(),
    }
}

fn decision(draft: &mut Draft, decision: &DecisionFacts) {
    draft.section("the decision");
    let at = decision.at.map(|at| format!(", decided at {at}"));
    draft.line(&format!(
        "Approval `{}` of the type {} is now {}{}.",
        decision.approval,
        decision.kind,
        decision.status,
        at.unwrap_or_default()
    ));
    match decision.note.as_deref().map(str::trim) {
        None | Some("") => draft.line("The board gave no reason."),
        Some(note) => {
            draft.line("The board says:");
            draft.push_fenced(&quoted(note, MAX_NOTE));
        }
    }
    if decision.status == ApprovalStatus::RevisionRequested {
        draft.line(&format!(
            "Send it again: `workforce api POST /api/approvals/{}/resubmit '{{\"payload\": \
{{...}}}}'`.",
            decision.approval
        ));
    }
}

fn place(draft: &mut Draft, input: &PromptInput<'_>) {
    if input.place.is_none() && input.facts.workspace.is_none() {
        return;
    }
    draft.section("where you work");
    if let Some(place) = input.place {
        let cwd = draft.inline(place.cwd, MAX_PATH);
        draft.line(&format!("Your working directory is `{cwd}`."));
    }
    if let Some(branch) = input.place.and_then(|place| place.branch) {
        let branch = draft.inline(branch, MAX_PATH);
        draft.line(&format!(
            "It is on the branch `{branch}`. Stay on that branch."
        ));
    }
    if let Some(base) = input.place.and_then(|place| place.base_branch) {
        let base = draft.inline(base, MAX_PATH);
        draft.line(&format!("The work is merged into `{base}`."));
    }
    for finding in input.place.iter().flat_map(|place| place.findings) {
        let detail = finding.detail.as_deref().unwrap_or_default();
        let detail = draft.inline(detail, MAX_PATH);
        draft.line(&condition::sentence(finding, &detail));
    }
    if let Some(workspace) = &input.facts.workspace {
        let name = draft.name(&workspace.name);
        let source = &workspace.source;
        let at = source.cwd().or(source.repo_url()).map(|at| at.as_str());
        let at = draft.inline(at.unwrap_or_default(), MAX_PATH);
        draft.line(&format!(
            "The primary workspace of the project is \"{name}\": `{at}`."
        ));
    }
}
