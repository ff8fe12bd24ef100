//! Goals in the order of a tree.

use std::collections::HashMap;

use workforce_domain::dashboard::IssueTally;
use workforce_domain::goal::Goal;
use workforce_domain::id::GoalId;

/// How far the issues of each goal itself have come.
pub(in crate::pages) type Tallies = HashMap<GoalId, IssueTally>;

/// A goal in its place.
pub(in crate::pages) struct Node<'a> {
    pub(in crate::pages) goal: &'a Goal,
    /// How many goals it lies below.
    pub(in crate::pages) depth: usize,
    /// The issues of it and of all goals below it.
    pub(in crate::pages) tally: IssueTally,
    /// How many goals are below it.
    below: usize,
}

impl Node<'_> {
    /// Its title, as a list without indents shows where it is.
    pub(super) fn indented(&self) -> String {
        format!("{}{}", "– ".repeat(self.depth.min(6)), self.goal.title)
    }
}

/// All goals, each right after the one it serves or the last of that one's others.
pub(in crate::pages) struct Tree<'a>(Vec<Node<'a>>);

impl<'a> Tree<'a> {
    pub(in crate::pages) fn of(goals: &'a [Goal], tallies: &Tallies) -> Self {
        let known: HashMap<GoalId, &Goal> = goals.iter().map(|goal| (goal.id, goal)).collect();
        let mut children: HashMap<Option<GoalId>, Vec<&Goal>> = HashMap::new();
        for goal in goals {
            // One whose parent is not among them stands at the top.
            let parent = goal.parent.filter(|parent| known.contains_key(parent));
            children.entry(parent).or_default().push(goal);
        }
        let mut nodes = Vec::with_capacity(goals.len());
        // What is still to come, the next one last.
        let tops = children.get(&None).into_iter().flatten();
        let mut ahead: Vec<(&Goal, usize)> = tops.rev().map(|goal| (*goal, 0)).collect();
        while let Some((goal, depth)) = ahead.pop() {
            let own = children.get(&Some(goal.id)).into_iter().flatten();
            ahead.extend(own.rev().map(|child| (*child, depth + 1)));
            nodes.push(Node {
                goal,
                depth,
                tally: tallies.get(&goal.id).copied().unwrap_or_default(),
                below: 0,
            });
        }
        let mut tree = Self(nodes);
        tree.sum_up();
        tree
    }

    /// Adds what each goal has to the one above it, from the last to the first.
    fn sum_up(&mut self) {
        // The sums of the goals at each depth since the last one above them.
        let mut open: Vec<(IssueTally, usize)> = Vec::new();
        for node in self.0.iter_mut().rev() {
            while open.len() <= node.depth + 1 {
                open.push((IssueTally::default(), 0));
            }
            if let Some((tally, below)) = open.get_mut(node.depth + 1).map(std::mem::take) {
                node.tally = plus(node.tally, tally);
                node.below = below;
            }
            if let Some((tally, below)) = open.get_mut(node.depth) {
                *tally = plus(*tally, node.tally);
                *below += node.below + 1;
            }
        }
    }

    pub(in crate::pages) fn nodes(&self) -> &[Node<'a>] {
        &self.0
    }

    /// All but a goal and what is below it.
    pub(super) fn without(&self, goal: Option<GoalId>) -> impl Iterator<Item = &Node<'a>> {
        let place = goal.and_then(|goal| self.place(goal));
        let gone = place.map_or(0..0, |(place, node)| place..place + node.below + 1);
        let nodes = self.0.iter().enumerate();
        nodes
            .filter(move |(place, _)| !gone.contains(place))
            .map(|(_, node)| node)
    }

    /// A goal, and those right below it.
    pub(in crate::pages) fn around(&self, goal: GoalId) -> Option<(&Node<'a>, Vec<&Node<'a>>)> {
        let (place, node) = self.place(goal)?;
        let below = self.0.iter().skip(place + 1).take(node.below);
        let children = below.filter(|it| it.depth == node.depth + 1);
        Some((node, children.collect()))
    }

    fn place(&self, goal: GoalId) -> Option<(usize, &Node<'a>)> {
        let mut nodes = self.0.iter().enumerate();
        nodes.find(|(_, node)| node.goal.id == goal)
    }
}

const fn plus(one: IssueTally, other: IssueTally) -> IssueTally {
    IssueTally {
        open: one.open + other.open,
        done: one.done + other.done,
        cancelled: one.cancelled + other.cancelled,
    }
}
