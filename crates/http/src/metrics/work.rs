use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix_web::web;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use tokio::sync::Mutex;
use tokio::time::timeout;
use workforce_domain::actor::InstanceScope;
use workforce_domain::instance_figures::InstanceFigures;
use workforce_domain::port::{Failure, StartConditionInputs, Store};
use workforce_domain::run::StartCondition;
use workforce_domain::string_enum::StringEnum;
use workforce_vitals::Families;

use crate::problem::Problem;

/// So long the figures are good: several scrapers ask for them once.
const GOOD_FOR: Duration = Duration::from_secs(5);

/// So long whoever asks waits for the store.
const PATIENCE: Duration = Duration::from_secs(2);

/// The figures of the store, which are asked for once in a while.
#[derive(Default)]
pub(crate) struct KeptFigures(Arc<Mutex<Option<Kept>>>);

struct Kept {
    at: Instant,
    /// `None` when the store failed.
    figures: Option<Arc<InstanceFigures>>,
}

impl KeptFigures {
    /// The figures as they are, or were a moment ago; `None` when the store does not answer.
    pub(super) async fn now(
        &self,
        store: &Arc<dyn Store>,
        terms: StartConditionInputs,
    ) -> Option<Arc<InstanceFigures>> {
        let (kept, store) = (Arc::clone(&self.0), Arc::clone(store));
        let asked = timeout(PATIENCE, async move {
            // Held until the store answers, even if nobody waits for that any more: a store that
            // stands still is asked once.
            let mut kept = kept.lock_owned().await;
            if let Some(kept) = kept.as_ref().filter(|kept| kept.at.elapsed() < GOOD_FOR) {
                return kept.figures.clone();
            }
            let read = move || {
                let figures = read(&*store, &terms).map(Arc::new);
                *kept = Some(Kept {
                    at: Instant::now(),
                    figures: figures.clone(),
                });
                figures
            };
            web::block(read).await.ok().flatten()
        });
        asked.await.ok().flatten()
    }
}

fn read(store: &dyn Store, terms: &StartConditionInputs) -> Option<InstanceFigures> {
    let figures: Result<_, Failure<Problem>> = store.read(|reads| {
        let scope = InstanceScope::SYSTEM;
        Ok(reads.companies().instance_figures(scope, terms)?)
    });
    figures
        .inspect_err(|error| tracing::warn!(%error, cause = ?error, "the store tells no metrics"))
        .ok()
}

/// What the store tells of work.
#[derive(Debug)]
pub(super) struct WorkGauges(pub(super) Option<Arc<InstanceFigures>>);

impl Collector for WorkGauges {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut families = Families::of(encoder);
        families.gauge(
            "store_up",
            "Whether the store told the figures of the instance.",
            u32::from(self.0.is_some()),
        )?;
        let Some(figures) = &self.0 else {
            return Ok(());
        };
        families.gauge("companies", "Companies.", figures.companies)?;
        families.gauge(
            "live_runs",
            "Runs that are live, on whichever server.",
            figures.live_runs,
        )?;
        families.gauge(
            "pending_wakes",
            "Wakes that no run answers yet.",
            figures.pending_wakes,
        )?;
        families.gauges(
            "queued_wakes",
            "Wakes by the first condition of a start that does not hold.",
            "waiting_for",
            waiting(&figures.queued_wakes),
        )?;
        families.gauges(
            "approvals_waiting",
            "Approvals that wait for the board.",
            "type",
            each(&figures.waiting_approvals),
        )?;
        families.gauge("issue_leases", "Leases of issues.", figures.issue_leases)?;
        families.gauges(
            "stuck_issues",
            "Open issues that nothing moves by itself.",
            "reason",
            each(&figures.stuck_issues),
        )?;
        families.gauges(
            "company_month_spend_cents",
            "What the companies that spent most have spent this month, in whole cents.",
            "company",
            figures
                .month_spends
                .iter()
                .map(|(company, spent)| (company.to_string(), spent.whole())),
        )
    }
}

/// How many there are of each word, also of those of which there are none: a series that comes and
/// goes is hard to watch.
fn each<W: StringEnum + PartialEq>(
    counts: &[(W, i64)],
) -> impl Iterator<Item = (&'static str, i64)> {
    let count = |word: W| {
        let of_word = counts.iter().find(|(counted, _)| *counted == word);
        (word.as_str(), of_word.map_or(0, |(_, count)| *count))
    };
    W::ALL.iter().copied().map(count)
}

/// The same for what wakes wait for; `nothing` is of those that the next claim may take.
fn waiting(counts: &[(Option<StartCondition>, i64)]) -> impl Iterator<Item = (&'static str, i64)> {
    let conditions = StartCondition::ALL.iter().copied().map(Some);
    conditions.chain([None]).map(|condition| {
        let of_condition = counts.iter().find(|(counted, _)| *counted == condition);
        let name = condition.map_or("nothing", StartCondition::as_str);
        (name, of_condition.map_or(0, |(_, count)| *count))
    })
}
