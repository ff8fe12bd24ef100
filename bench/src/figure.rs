//! What is measured, and the requests of each figure.

use std::net::SocketAddr;

use anyhow::{Context as _, Result};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::client::{Client, asked, get, post};
use crate::company::Company;
use crate::load::{Pace, ROUNDS, Sample, measure};
use crate::random::Random;
use crate::seed::Issues;

/// One row of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Figure {
    /// GET /api/agents/me
    AgentMe,
    /// GET /api/issues/{id}
    GetIssue,
    /// GET /api/companies/{id}/issues, the first page of one status
    ListIssues,
    /// GET /api/companies/{id}/issues, those with two words that most of them have
    SearchIssues,
    /// The page of a company
    HomePage,
    /// Its page of open issues
    IssuesPage,
    /// The page of an issue
    IssuePage,
    /// POST /api/issues/{id}/comments
    PostComment,
    /// POST /api/companies/{id}/cost-events
    PostCost,
    /// POST /api/issues/{id}/checkout and .../release, by 64 agents
    CheckoutRelease,
    /// POST /api/companies/{id}/issues
    PostIssue,
}

impl Figure {
    /// All, in the order in which they are measured: what adds issues comes last.
    pub(crate) const ALL: [Self; 11] = [
        Self::AgentMe,
        Self::GetIssue,
        Self::ListIssues,
        Self::SearchIssues,
        Self::HomePage,
        Self::IssuesPage,
        Self::IssuePage,
        Self::PostComment,
        Self::PostCost,
        Self::CheckoutRelease,
        Self::PostIssue,
    ];

    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::AgentMe => "GET agent me",
            Self::GetIssue => "GET issue",
            Self::ListIssues => "list issues",
            Self::SearchIssues => "search issues",
            Self::HomePage => "page of company",
            Self::IssuesPage => "page of issues",
            Self::IssuePage => "page of issue",
            Self::PostComment => "POST comment",
            Self::PostCost => "POST cost event",
            Self::CheckoutRelease => "checkout + release",
            Self::PostIssue => "POST issue",
        }
    }

    pub(crate) const fn is_write(self) -> bool {
        matches!(
            self,
            Self::PostComment | Self::PostCost | Self::CheckoutRelease | Self::PostIssue
        )
    }

    /// Whether it is a page of the board.
    pub(crate) const fn is_page(self) -> bool {
        matches!(self, Self::HomePage | Self::IssuesPage | Self::IssuePage)
    }

    /// Whether it reads one object.
    pub(crate) const fn is_single_read(self) -> bool {
        matches!(self, Self::AgentMe | Self::GetIssue)
    }

    /// Whether it asks about issues that are there before.
    pub(crate) const fn needs_issues(self) -> bool {
        matches!(
            self,
            Self::GetIssue | Self::IssuePage | Self::PostComment | Self::CheckoutRelease
        )
    }

    /// Whether the limit of it is measured too: the same statements in a bare handler. Those of a
    /// search are made for its words, so that there are no same ones.
    pub(crate) const fn has_limit(self) -> bool {
        matches!(self, Self::AgentMe | Self::GetIssue | Self::ListIssues)
    }

    /// One round at the server at `address` with so many clients at once. The rounds of a figure
    /// begin at different operations.
    pub(crate) fn measure(
        self,
        pace: Pace,
        round: u32,
        address: SocketAddr,
        company: &Company,
        issues: &Issues,
        connections: usize,
    ) -> Result<Sample> {
        let workers = (0..connections)
            .map(|connection| {
                let mut client = Client::connect(address)?;
                let place = Place {
                    connection,
                    connections,
                };
                let operations = self.operations(company, issues, place);
                let begin = operations.len() * round as usize / ROUNDS as usize;
                let mut turns = (0..operations.len()).cycle().skip(begin);
                Ok(move || {
                    let operation = turns.next().context("there is nothing to ask for")?;
                    for request in &operations[operation] {
                        let answer = client.send(request);
                        answer
                            .and_then(|answer| answer.require_success())
                            .with_context(|| asked(request))?;
                    }
                    Ok(())
                })
            })
            .collect::<Result<Vec<_>>>()?;
        measure(pace, workers)
    }

    /// The requests of some operations of one connection, to be repeated. They are made beforehand,
    /// so that the client does nothing but send and receive.
    pub(crate) fn operations(
        self,
        company: &Company,
        issues: &Issues,
        place: Place,
    ) -> Vec<Vec<Vec<u8>>> {
        let connection = place.connection;
        let agent = company.agent(connection);
        let caller = company.caller(agent);
        let below = |kind: &str| company.below(kind);
        let mut random = Random::seeded(1000 + connection as u64);
        let one = |request: Vec<u8>| vec![vec![request]];
        match self {
            Self::AgentMe => one(get("/api/agents/me", caller)),
            Self::GetIssue => (0..SPREAD)
                .map(|_| format!("/api/issues/{}", random.pick(&issues.all).0))
                .map(|path| vec![get(&path, caller)])
                .collect(),
            Self::ListIssues => {
                let list = format!("issues?status={LISTED}&limit={PAGE}");
                one(get(&below(&list), caller))
            }
            Self::SearchIssues => one(get(&below("issues?q=report%20wind&limit=50"), caller)),
            Self::HomePage => one(get(&company.page(""), company.board())),
            Self::IssuesPage => one(get(&company.page("/issues"), company.board())),
            Self::IssuePage => (0..SPREAD)
                .map(|_| company.page(&format!("/issues/{}", random.pick(&issues.all).0)))
                .map(|path| vec![get(&path, company.board())])
                .collect(),
            Self::PostComment => (0..SPREAD)
                .map(|_| format!("/api/issues/{}/comments", random.pick(&issues.free).0))
                .map(|path| vec![post(&path, caller, &json!({ "body": COMMENT }).to_string())])
                .collect(),
            Self::PostCost => {
                let body = json!({
                    "agentId": agent.id.0,
                    "provider": PROVIDER,
                    "model": MODEL,
                    "inputTokens": 1200,
                    "outputTokens": 340,
                    "costCents": 2,
                });
                one(post(&below("cost-events"), caller, &body.to_string()))
            }
            Self::CheckoutRelease => own(&issues.free, place)
                .map(|issue| {
                    let path = format!("/api/issues/{}", issue.0);
                    let body = json!({ "agentId": agent.id.0, "expectedStatuses": ["todo"] });
                    vec![
                        post(&format!("{path}/checkout"), caller, &body.to_string()),
                        post(&format!("{path}/release"), caller, ""),
                    ]
                })
                .collect(),
            Self::PostIssue => {
                let mut body = json!({
                    "title": TITLE,
                    "description": DESCRIPTION,
                    "status": "todo",
                    "priority": "medium",
                });
                if let Some(project) = company.projects.iter().cycle().nth(connection) {
                    body["projectId"] = json!(project.0);
                }
                one(post(&below("issues"), caller, &body.to_string()))
            }
        }
    }
}

/// The page of a list: so many issues of this status.
pub(crate) const PAGE: usize = 50;
pub(crate) const LISTED: &str = "todo";

/// So many different objects are asked for over one connection.
const SPREAD: usize = 2000;

/// One of several connections.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// Its number, from 0 on.
    pub(crate) connection: usize,
    /// How many there are.
    pub(crate) connections: usize,
}

/// The issues that only one connection touches, at most [`SPREAD`].
pub(crate) fn own<T: Copy>(of: &[T], place: Place) -> impl Iterator<Item = T> {
    of.iter()
        .copied()
        .skip(place.connection)
        .step_by(place.connections)
        .take(SPREAD)
}

pub(crate) const TITLE: &str = "Answer the second page of the report as fast as the first";
pub(crate) const DESCRIPTION: &str = "The report takes the whole list and throws most of it away. \
     Ask for one page at a time, keep the place by its key instead of an offset, and show the \
     number of rows only where somebody wants to see it. Measure before and after.";
pub(crate) const COMMENT: &str = "The index has both columns now, and the plan shows that it is \
     used. What is left is the count, which I would rather leave out.";
pub(crate) const PROVIDER: &str = "example";
pub(crate) const MODEL: &str = "example-large";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_connections_share_an_issue() {
        let issues: Vec<usize> = (0..100).collect();
        let connections = 64;
        let mut seen: Vec<usize> = (0..connections)
            .map(|connection| Place {
                connection,
                connections,
            })
            .flat_map(|place| own(&issues, place))
            .collect();
        seen.sort_unstable();
        assert_eq!(seen, issues);
    }
}
