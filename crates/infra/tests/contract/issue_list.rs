//! The list of issues against a plain model of it.

use std::collections::HashMap;

use workforce_domain::board::BoardMember;
use workforce_domain::id::{IssueId, LabelId};
use workforce_domain::issue::{Assignee, Assignment, Issue, IssueStatus, Priority, Progress};
use workforce_domain::page::PageRequest;
use workforce_domain::port::{AssigneeFilter, IssueFilter};
use workforce_domain::string_enum::StringEnum;
use workforce_domain::text::Description;
use workforce_testkit::on_both_databases;

use crate::labels::label;
use crate::world::{World, goal, id, issue, later, project, walk};

type LabelsOf = HashMap<IssueId, Vec<LabelId>>;

/// A company with issues of every kind, and filters that ask for them.
fn fill(world: &World<'_>) -> (Vec<Issue>, LabelsOf, Vec<IssueFilter>) {
    let (project, goal) = (project(&world.company), goal(&world.company));
    let colleague = world.hire();
    let members = [
        BoardMember::Local,
        BoardMember::Token(id()),
        BoardMember::User(id()),
    ];
    let (bug, idea) = (label(world, "bug"), label(world, "idea"));
    world.write(|tx| {
        tx.labels_mut().insert(bug.clone())?;
        tx.labels_mut().insert(idea.clone())?;
        tx.projects_mut().insert(project.clone())?;
        tx.goals_mut().insert(goal.clone())
    });
    let (mut all, mut labels) = (vec![world.issue.clone()], LabelsOf::new());
    for n in 0..180_usize {
        let assignee = match n % 5 {
            0 => Assignee::Agent(world.agent.id),
            1 => Assignee::Agent(colleague.id),
            2 => Assignee::Board(members[n / 5 % 3]),
            _ => Assignee::Nobody,
        };
        let mut status = IssueStatus::ALL[n / 2 % 7];
        if status == IssueStatus::InProgress && assignee == Assignee::Nobody {
            status = IssueStatus::Todo;
        }
        let seconds = (n * 7919 % 40) as u64;
        let issue = Issue {
            project: (n % 3 == 0).then_some(project.id),
            goal: (n % 4 == 0).then_some(goal.id),
            parent: (n % 6 == 0).then_some(world.issue.id),
            progress: Progress::begin(status, later(0)),
            priority: Priority::ALL[n * 31 / 10 % 4],
            assignee: Assignment::stored(assignee),
            hidden_at: (n % 11 == 0).then(|| later(1)),
            updated_at: later(seconds),
            ..issue(&world.company)
        };
        let mut own = Vec::new();
        if n % 4 < 2 {
            own.push(bug.id);
        }
        if n % 9 == 0 {
            own.push(idea.id);
        }
        world.write(|tx| {
            let held = tx.issues_mut().insert(issue.clone())?;
            tx.labels_mut().set_for_issue(&held, &own)
        });
        labels.insert(issue.id, own);
        all.push(issue);
    }
    let base = IssueFilter::default;
    let statuses = |statuses: &[IssueStatus]| IssueFilter {
        statuses: statuses.to_vec(),
        ..base()
    };
    let assigned = |assignee| IssueFilter {
        assignee: Some(assignee),
        ..base()
    };
    let own = AssigneeFilter::Agent(world.agent.id);
    let open = [
        IssueStatus::Todo,
        IssueStatus::InProgress,
        IssueStatus::Blocked,
    ];
    let filters = vec![
        base(),
        statuses(&[IssueStatus::Todo]),
        statuses(&[IssueStatus::Done, IssueStatus::Backlog, IssueStatus::Done]),
        statuses(IssueStatus::ALL),
        IssueFilter {
            priorities: vec![Priority::Low, Priority::Critical],
            ..base()
        },
        IssueFilter {
            priorities: vec![Priority::High],
            ..statuses(&open)
        },
        assigned(own),
        assigned(AssigneeFilter::Board(members[1])),
        assigned(AssigneeFilter::Nobody),
        IssueFilter {
            assignee: Some(own),
            ..statuses(&open)
        },
        IssueFilter {
            assignee: Some(AssigneeFilter::Nobody),
            ..statuses(&open)
        },
        IssueFilter {
            assignee: Some(AssigneeFilter::Board(members[1])),
            ..statuses(&open)
        },
        IssueFilter {
            project: Some(project.id),
            ..base()
        },
        IssueFilter {
            project: Some(project.id),
            ..statuses(&open)
        },
        IssueFilter {
            goal: Some(goal.id),
            ..base()
        },
        IssueFilter {
            parent: Some(world.issue.id),
            ..base()
        },
        IssueFilter {
            priorities: vec![Priority::Medium, Priority::High, Priority::Medium],
            project: Some(project.id),
            ..assigned(own)
        },
        IssueFilter {
            labels: vec![bug.id],
            ..base()
        },
        IssueFilter {
            labels: vec![idea.id, bug.id, id()],
            priorities: vec![Priority::Low, Priority::High],
            ..statuses(&open)
        },
        IssueFilter {
            labels: vec![idea.id],
            ..assigned(AssigneeFilter::Nobody)
        },
    ];
    (all, labels, filters)
}

fn matches(filter: &IssueFilter, issue: &Issue, labels: &LabelsOf) -> bool {
    let own = labels.get(&issue.id).map_or(&[][..], Vec::as_slice);
    issue.hidden_at.is_none()
        && (filter.statuses.is_empty() || filter.statuses.contains(&issue.status()))
        && (filter.priorities.is_empty() || filter.priorities.contains(&issue.priority))
        && filter.assignee.is_none_or(|asked| match asked {
            AssigneeFilter::Nobody => *issue.assignee == Assignee::Nobody,
            AssigneeFilter::Agent(agent) => *issue.assignee == Assignee::Agent(agent),
            AssigneeFilter::Board(member) => *issue.assignee == Assignee::Board(member),
        })
        && (filter.project.is_none() || issue.project == filter.project)
        && (filter.goal.is_none() || issue.goal == filter.goal)
        && (filter.parent.is_none() || issue.parent == filter.parent)
        && (filter.labels.is_empty() || filter.labels.iter().any(|label| own.contains(label)))
}

on_both_databases! {
    #![beneath_the_rules]
    fn issues_are_walked_by_urgency_under_every_filter(store: &TestStore) {
        let world = World::new(store);
        World::new(store);
        let (mut all, labels, filters) = fill(&world);
        all.sort_by_key(|issue| {
            (issue.priority.rank(), core::cmp::Reverse(issue.updated_at), issue.id)
        });
        for filter in filters {
            let expected: Vec<String> = all
                .iter()
                .filter(|issue| matches(&filter, issue, &labels))
                .map(|issue| issue.identifier.clone())
                .collect();
            assert!(!expected.is_empty(), "{filter:?} finds something");
            for limit in [1, 2, 7, 50, 1000] {
                let walked: Vec<String> = walk(limit, |page| {
                    world.read(|reads| reads.issues().list(world.scope(), &filter, page))
                })
                .into_iter()
                .map(|issue| issue.identifier)
                .collect();
                assert_eq!(walked, expected, "{filter:?} in pages of {limit}");
            }
        }
    }

    fn a_page_of_issues_is_bounded_by_weight(store: &TestStore) {
        let world = World::new(store);
        let text = "x".repeat(1000);
        let mut expected = vec![(1_i16, world.issue.id)];
        expected.clear();
        for n in 0..12_usize {
            let issue = Issue {
                description: Some(Description::parse(&text).unwrap()),
                priority: Priority::ALL[n % 4],
                progress: Progress::begin(IssueStatus::ALL[n % 2], later(0)),
                ..issue(&world.company)
            };
            world.write(|tx| tx.issues_mut().insert(issue.clone()).map(drop));
            expected.push((issue.priority.rank(), issue.id));
        }
        expected.sort_unstable();
        let filter = IssueFilter {
            statuses: vec![IssueStatus::Todo, IssueStatus::Backlog],
            ..IssueFilter::default()
        };
        let mut request = PageRequest { after: None, limit: 100, max_bytes: 2500 };
        let mut walked = Vec::new();
        loop {
            let page = world.read(|reads| reads.issues().list(world.scope(), &filter, &request));
            assert!(page.items.len() <= 4, "three heavy rows and the light one at most");
            walked.extend(
                page.items
                    .iter()
                    .filter(|issue| issue.id != world.issue.id)
                    .map(|issue| (issue.priority.rank(), issue.id)),
            );
            match page.next {
                Some(next) => request.after = Some(next),
                None => break,
            }
        }
        assert_eq!(walked, expected);
    }
}
