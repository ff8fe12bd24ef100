use workforce_domain::actor::CompanyScope;
use workforce_domain::id::WorkspaceId;
use workforce_domain::port::RemoteAddresses;

use super::Visit;
use crate::problem::Problem;
use crate::routes::addresses;

impl Visit {
    /// The addresses that a ticket of a workspace would get now; `None` without a remote.
    ///
    /// # Errors
    /// The step that failed.
    pub async fn addresses(
        &self,
        company: CompanyScope,
        workspace: WorkspaceId,
    ) -> Result<Option<RemoteAddresses>, Problem> {
        let found = addresses(self.state(), company, workspace).await;
        found.inspect_err(|problem| self.note(problem))
    }
}
