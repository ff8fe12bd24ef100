use alloc::string::String;
use alloc::vec::Vec;

use super::{Locked, StartConditionInputs, StoreError};
use crate::actor::{CompanyScope, InstanceScope, Scope};
use crate::company::{Company, CompanyStatus};
use crate::dashboard::{Badges, Cutoffs, DashboardMetrics};
use crate::id::CompanyId;
use crate::instance_figures::InstanceFigures;
use crate::page::{CreationKey, Page, PageRequest};

/// The place of a company in a list.
pub type CompanyCursor = CreationKey<CompanyId>;

/// Reads of companies.
pub trait CompanyReads {
    /// The company with this id.
    fn find(&mut self, scope: Scope, id: CompanyId) -> Result<Option<Company>, StoreError>;

    /// Companies with one of these statuses, oldest first.
    fn list(
        &mut self,
        scope: Scope,
        statuses: &[CompanyStatus],
        page: &PageRequest<CompanyCursor>,
    ) -> Result<Page<Company, CompanyCursor>, StoreError>;

    /// The company whose issues are named with this prefix.
    fn find_by_prefix(
        &mut self,
        scope: InstanceScope,
        prefix: &str,
    ) -> Result<Option<Company>, StoreError>;

    /// The issue prefixes of the instance that start with `stem`.
    fn prefixes(&mut self, scope: InstanceScope, stem: &str) -> Result<Vec<String>, StoreError>;

    /// Asks the store for something that costs next to nothing, to see whether
    /// it answers.
    ///
    /// # Errors
    /// When it does not.
    fn probe(&mut self, scope: InstanceScope) -> Result<(), StoreError> {
        // No prefix begins like this.
        self.prefixes(scope, "-").map(|_none| ())
    }

    /// The figures of a company's dashboard.
    fn figures(
        &mut self,
        company: CompanyScope,
        at: Cutoffs,
    ) -> Result<DashboardMetrics, StoreError>;

    /// What waits for somebody's attention in a company.
    fn badges(&mut self, company: CompanyScope) -> Result<Badges, StoreError>;

    /// The figures of the instance. Wakes are asked what a claim with these `terms` would ask.
    fn instance_figures(
        &mut self,
        scope: InstanceScope,
        terms: &StartConditionInputs,
    ) -> Result<InstanceFigures, StoreError>;
}

/// Writes of companies.
pub trait CompanyWrites {
    /// Locks the issue prefixes of the instance, so that of several companies
    /// that are made at once each finds another one free, and tells those that
    /// start with `stem`.
    fn lock_prefixes(
        &mut self,
        scope: InstanceScope,
        stem: &str,
    ) -> Result<Vec<String>, StoreError>;

    /// Stores a new company, holds it and begins its counters.
    ///
    /// # Errors
    /// [`StoreError::Contended`] when another took its prefix meanwhile.
    fn insert(&mut self, company: Company) -> Result<Locked<Company>, StoreError>;

    /// Locks a company.
    fn lock(&mut self, scope: Scope, id: CompanyId) -> Result<Option<Locked<Company>>, StoreError>;

    /// Stores a locked company.
    fn save(&mut self, company: &Locked<Company>) -> Result<(), StoreError>;

    /// Removes a locked company with everything it has.
    fn delete(&mut self, company: Locked<Company>) -> Result<(), StoreError>;

    /// Takes the next issue number.
    fn next_issue_number(&mut self, company: CompanyScope) -> Result<i64, StoreError>;
}
