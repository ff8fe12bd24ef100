use alloc::vec::Vec;

use super::{Locked, NewLease, StoreError};
use crate::actor::{CompanyScope, Scope};
use crate::board::BoardMember;
use crate::dashboard::IssueTally;
use crate::id::{AgentId, CommentId, GoalId, IssueId, LabelId, ProjectId};
use crate::issue::{
    Assignee, Comment, Governance, Issue, IssueRef, IssueStatus, Lease, Priority, StuckIssue,
    StuckReason,
};
use crate::page::{CreationKey, Order, Page, PageRequest};
use crate::run::Run;
use crate::search::SearchQuery;
use crate::time::Timestamp;

/// The place of an issue in a list: priority, then the latest change, then id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IssueCursor {
    /// Rank of the priority, 0 the most urgent.
    pub rank: i16,
    /// Latest change, in microseconds since 1970.
    pub updated_at: i64,
    /// Breaks ties.
    pub id: IssueId,
}

/// Where the words of a search were found in an issue; what comes first ranks
/// first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FoundIn {
    /// The text is the identifier.
    Identifier,
    /// The identifier begins with it.
    IdentifierStart,
    /// All of them in the title.
    Title,
    /// All of them in the identifier, title and description.
    OwnText,
    /// All of them in a comment.
    Comments,
    /// Each of them somewhere, in one text or another.
    Apart,
}

/// The place of an issue in what a search found: where it was found, then as
/// in any list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchCursor {
    /// Where the words were found, as [`FoundIn`] ranks.
    pub found: i16,
    /// Rank of the priority, 0 the most urgent.
    pub rank: i16,
    /// Latest change, in microseconds since 1970.
    pub updated_at: i64,
    /// Breaks ties.
    pub id: IssueId,
}

/// Which assignee a list of issues asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssigneeFilter {
    /// Assigned to nobody.
    Nobody,
    /// Assigned to this agent.
    Agent(AgentId),
    /// Assigned to this member of the board.
    Board(BoardMember),
}

/// Which issues of a company a list shows. An empty list of values asks for
/// nothing in particular.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IssueFilter {
    /// With one of these statuses.
    pub statuses: Vec<IssueStatus>,
    /// With one of these priorities.
    pub priorities: Vec<Priority>,
    /// With this assignee.
    pub assignee: Option<AssigneeFilter>,
    /// Of this project.
    pub project: Option<ProjectId>,
    /// Of this goal.
    pub goal: Option<GoalId>,
    /// Directly below this issue.
    pub parent: Option<IssueId>,
    /// With any of these labels.
    pub labels: Vec<LabelId>,
}

/// The place of an issue among those that are stuck.
pub type StuckCursor = CreationKey<IssueId>;

/// Reads of issues.
pub trait IssueReads {
    /// The issue a caller names. Identifiers are looked up within the scope.
    fn find(&mut self, scope: Scope, issue: &IssueRef) -> Result<Option<Issue>, StoreError>;

    /// Those of `ids` that are issues of the company, in no particular order.
    fn find_all(
        &mut self,
        company: CompanyScope,
        ids: &[IssueId],
    ) -> Result<Vec<Issue>, StoreError>;

    /// Issues of a company: most urgent first, then the latest changed.
    /// Hidden ones are left out.
    fn list(
        &mut self,
        company: CompanyScope,
        filter: &IssueFilter,
        page: &PageRequest<IssueCursor>,
    ) -> Result<Page<Issue, IssueCursor>, StoreError>;

    /// Issues of a company that have every word of `query` in their identifier,
    /// title, description or comments: by where they have them, then as in
    /// [`list`](Self::list). Words that stand in very many texts, but seldom in
    /// the list, are looked up in the latest ones only.
    fn search(
        &mut self,
        company: CompanyScope,
        query: &SearchQuery,
        filter: &IssueFilter,
        page: &PageRequest<SearchCursor>,
    ) -> Result<Page<Issue, SearchCursor>, StoreError>;

    /// The child of `parent` that has not ended and was made under this key.
    fn live_child(
        &mut self,
        company: CompanyScope,
        parent: IssueId,
        key: &[u8; 32],
    ) -> Result<Option<Issue>, StoreError>;

    /// The chain of parents, nearest first, at most 50; ends by itself even in
    /// a cycle.
    fn ancestors(
        &mut self,
        company: CompanyScope,
        issue: IssueId,
    ) -> Result<Vec<Issue>, StoreError>;

    /// How many levels of issues lie below this one, 0 for a leaf; counts no
    /// further than [`Issue::MAX_DEPTH`].
    fn depth_below(&mut self, company: CompanyScope, issue: IssueId) -> Result<usize, StoreError>;

    /// How many children of an issue are neither done nor cancelled.
    fn open_children(&mut self, company: CompanyScope, issue: IssueId) -> Result<i64, StoreError>;

    /// Children of an issue in any of these statuses, at most `limit`; hidden ones
    /// too, most urgent first.
    fn children(
        &mut self,
        company: CompanyScope,
        issue: IssueId,
        statuses: &[IssueStatus],
        limit: usize,
    ) -> Result<Vec<Issue>, StoreError>;

    /// What governs an issue, of its own or from above it. One that does not exist
    /// is not governed.
    fn governance(
        &mut self,
        company: CompanyScope,
        issue: IssueId,
    ) -> Result<Governance, StoreError>;

    /// The lease on an issue, expired or not.
    fn lease(&mut self, company: CompanyScope, issue: IssueId)
    -> Result<Option<Lease>, StoreError>;

    /// Leases on issues, expired or not, in no particular order.
    fn leases(
        &mut self,
        company: CompanyScope,
        issues: &[IssueId],
    ) -> Result<Vec<Lease>, StoreError>;

    /// Why an issue is stuck at `now`; `None` when it is not, or not open.
    fn why_stuck(
        &mut self,
        company: CompanyScope,
        issue: IssueId,
        now: Timestamp,
    ) -> Result<Option<StuckReason>, StoreError>;

    /// Issues that were noted as stuck, those first that are so for the longest time.
    fn list_stuck(
        &mut self,
        company: CompanyScope,
        page: &PageRequest<StuckCursor>,
    ) -> Result<Page<StuckIssue, StuckCursor>, StoreError>;

    /// Issues that a person is to review or to do, as [`Badges`](crate::dashboard::Badges) counts
    /// them: at most `limit`, the latest changed first.
    fn awaiting_board(
        &mut self,
        company: CompanyScope,
        limit: usize,
    ) -> Result<Vec<Issue>, StoreError>;

    /// How many issues are noted as stuck, for each reason that there is.
    fn count_stuck(&mut self, company: CompanyScope)
    -> Result<Vec<(StuckReason, i64)>, StoreError>;

    /// How many issues each project has; those without any are missing. Hidden ones are left out.
    fn count_by_project(
        &mut self,
        company: CompanyScope,
    ) -> Result<Vec<(ProjectId, IssueTally)>, StoreError>;

    /// The same for each goal.
    fn count_by_goal(
        &mut self,
        company: CompanyScope,
    ) -> Result<Vec<(GoalId, IssueTally)>, StoreError>;
}

/// Writes of issues.
pub trait IssueWrites {
    /// Stores a new issue and holds it.
    fn insert(&mut self, issue: Issue) -> Result<Locked<Issue>, StoreError>;

    /// Locks an issue, and with it its lease.
    fn lock(&mut self, scope: Scope, issue: &IssueRef)
    -> Result<Option<Locked<Issue>>, StoreError>;

    /// Locks the issues of a company against changes of their hierarchy, so
    /// that two moves at once cannot make a cycle.
    fn lock_hierarchy(&mut self, company: CompanyScope) -> Result<(), StoreError>;

    /// Stores a locked issue. What it is found by stays: see
    /// [`reindex`](Self::reindex).
    fn save(&mut self, issue: &Locked<Issue>) -> Result<(), StoreError>;

    /// Has a locked issue found by its present title and description. To be
    /// called when one of them changed.
    fn reindex(&mut self, issue: &Locked<Issue>) -> Result<(), StoreError>;

    /// Marks a new child of an issue with the key by which
    /// [`live_child`](IssueReads::live_child) finds it.
    fn set_child_key(&mut self, issue: &Locked<Issue>, key: &[u8; 32]) -> Result<(), StoreError>;

    /// Deletes a locked issue with all that belongs to it, and cancels what
    /// waits to be run for it. Approvals that lose their last issue are
    /// cancelled by the caller beforehand.
    fn delete(&mut self, issue: Locked<Issue>, now: Timestamp) -> Result<(), StoreError>;

    /// Puts the lease on a locked issue, in place of the present one. The
    /// store gives the fencing number; the lease with it is returned.
    fn take_lease(&mut self, issue: &Locked<Issue>, lease: NewLease) -> Result<Lease, StoreError>;

    /// Ends the lease on a locked issue, if there is one.
    fn end_lease(&mut self, issue: &Locked<Issue>) -> Result<(), StoreError>;

    /// Locks every issue that is assigned to somebody and not ended, youngest
    /// first.
    fn lock_open_of(
        &mut self,
        company: CompanyScope,
        assignee: Assignee,
    ) -> Result<Vec<Locked<Issue>>, StoreError>;

    /// Locks every issue below another, youngest first. It comes before the lock on
    /// that one.
    fn lock_below(
        &mut self,
        company: CompanyScope,
        issue: IssueId,
    ) -> Result<Vec<Locked<Issue>>, StoreError>;

    /// Notes why a locked issue is stuck, or that it is not. Says whether that is new.
    fn note_stuck(
        &mut self,
        issue: &Locked<Issue>,
        reason: Option<StuckReason>,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Ends every lease that a locked run holds. The issues need no lock: only
    /// a live run is given a lease, and this one is held here.
    fn end_leases_of_run(&mut self, run: &Locked<Run>) -> Result<(), StoreError>;
}

/// The place of a comment in a list.
pub type CommentCursor = CreationKey<CommentId>;

/// Reads of comments.
pub trait CommentReads {
    /// Comments on an issue.
    fn list(
        &mut self,
        company: CompanyScope,
        issue: IssueId,
        order: Order,
        page: &PageRequest<CommentCursor>,
    ) -> Result<Page<Comment, CommentCursor>, StoreError>;

    /// Those of `ids` that are comments of the company, oldest first.
    fn find_all(
        &mut self,
        company: CompanyScope,
        ids: &[CommentId],
    ) -> Result<Vec<Comment>, StoreError>;
}

/// Writes of comments.
pub trait CommentWrites {
    /// Stores a new comment.
    fn insert(&mut self, comment: &Comment) -> Result<(), StoreError>;
}
