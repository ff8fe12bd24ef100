use super::StoreError;
use crate::actor::{CompanyScope, Scope};
use crate::id::{AgentId, RevisionId};
use crate::page::{Page, PageRequest};
use crate::revision::Revision;

/// The place of a revision in the list of its agent: its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct RevisionCursor {
    /// The number.
    pub n: i32,
}

/// Reads of configuration revisions.
pub trait RevisionReads {
    /// The revision with this id.
    fn find(&mut self, scope: Scope, id: RevisionId) -> Result<Option<Revision>, StoreError>;

    /// Revisions of an agent, newest first.
    fn list(
        &mut self,
        company: CompanyScope,
        agent: AgentId,
        page: &PageRequest<RevisionCursor>,
    ) -> Result<Page<Revision, RevisionCursor>, StoreError>;

    /// The number of an agent's last revision; 0 when it has none.
    fn last_number(&mut self, company: CompanyScope, agent: AgentId) -> Result<i32, StoreError>;
}

/// Writes of configuration revisions.
pub trait RevisionWrites {
    /// Stores a revision of an agent that is locked or was just made.
    ///
    /// # Errors
    /// [`StoreError::Contended`] when its number was taken meanwhile.
    fn insert(&mut self, revision: &Revision) -> Result<(), StoreError>;
}
