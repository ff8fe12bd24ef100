//! The resources that operations are grouped by, which clients name their parts after.

use serde_json::{Value, json};

/// Every tag, in the order of the documentation, with what its operations are about.
const TAGS: &[(&str, &str)] = &[
    (
        "Companies",
        "Companies: what they are for, whether they work, and how they stand.",
    ),
    (
        "Agents",
        "Agents, their keys, their configuration and its revisions, and who reports to whom.",
    ),
    (
        "Instructions",
        "The instructions of agents: bundles of files.",
    ),
    ("Goals", "What a company wants to reach."),
    (
        "Projects",
        "Projects, their workspaces and their conventions.",
    ),
    (
        "Issues",
        "Issues, who holds them, and the comments on them.",
    ),
    ("Attachments", "Files that are attached to issues."),
    ("Labels", "Labels of issues."),
    ("Approvals", "What the board must agree to, hires among it."),
    (
        "Heartbeat runs",
        "What wakes agents, their runs, and what the runs wrote.",
    ),
    ("Costs", "What was spent, and the budgets."),
    ("Activity", "What happened, and who did it."),
    ("Events", "What happens, as it happens."),
    (
        "Secrets",
        "Values that runs get to see and answers never show.",
    ),
    ("Board tokens", "Credentials of the board."),
    (
        "Board sessions",
        "Browsers in which the board is signed in.",
    ),
    ("Webhooks", "What others tell by themselves."),
    ("Health", "Whether the server can work."),
];

/// Says what each tag is about.
pub(super) fn describe(document: &mut Value) {
    let tags = TAGS
        .iter()
        .map(|(name, description)| json!({ "name": name, "description": description }));
    document["tags"] = tags.collect();
}
