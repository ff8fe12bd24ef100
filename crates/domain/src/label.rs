//! Labels that issues are sorted by.

use serde::Serialize;

use alloc::string::String;

use crate::actor::company_owned;
use crate::id::{CompanyId, LabelId};
use crate::text::{Color, LabelName, comparable};
use crate::time::Timestamp;

/// An issue has at most so many labels, so that lists of issues stay bounded.
pub const MAX_ISSUE_LABELS: usize = 50;

/// A label of a company's issues.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct IssueLabel {
    /// Unique id.
    pub id: LabelId,
    /// Its company.
    #[serde(rename = "companyId")]
    pub company: CompanyId,
    /// Its name; names of a company differ in more than case.
    pub name: LabelName,
    /// Colour of its badge.
    pub color: Color,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl IssueLabel {
    /// Its name as it is compared.
    pub fn key(&self) -> String {
        key(&self.name)
    }
}

company_owned!(IssueLabel, company);

/// A name as it is compared.
pub fn key(name: &LabelName) -> String {
    comparable(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_alike_compare_equal() {
        let key_of = |name: &str| key(&LabelName::parse(name).unwrap());
        assert_eq!(key_of("Größe  XL"), key_of(" größe xl"));
        assert_eq!(key_of("ＢＵＧ"), key_of("bug"));
        assert_ne!(key_of("bug"), key_of("bugs"));
    }
}
