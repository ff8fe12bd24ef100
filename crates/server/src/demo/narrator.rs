//! Tells what happens in a company while it happens.

use std::collections::HashMap;
use std::io::Write;
use std::time::{Duration, Instant};

use anyhow::Context;
use serde_json::Value;

use crate::client::Client;

/// How often the activity is looked at.
pub(super) const GLANCE: Duration = Duration::from_millis(150);

/// Prints a line.
pub(super) fn say(line: &str) -> anyhow::Result<()> {
    writeln!(std::io::stdout(), "{line}").context("failed to print")
}

/// The id of what was made.
pub(super) fn id(value: &Value) -> anyhow::Result<String> {
    Ok(value["id"]
        .as_str()
        .context("an answer without id")?
        .to_owned())
}

/// Prints each activity once, as it happens.
pub(super) struct Narrator {
    company: String,
    begins_with: &'static str,
    names: HashMap<String, &'static str>,
    seen: HashMap<String, String>,
    begun: bool,
}

impl Narrator {
    /// Tells what happens in a company from the first activity of a kind on.
    pub(super) fn new<'a>(
        company: &str,
        begins_with: &'static str,
        names: impl IntoIterator<Item = (&'a str, &'static str)>,
    ) -> Self {
        let names = names.into_iter();
        Self {
            company: company.to_owned(),
            begins_with,
            names: names.map(|(id, name)| (id.to_owned(), name)).collect(),
            seen: HashMap::new(),
            begun: false,
        }
    }

    pub(super) fn saw(&self, action: &str) -> bool {
        self.seen.values().any(|seen| seen == action)
    }

    pub(super) fn catch_up(&mut self, board: &Client) -> anyhow::Result<()> {
        let path = format!("/api/companies/{}/activity?limit=100", self.company);
        let rows = board.get(&path)?;
        for row in rows.as_array().into_iter().flatten().rev() {
            let (id, action) = (
                id(row)?,
                row["action"].as_str().unwrap_or_default().to_owned(),
            );
            if self.seen.contains_key(&id) {
                continue;
            }
            // What the board set up is told already.
            self.begun |= action == self.begins_with;
            if self.begun
                && let Some(line) = self.line(&action, row)
            {
                say(&line)?;
            }
            self.seen.insert(id, action);
        }
        Ok(())
    }

    fn line(&self, action: &str, row: &Value) -> Option<String> {
        let details = &row["details"];
        let by_id = |id: &Value| id.as_str().and_then(|id| self.names.get(id)).copied();
        let actor = by_id(&row["actorId"]).unwrap_or("workforce");
        let text = |key: &str| details[key].as_str().unwrap_or_default().to_owned();
        let told = match action {
            "heartbeat.started" => {
                format!(
                    "starts {} ({})",
                    by_id(&details["agentId"])?,
                    text("reason")
                )
            }
            "heartbeat.finished" => {
                format!(
                    "sees the run of {} end: {}, for {} cents",
                    by_id(&details["agentId"])?,
                    text("status"),
                    text("costCents")
                )
            }
            "issue.checked_out" => "checks the issue out".to_owned(),
            "issue.updated" => match details["to"].as_str() {
                Some(to) => format!("moves the issue from {} to {to}", text("from")),
                None => "changes the issue".to_owned(),
            },
            "issue.comment_added" => "comments".to_owned(),
            "issue.reviewed" => "reviews".to_owned(),
            "cost.reported" => format!("reports a cost of {} cents", text("costCents")),
            "budget.soft_alert" => format!(
                "alerts: {} has used {} % of its budget",
                by_id(&row["entityId"])?,
                text("utilizationPercent")
            ),
            _ => return None,
        };
        Some(format!("  {actor:<14} {told}"))
    }

    /// Waits until the last run has ended, so that its cost is in.
    pub(super) fn wait_for_quiet(
        &mut self,
        board: &Client,
        patience: Duration,
    ) -> anyhow::Result<()> {
        let begun = Instant::now();
        let path = format!(
            "/api/companies/{}/heartbeat-runs?status=queued,running",
            self.company
        );
        while begun.elapsed() < patience {
            let live = board.get(&path)?;
            self.catch_up(board)?;
            if live.as_array().is_some_and(Vec::is_empty) {
                return Ok(());
            }
            std::thread::sleep(GLANCE);
        }
        anyhow::bail!("a run did not end")
    }
}

/// Prints what a company spent, and who.
pub(super) fn print_costs(board: &Client, company: &str) -> anyhow::Result<()> {
    let costs = format!("/api/companies/{company}/costs");
    let summary = board.get(&format!("{costs}/summary"))?;
    let (spent, by_list) = (&summary["spendCents"], &summary["estimatedCostCents"]);
    say(&match spent == by_list {
        true => format!("It cost {spent} cents this month."),
        false => format!("It cost {spent} cents this month, and {by_list} by list."),
    })?;
    for row in board
        .get(&format!("{costs}/by-agent"))?
        .as_array()
        .into_iter()
        .flatten()
    {
        if row["costCents"] != 0 {
            let name = row["agentName"].as_str().unwrap_or_default();
            let share = &row["utilizationPercent"];
            let budget = &row["budgetCents"];
            let limit = if *budget == 0 {
                "no limit".to_owned()
            } else {
                format!("{share} % of {budget}")
            };
            say(&format!(
                "  {name:<14} {:>5} cents ({limit})",
                row["costCents"].to_string()
            ))?;
        }
    }
    Ok(())
}
