//! What a search must find, told from the issues themselves.

use std::cmp::Reverse;

use workforce_domain::id::{LabelId, ProjectId};
use workforce_domain::issue::{Assignee, Assignment, Issue, IssueStatus, Priority, Progress};
use workforce_domain::port::{AssigneeFilter, FoundIn, IssueFilter};
use workforce_domain::string_enum::StringEnum;
use workforce_domain::text::{Description, Title};
use workforce_testkit::store::TestStore;

use super::Drawn;
use crate::labels::label;
use crate::search::comment_on;
use crate::world::{World, issue, later, project};

/// So many that a walk reads several times, and gives up before the end.
const ISSUES: usize = 700;

/// Words with the share of texts that have them, of a thousand.
pub(super) const WORDS: [(&str, usize); 6] = [
    ("report", 600),
    ("window", 300),
    ("cache", 90),
    ("walnut", 30),
    ("pecan", 10),
    ("almond", 2),
];

/// A word of the issues that come last.
pub(super) const LATE: &str = "hazelnut";

/// What the model knows of an issue.
pub(super) struct Known {
    pub(super) issue: Issue,
    said: Vec<String>,
    is_labelled: bool,
}

/// Drawn numbers that are the same in every run.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) as usize % bound
    }

    fn text(&mut self, shares: usize) -> String {
        let words = WORDS
            .iter()
            .filter(|(_, share)| self.below(1000) * 10 < share * shares);
        let mut text = String::from("the");
        for (word, _) in words.collect::<Vec<_>>() {
            text.push(' ');
            text.push_str(word);
        }
        text
    }
}

/// The same issues in each world.
pub(super) struct Model<'a> {
    pub(super) world: World<'a>,
    pub(super) known: Vec<Known>,
    project: ProjectId,
    label: LabelId,
}

impl<'a> Model<'a> {
    pub(super) fn fill(store: &'a TestStore) -> Self {
        let world = World::new(store);
        // The model does not know it, and its identifier may be the beginning of others.
        world.change_issue(&world.issue, |held| held.hidden_at = Some(later(1)));
        let (project, label) = (project(&world.company), label(&world, "bug"));
        world.write(|tx| {
            tx.labels_mut().insert(label.clone())?;
            tx.projects_mut().insert(project.clone())
        });
        let mut draw = Draw(7);
        let known: Vec<Known> = (0..ISSUES)
            .map(|n| {
                let priority = Priority::ALL[draw.below(4)];
                let mut title = draw.text(7);
                if priority == Priority::Low && n % 2 == 0 {
                    title.push_str(" Hazelnuts");
                }
                let assignee = match draw.below(3) {
                    0 => Assignee::Agent(world.agent.id),
                    _ => Assignee::Nobody,
                };
                let issue = Issue {
                    title: Title::parse(&title).unwrap(),
                    description: (draw.below(5) > 0)
                        .then(|| Description::parse(&draw.text(10)).unwrap()),
                    priority,
                    progress: Progress::begin(
                        [IssueStatus::Todo, IssueStatus::Blocked, IssueStatus::Done][draw.below(3)],
                        later(0),
                    ),
                    assignee: Assignment::stored(assignee),
                    project: (draw.below(3) == 0).then_some(project.id),
                    hidden_at: (draw.below(20) == 0).then(|| later(1)),
                    updated_at: later(draw.below(60) as u64),
                    ..issue(&world.company)
                };
                let said = (0..draw.below(4).saturating_sub(1))
                    .map(|_| draw.text(4))
                    .collect();
                let is_labelled = draw.below(4) == 0;
                Known {
                    issue,
                    said,
                    is_labelled,
                }
            })
            .collect();
        world.write(|tx| {
            for known in &known {
                let held = tx.issues_mut().insert(known.issue.clone())?;
                let labels: &[_] = if known.is_labelled { &[label.id] } else { &[] };
                tx.labels_mut().set_for_issue(&held, labels)?;
                for said in &known.said {
                    tx.comments_mut().insert(&comment_on(&known.issue, said))?;
                }
            }
            Ok(())
        });
        Self {
            project: project.id,
            label: label.id,
            world,
            known,
        }
    }

    /// What must be found, in order.
    pub(super) fn expected(&self, typed: &str, filter: &IssueFilter) -> Vec<&str> {
        let mut expected: Vec<_> = self
            .known
            .iter()
            .filter(|known| known.issue.hidden_at.is_none() && self.passes(known, filter))
            .filter_map(|known| Some((place(typed, known)?, &known.issue)))
            .collect();
        expected.sort_by_key(|(place, issue)| {
            (
                *place,
                issue.priority.rank(),
                Reverse(issue.updated_at),
                issue.id,
            )
        });
        let identifiers = expected
            .into_iter()
            .map(|(_, issue)| issue.identifier.as_str());
        identifiers.collect()
    }

    fn passes(&self, known: &Known, filter: &IssueFilter) -> bool {
        let issue = &known.issue;
        let is_assigned = match filter.assignee {
            None => true,
            Some(AssigneeFilter::Agent(agent)) => issue.assignee.agent() == Some(agent),
            Some(_) => issue.assignee.agent().is_none(),
        };
        is_assigned
            && (filter.statuses.is_empty() || filter.statuses.contains(&issue.status()))
            && (filter.priorities.is_empty() || filter.priorities.contains(&issue.priority))
            && (filter.project.is_none() || filter.project == issue.project)
            && (filter.labels.is_empty() || known.is_labelled)
    }

    /// The filter of a case.
    pub(super) fn filter(&self, drawn: &Drawn) -> IssueFilter {
        let own = AssigneeFilter::Agent(self.world.agent.id);
        IssueFilter {
            statuses: [
                vec![],
                vec![IssueStatus::Todo],
                vec![IssueStatus::Done, IssueStatus::Blocked],
            ][drawn.statuses]
                .clone(),
            priorities: [vec![], vec![], vec![Priority::High, Priority::Low]][drawn.priorities]
                .clone(),
            assignee: [None, None, Some(own), Some(AssigneeFilter::Nobody)][drawn.assignee],
            project: [None, None, Some(self.project)][drawn.project],
            labels: [vec![], vec![], vec![self.label]][drawn.labels].clone(),
            ..IssueFilter::default()
        }
    }
}

/// Where an issue has the words that are typed.
fn place(typed: &str, known: &Known) -> Option<FoundIn> {
    let issue = &known.issue;
    if typed.contains('-') {
        let typed = typed.to_uppercase();
        if issue.identifier == typed {
            return Some(FoundIn::Identifier);
        }
        if issue.identifier.starts_with(&typed) {
            return Some(FoundIn::IdentifierStart);
        }
        return None;
    }
    let has = |text: &str, word: &str| {
        let text = text.to_lowercase();
        text.split_whitespace().any(|own| own.starts_with(word))
    };
    let words: Vec<&str> = typed.split_whitespace().collect();
    let all = |text: &str| words.iter().all(|word| has(text, word));
    let title = issue.title.as_str();
    let own = format!(
        "{title} {}",
        issue.description.as_deref().unwrap_or_default()
    );
    if all(title) {
        Some(FoundIn::Title)
    } else if all(&own) {
        Some(FoundIn::OwnText)
    } else if known.said.iter().any(|said| all(said)) {
        Some(FoundIn::Comments)
    } else {
        let whole = format!("{own} {}", known.said.join(" "));
        (words.len() > 1 && all(&whole)).then_some(FoundIn::Apart)
    }
}
