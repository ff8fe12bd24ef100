//! Goals: why work is done.

use serde::Serialize;

use crate::actor::company_owned;
use crate::id::{AgentId, CompanyId, GoalId};
use crate::string_enum;
use crate::text::{Description, Title};
use crate::time::Timestamp;

string_enum! {
    /// The level of a goal in the hierarchy.
    pub enum GoalLevel {
        /// Of the whole company.
        Company = "company",
        /// Of a team.
        Team = "team",
        /// Of one agent.
        Agent = "agent",
        /// Of one piece of work; the default.
        Task = "task",
    }
}

string_enum! {
    /// Where a goal stands; any value may follow any other. `achieved` and
    /// `completed` mean the same and are kept as sent.
    pub enum GoalStatus {
        /// Not begun; the default.
        Planned = "planned",
        /// Being worked towards.
        Active = "active",
        /// Reached.
        Achieved = "achieved",
        /// Reached.
        Completed = "completed",
        /// Given up.
        Cancelled = "cancelled",
    }
}

/// A goal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Goal {
    /// Unique id.
    pub id: GoalId,
    /// Its company.
    #[serde(rename = "companyId")]
    pub company: CompanyId,
    /// What is to be reached.
    pub title: Title,
    /// More about it.
    pub description: Option<Description>,
    /// Its level in the hierarchy.
    pub level: GoalLevel,
    /// Where it stands.
    pub status: GoalStatus,
    /// The goal it serves.
    #[serde(rename = "parentId")]
    pub parent: Option<GoalId>,
    /// The agent that answers for it.
    #[serde(rename = "ownerAgentId")]
    pub owner_agent: Option<AgentId>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

company_owned!(Goal, company);
