//! Whether an agent could run, looked at for a page.

use workforce_app::{Context, Failure, Refusal};
use workforce_domain::adapter_check::AdapterCheck;
use workforce_domain::port::{AdapterToCheck, Reads};

use super::Visit;
use crate::problem::Problem;
use crate::routes::check_adapter;

impl Visit {
    /// Looks at whether the agent could run that `plan` finds in the store.
    ///
    /// # Errors
    /// What `plan` refuses, or too many checks go on.
    pub async fn check_adapter<E: Refusal>(
        &self,
        plan: impl Fn(&mut dyn Reads, &Context<'_>) -> Result<AdapterToCheck, Failure<E>>
        + Send
        + 'static,
    ) -> Result<AdapterCheck, Problem> {
        let adapter = self.look(plan).await?;
        check_adapter(&*self.ports().adapters, adapter).await
    }
}
