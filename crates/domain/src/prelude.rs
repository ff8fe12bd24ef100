//! What whoever embeds the rules needs in nearly every file:
//! `use workforce_domain::prelude::*;`.
//!
//! Values that belong to one matter alone, such as a decision on a checkout, are left to their
//! modules.

pub use crate::actor::{Actor, CompanyOwned, CompanyScope, InstanceScope, Scope};
pub use crate::agent::{Agent, AgentLifecycle, AgentState};
pub use crate::approval::{Approval, ApprovalState, ApprovalStatus, ApprovalType};
pub use crate::board::{Author, BoardMember};
pub use crate::budget::{AgentPause, BudgetUsage, RaisedAlerts, Threshold};
pub use crate::company::Company;
pub use crate::id::{AgentId, ApprovalId, CompanyId, GoalId, Id, IssueId, ProjectId, RunId};
pub use crate::issue::{Assignee, Assignment, Issue, IssueRef, IssueStatus, Mover, NewIssue};
pub use crate::issue::{Lease, Priority, Progress};
pub use crate::lifecycle::{IllegalTransition, Lifecycle};
pub use crate::money::{Budget, Cents};
pub use crate::port::{Clock, Failure, Ids, Locked, Reads, Store, StoreError, Tx};
pub use crate::run::{Run, RunStatus};
pub use crate::string_enum::StringEnum;
pub use crate::text::{Description, Name, Title};
pub use crate::time::{Month, Timestamp};
