use serde_json::{Value, json};
use workforce_domain::execution_workspace::WorktreeFinding;
use workforce_domain::issue::Comment;

use crate::run_context::RunContext;

/// The longest text of `WORKFORCE_WAKE_PAYLOAD_JSON`, in bytes
/// (docs/heartbeats.md#wake-payload).
const MAX_LEN: usize = 32 * 1024;
/// A caller's payload that would take more of it than this is left out.
const MAX_CALLER_PAYLOAD: usize = 16 * 1024;
/// To how many bytes the bodies of comments are cut, the first that fits.
const BODY_LENGTHS: [usize; 4] = [8 * 1024, 2 * 1024, 512, 0];

/// What a wake tells its agent, as one line of JSON that is never too long.
/// What does not fit is cut, and `truncated` says so.
pub(crate) fn wake_payload(context: &RunContext) -> String {
    let mut text = String::new();
    for body_len in BODY_LENGTHS {
        text = render(context, &context.comments, body_len).to_string();
        if text.len() <= MAX_LEN {
            return text;
        }
    }
    for kept in (0..context.comments.len()).rev() {
        let oldest_left_out = context.comments.len() - kept;
        text = render(context, &context.comments[oldest_left_out..], 0).to_string();
        if text.len() <= MAX_LEN {
            break;
        }
    }
    text
}

fn render(context: &RunContext, comments: &[Comment], body_len: usize) -> Value {
    let claimed = &context.claimed;
    let wake = &claimed.wake;
    let fits =
        serde_json::to_string(&wake.payload).is_ok_and(|text| text.len() <= MAX_CALLER_PAYLOAD);
    let is_whole = |comment: &Comment| comment.body.len() <= body_len;
    let truncated =
        !fits || comments.len() < context.comments.len() || !comments.iter().all(is_whole);
    json!({
        "runId": claimed.run.id,
        "kind": claimed.run.kind,
        "source": wake.source,
        "reasons": wake.reasons,
        "count": wake.count,
        "requestedBy": wake.requested_by,
        "issue": context.issue.as_ref().map(|issue| json!({
            "id": issue.id,
            "identifier": issue.identifier,
            "title": issue.title,
            "status": issue.status(),
            "priority": issue.priority,
        })),
        "workspace": context.worktree.as_ref().map(|worktree| json!({
            "state": WorktreeFinding::state_of(&worktree.findings),
            "found": worktree.findings,
        })),
        "comments": comments.iter().map(|comment| json!({
            "id": comment.id,
            "authorType": comment.author.kind(),
            "authorId": comment.author.name(),
            "authorAgentId": comment.author.agent(),
            "authorUserId": comment.author.user(),
            "createdAt": comment.created_at,
            "reviewId": comment.review,
            "position": comment.position,
            "body": start_of(&comment.body, body_len),
            "truncated": !is_whole(comment),
        })).collect::<Vec<_>>(),
        "payload": fits.then_some(&wake.payload),
        "truncated": truncated,
    })
}

/// The first `len` bytes of a text, or a little less, since no character is
/// cut.
fn start_of(text: &str, len: usize) -> &str {
    &text[..text.floor_char_boundary(len)]
}
