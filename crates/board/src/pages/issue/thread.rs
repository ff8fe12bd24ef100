//! What was said about an issue, what happened to it, and the runs about it, in one.

use std::str::FromStr;

use workforce_app::issues;
use workforce_app::{Context, activity, runs};
use workforce_domain::activity::Action;
use workforce_domain::issue::IssueRef;
use workforce_domain::page::{CreationKey, Order, PageRequest};
use workforce_domain::port::Reads;
use workforce_domain::time::Timestamp;

use crate::html::change::Names;
use crate::html::deed::Deed;
use crate::html::markdown::Prose;
use crate::html::people::{Staff, Who};
use crate::html::status::{Pill, why_woken};
use crate::html::when::Ago;
use crate::links::Links;
use crate::pages::{Gathered, Told as _, of};

/// So many entries are shown.
const SHOWN: usize = 50;
/// And so many bytes of their texts; the last entry is shown however long it is.
const HEAVIEST: usize = 40 * 1024;
/// The id before all others.
const FIRST_ID: &str = "00000000-0000-0000-0000-000000000000";

/// An entry of the thread.
pub(super) struct Entry {
    /// Names it on the page.
    pub(super) id: String,
    pub(super) at: Ago,
    pub(super) kind: Kind,
    instant: Timestamp,
    weight: usize,
}

pub(super) enum Kind {
    Comment {
        who: Option<Who>,
        text: Prose,
    },
    Event(Deed),
    Run {
        pill: Pill,
        who: Who,
        why: &'static str,
        link: String,
    },
}

/// The entries of a page, oldest first.
pub(super) struct Thread {
    pub(super) entries: Vec<Entry>,
    /// Where those before them are shown.
    pub(super) earlier: Option<String>,
    /// Where the last ones are shown.
    pub(super) end: Option<String>,
}

/// What is told elsewhere in the thread.
const TOLD: [Action; 1] = [Action::IssueCommentAdded];

impl Thread {
    /// The last entries before an instant, in microseconds.
    pub(super) fn gather(
        reads: &mut dyn Reads,
        ctx: &Context<'_>,
        name: &IssueRef,
        (staff, names): (&Staff, &Names),
        (links, link): (&Links, &str),
        before: Option<i64>,
    ) -> Gathered<Self> {
        let request = page(before);
        let comments = issues::comments(reads, ctx, name, Order::Descending, &request).told()?;
        let events = activity::of_issue(reads, ctx, name, &page(before)).told()?;
        let found = runs::of_issue(reads, ctx, name, &[], &page(before)).told()?;
        let is_cut = comments.next.is_some() || events.next.is_some() || found.next.is_some();
        // Where one kind goes on, what the others tell of before is not shown either.
        let oldest = [
            comments.next.map(|key| key.at),
            events.next.map(|key| key.at),
            found.next.map(|key| key.at),
        ];
        let oldest = oldest.into_iter().flatten().max();
        let entry = |id: String, instant: Timestamp, weight, kind| Entry {
            id,
            at: Ago::new(instant, ctx.now),
            kind,
            instant,
            weight,
        };
        let comments = comments.items.iter().map(|comment| {
            let kind = Kind::Comment {
                who: staff.author(comment.author),
                text: Prose::new(&comment.body),
            };
            let id = format!("c-{}", comment.id);
            entry(id, comment.created_at, comment.body.len() * 2, kind)
        });
        let events = events.items.iter().filter(|it| !TOLD.contains(&it.action));
        let events = events.map(|event| {
            let kind = Kind::Event(Deed::of(event, staff, names));
            entry(format!("e-{}", event.id), event.created_at, 600, kind)
        });
        let found = found.items.iter().map(|run| {
            let kind = Kind::Run {
                pill: Pill::of_run(run.status),
                who: staff.agent(run.agent),
                why: why_woken(run.reason),
                link: links.run(run.id),
            };
            entry(format!("r-{}", run.id), run.created_at, 600, kind)
        });
        let mut all: Vec<_> = comments.chain(events).chain(found).collect();
        all.retain(|entry| oldest.is_none_or(|oldest| entry.instant.micros() >= oldest));
        all.sort_by_key(|entry| entry.instant);
        let (entries, is_short) = fitting(all);
        let earlier = entries.first().filter(|_| is_cut || is_short);
        Ok(Self {
            earlier: earlier.map(|entry| format!("{link}?before={}", entry.instant.micros())),
            end: before.map(|_| link.to_owned()),
            entries,
        })
    }
}

fn page<I: FromStr>(before: Option<i64>) -> PageRequest<CreationKey<I>> {
    let id = FIRST_ID.parse().ok();
    PageRequest {
        after: before.zip(id).map(|(at, id)| CreationKey { at, id }),
        ..of(SHOWN)
    }
}

/// The last entries, as many as fit, and whether others came before. Those of one instant stay
/// together.
fn fitting(mut all: Vec<Entry>) -> (Vec<Entry>, bool) {
    let mut heavy = 0;
    let mut first = all.len();
    for (place, entry) in all.iter().enumerate().rev() {
        heavy += entry.weight;
        let is_first = first == all.len();
        if !is_first && (heavy > HEAVIEST || all.len() - place > SHOWN) {
            break;
        }
        first = place;
    }
    let cut = all.get(first).map(|entry| entry.instant);
    let before = first.checked_sub(1).and_then(|place| all.get(place));
    let is_split = before.is_some_and(|entry| Some(entry.instant) == cut);
    if is_split && let Some(place) = all.iter().position(|entry| Some(entry.instant) > cut) {
        first = place;
    } else if is_split {
        first = all
            .iter()
            .position(|entry| Some(entry.instant) == cut)
            .unwrap_or(first);
    }
    let shown = all.split_off(first);
    (shown, first > 0)
}
