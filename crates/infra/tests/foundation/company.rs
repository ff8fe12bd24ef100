//! Companies for tests.

use workforce_domain::budget::BudgetBasis;
use workforce_domain::company::{Company, CompanyLifecycle};
use workforce_domain::id::CompanyId;
use workforce_domain::money::Budget;
use workforce_domain::port::{Failure, Store, StoreError};
use workforce_domain::text::Name;
use workforce_domain::time::Timestamp;
use workforce_infra::clock::SystemClock;
use workforce_infra::ids::UuidV7Ids;

/// The failures of a test's bodies: none of them refuses.
pub(crate) type Never = Failure<core::convert::Infallible>;

/// A new company with this prefix.
pub(crate) fn company(prefix: &str) -> Company {
    let now = Timestamp::from_micros(1_767_225_600_000_000);
    Company {
        id: new_id(),
        name: Name::parse("Acme").unwrap(),
        description: None,
        lifecycle: CompanyLifecycle::ACTIVE,
        budget: Budget::UNLIMITED,
        budget_basis: BudgetBasis::Actual,
        issue_prefix: prefix.to_owned(),
        require_board_approval_for_new_agents: false,
        review_required: false,
        max_concurrent_runs: 4,
        attachment_limit: None,
        locale: None,
        brand_color: None,
        created_at: now,
        updated_at: now,
    }
}

/// A new id of a company or anything else.
pub(crate) fn new_id<I: workforce_domain::id::Id>() -> I {
    use std::sync::LazyLock;
    use workforce_domain::port::Ids;
    static IDS: LazyLock<UuidV7Ids<SystemClock>> = LazyLock::new(|| UuidV7Ids::new(SystemClock));
    IDS.next().into()
}

/// Stores a company.
pub(crate) fn store_company(store: &dyn Store, company: &Company) -> Result<(), Never> {
    store.write(|tx| Ok(tx.companies_mut().insert(company.clone()).map(drop)?))
}

/// The company, if it is stored.
pub(crate) fn find_company(store: &dyn Store, id: CompanyId) -> Option<Company> {
    let found: Result<_, Never> = store.read(|reads| {
        Ok(reads
            .companies()
            .find(workforce_domain::actor::Scope::SYSTEM, id)?)
    });
    found.unwrap()
}

/// The store's own failure.
pub(crate) fn store_error<E: core::fmt::Debug>(failure: Failure<E>) -> StoreError {
    match failure {
        Failure::Store(error) => error,
        Failure::Refused(refusal) => panic!("refused: {refusal:?}"),
    }
}
