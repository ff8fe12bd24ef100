//! What always holds between transactions, as queries.
//!
//! Types, constraints and locks are to keep the invariants true. These queries find out when
//! something got past them all, for a test or an operator. Each selects the rows that break its
//! invariant, and is written once for both databases.

mod governance;
mod people;
mod records;
mod work;

use core::fmt;

use workforce_domain::id::CompanyId;
use workforce_domain::port::StoreError;

use super::url::{DatabaseUrl, Target};

/// Stands in a statement for the month of the cost event `e`, as the totals number months, which
/// each database calculates in its own way.
pub(super) const MONTH: &str = "{month}";

/// Something that always holds.
pub(super) struct Invariant {
    /// Names it, in one word.
    pub(super) name: &'static str,
    /// Says it.
    pub(super) sentence: &'static str,
    /// Selects the rows that break it: the company of each as `company`, and a text that names
    /// the row as `what`.
    pub(super) rows: &'static str,
}

/// Every invariant.
pub(super) fn all() -> impl Iterator<Item = &'static Invariant> {
    let groups: [&'static [Invariant]; 4] = [
        work::INVARIANTS,
        people::INVARIANTS,
        governance::INVARIANTS,
        records::INVARIANTS,
    ];
    groups.into_iter().flatten()
}

/// The name of every invariant.
pub fn invariant_names() -> impl Iterator<Item = &'static str> {
    all().map(|invariant| invariant.name)
}

/// An invariant that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenInvariant {
    /// Its name, such as `only_the_employed_hold_leases`.
    pub name: &'static str,
    /// What it says.
    pub sentence: &'static str,
    /// What breaks it, as far as it was asked for.
    pub rows: Vec<OffendingRow>,
}

/// A row that breaks an invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OffendingRow {
    /// The company it belongs to.
    pub company: CompanyId,
    /// Which row it is.
    pub what: String,
}

impl fmt::Display for BrokenInvariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.sentence)?;
        for row in &self.rows {
            write!(f, "\n    {} (company {})", row.what, row.company)?;
        }
        Ok(())
    }
}

/// The invariants that do not hold in the database at `url`, each with up to `limit` of the rows
/// that break it. All queries see one snapshot, on a connection of their own; a server may be at
/// work meanwhile.
pub fn broken_invariants(
    url: &DatabaseUrl,
    limit: usize,
) -> Result<Vec<BrokenInvariant>, StoreError> {
    match url.target() {
        #[cfg(feature = "sqlite")]
        Target::Sqlite(path) => super::sqlite::broken_invariants(path, limit),
        #[cfg(feature = "postgres")]
        Target::Postgres(url) => super::postgres::broken_invariants(url, limit),
        #[cfg(not(all(feature = "sqlite", feature = "postgres")))]
        _ => Err(StoreError::Unavailable(
            "this program was built without support for the database".into(),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_a_name_of_its_own() {
        let mut names: Vec<_> = invariant_names().collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn a_broken_one_names_itself_and_its_rows() {
        let broken = BrokenInvariant {
            name: "order",
            sentence: "All is in order.",
            rows: vec![OffendingRow {
                company: CompanyId::from(uuid::Uuid::nil()),
                what: "issue 7".into(),
            }],
        };
        assert_eq!(
            broken.to_string(),
            "order: All is in order.\n    issue 7 (company 00000000-0000-0000-0000-000000000000)"
        );
    }
}
