//! Messages that come too late.

use workforce_app::runs;
use workforce_domain::actor::CompanyOwned;
use workforce_domain::run::RunOutcome;

use crate::host::bare_end;
use crate::simulation::Simulation;
use crate::world::{Broken, demand};

impl Simulation {
    /// Somebody writes the end of a run that has ended, or with a number of an earlier claim.
    pub(crate) fn write_late(&mut self) -> Result<(), Broken> {
        let ended: Vec<_> = self.books.ended.keys().copied().collect();
        let live: Vec<_> = self.running()?.iter().map(|run| run.id).collect();
        let chosen = if self.random.chance(50) {
            self.random.pick(&ended).map(|run| (run, 0))
        } else {
            self.random.pick(&live).map(|run| (run, 1))
        };
        let Some((id, behind)) = chosen else {
            return Ok(());
        };
        let Some(before) = self.run(id)? else {
            return Ok(());
        };
        let end = bare_end(RunOutcome::Succeeded);
        let (company, fence) = (before.scope(), before.fence - behind);
        let written = self
            .world
            .engine(|tx, ctx| runs::finish(tx, ctx, company, id, fence, end.clone(), None))?;
        let was_written = written.is_some();
        self.note(|names| format!("a late end of {} is written: {was_written}", names.of(id)));
        let after = self.run(id)?;
        demand(
            !was_written && after.as_ref() == Some(&before),
            "a late writer changes nothing",
            || {
                format!(
                    "{id} was {}, and is {:?}",
                    before.status,
                    after.map(|it| it.status)
                )
            },
        )
    }
}
