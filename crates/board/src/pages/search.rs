//! Everything that has some words: parts and actions of the company, agents, projects, goals and
//! issues. The palette shows the same.

use actix_web::HttpResponse;
use askama::Template;
use serde::Deserialize;
use workforce_app::{Context, goals, issues, projects};
use workforce_domain::id::CompanyId;
use workforce_domain::issue::IssueRef;
use workforce_domain::page::PageRequest;
use workforce_domain::port::{IssueFilter, Reads};
use workforce_domain::search::SearchQuery;
use workforce_http::door::{Access, Pages, Visit};

use super::{Gathered, Told as _, everyone, of, show};
use crate::html::filters;
use crate::shell::{Asked, Shell};

/// So many results of each kind.
const SHOWN: usize = 10;

pub(super) fn register(pages: Pages) -> Pages {
    pages.get("/c/{prefix}/search", Access::Board, search)
}

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
struct Wanted {
    q: String,
}

struct Hit {
    icon: &'static str,
    words: String,
    /// What stands beside it.
    beside: String,
    link: String,
}

#[derive(Template)]
#[template(path = "pages/search.html")]
struct SearchPage {
    shell: Shell,
    q: String,
    groups: Vec<(&'static str, Vec<Hit>)>,
}

async fn search(visit: Visit) -> HttpResponse {
    let asked = Asked::of(&visit);
    let wanted: Wanted = serde_html_form::from_str(visit.query()).unwrap_or_default();
    show(&visit, move |reads, ctx| {
        gather(reads, ctx, &asked, wanted.q.trim())
    })
    .await
}

fn gather(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    asked: &Asked,
    q: &str,
) -> Gathered<SearchPage> {
    let company = asked.company(reads, ctx)?;
    let ctx = &ctx.within(&company);
    let id = company.id;
    let shell = Shell::gather(reads, ctx, asked, &company, "search")?;
    let words = Words::of(q);
    let mut groups = if q.is_empty() {
        vec![("Go to", places(&shell, &words))]
    } else {
        vec![
            ("Issues", of_issues(reads, ctx, asked, id, q)?),
            ("Agents", of_agents(reads, ctx, asked, id, &words)?),
            (
                "Projects and goals",
                of_plans(reads, ctx, asked, id, &words)?,
            ),
            ("Go to", places(&shell, &words)),
        ]
    };
    groups.retain(|(_, hits)| !hits.is_empty());
    Ok(SearchPage {
        q: q.to_owned(),
        groups,
        shell,
    })
}

/// Words that something must have, in any case.
struct Words(Vec<String>);

impl Words {
    fn of(q: &str) -> Self {
        Self(q.split_whitespace().map(str::to_lowercase).collect())
    }

    fn are_in(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        self.0.iter().all(|word| text.contains(word))
    }
}

fn places(shell: &Shell, words: &Words) -> Vec<Hit> {
    let parts = shell.parts().into_iter().map(|part| Hit {
        icon: part.icon,
        words: part.word.to_owned(),
        beside: String::new(),
        link: part.link,
    });
    let links = &shell.links;
    let actions = [
        ("plus", "New issue", links.new_issue()),
        ("plus", "Hire an agent", links.new_agent()),
        ("hand", "Stop everything", links.stop()),
    ];
    let actions = actions.into_iter().map(|(icon, words, link)| Hit {
        icon,
        words: words.to_owned(),
        beside: String::new(),
        link,
    });
    let all = actions.chain(parts);
    all.filter(|hit| words.are_in(&hit.words)).collect()
}

/// The issue that is named comes first, then those that have the words.
fn of_issues(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    asked: &Asked,
    company: CompanyId,
    q: &str,
) -> Gathered<Vec<Hit>> {
    let named = match IssueRef::parse(&q.to_uppercase()) {
        Some(name) => issues::id_of(reads, ctx, &name).map_err(workforce_app::Failure::from)?,
        None => None,
    };
    let titles = issues::titles(reads, ctx, company, named.as_slice()).told()?;
    let links = asked.links();
    let hit = |key: String, title: String| Hit {
        icon: "list-todo",
        link: links.issue(&key),
        words: title,
        beside: key,
    };
    let mut hits: Vec<Hit> = titles
        .into_values()
        .map(|(key, title)| hit(key, title))
        .collect();
    if let Ok(query) = SearchQuery::parse(q) {
        let all = IssueFilter::default();
        let found = issues::search(reads, ctx, company, &query, &all, &of(SHOWN)).told()?;
        let found = found.items.into_iter().map(|view| view.issue);
        let others = found.filter(|issue| Some(issue.id) != named);
        hits.extend(others.map(|issue| hit(issue.identifier.clone(), issue.title.to_string())));
    }
    Ok(hits)
}

fn of_agents(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    asked: &Asked,
    company: CompanyId,
    words: &Words,
) -> Gathered<Vec<Hit>> {
    let agents = everyone(reads, ctx, company, false)?.into_iter();
    let agents = agents.map(|view| view.agent);
    let found = agents.filter(|agent| words.are_in(&format!("{} {}", agent.name, agent.role)));
    let hits = found.take(SHOWN).map(|agent| Hit {
        icon: "users",
        words: agent.name.to_string(),
        beside: agent.role.to_string(),
        link: asked.links().agent(&agent.url_key),
    });
    Ok(hits.collect())
}

fn of_plans(
    reads: &mut dyn Reads,
    ctx: &Context<'_>,
    asked: &Asked,
    company: CompanyId,
    words: &Words,
) -> Gathered<Vec<Hit>> {
    let links = asked.links();
    let projects = projects::list_bare(reads, ctx, company, &PageRequest::first()).told()?;
    let projects = projects.items.into_iter().map(|project| Hit {
        icon: "folder",
        words: project.name.to_string(),
        beside: "Project".to_owned(),
        link: links.section(&format!("projects/{}", project.id)),
    });
    let goals = goals::list(reads, ctx, company, &PageRequest::first()).told()?;
    let goals = goals.items.into_iter().map(|goal| Hit {
        icon: "target",
        words: goal.title.to_string(),
        beside: "Goal".to_owned(),
        link: links.section("goals"),
    });
    let all = projects.chain(goals);
    Ok(all
        .filter(|hit| words.are_in(&hit.words))
        .take(SHOWN)
        .collect())
}
