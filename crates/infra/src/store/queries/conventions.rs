//! The conventions of projects as rows.

use diesel::prelude::*;
use serde_json::Value;
use workforce_domain::actor::CompanyScope;
use workforce_domain::conventions::{Compact, CompactOrigin, CompactSource, Conventions};
use workforce_domain::corrupt::Corrupt;
use workforce_domain::id::{CompanyId, ProjectId};
use workforce_domain::port::StoreError;
use workforce_domain::project::Project;

use super::super::Connection;
use super::row::{Row, admit, length, one};
use crate::store::columns::{DigestColumn, IdColumn, InstantColumn, JsonColumn, StringEnumColumn};
use crate::store::errors::failed;
use crate::store::schema::project_conventions;

const KIND: &str = "conventions";

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(
    table_name = project_conventions,
    primary_key(project_id),
    treat_none_as_null = true,
    treat_none_as_default_value = false
)]
struct ConventionsRow {
    company_id: IdColumn<CompanyId>,
    project_id: IdColumn<ProjectId>,
    backstory: String,
    conventions_md: String,
    extra_references: JsonColumn<Value>,
    compact_context: Option<String>,
    compact_source: Option<StringEnumColumn<CompactSource>>,
    compact_max_chars: Option<i32>,
    compact_source_hash: Option<DigestColumn>,
    updated_at: InstantColumn,
}

impl Row for ConventionsRow {
    type Record = Conventions;

    fn weight(&self) -> usize {
        self.backstory.len() + self.conventions_md.len() + length(self.compact_context.as_ref())
    }

    fn restore(self) -> Result<Conventions, Corrupt> {
        let compact = compact(
            self.compact_context,
            self.compact_source.map(|source| source.0),
            self.compact_max_chars,
            self.compact_source_hash.map(|hash| hash.0),
        )?;
        Ok(Conventions {
            company: self.company_id.0,
            project: self.project_id.0,
            backstory: admit(KIND, self.backstory)?,
            conventions_md: admit(KIND, self.conventions_md)?,
            extra_references: self.extra_references.0,
            compact,
            updated_at: Some(self.updated_at.0),
        })
    }
}

/// The short form that its columns make together.
fn compact(
    text: Option<String>,
    source: Option<CompactSource>,
    max_chars: Option<i32>,
    source_hash: Option<[u8; 32]>,
) -> Result<Option<Compact>, Corrupt> {
    let origin = match (source, max_chars) {
        (None, None) => None,
        (Some(CompactSource::Manual), None) => Some(CompactOrigin::Manual),
        (Some(CompactSource::Generated), Some(max_chars)) => {
            Some(CompactOrigin::Generated { max_chars })
        }
        _ => {
            return Err(Corrupt::new(
                KIND,
                "the source of its short form is unclear",
            ));
        }
    };
    match (text, origin, source_hash) {
        (None, None, None) => Ok(None),
        (Some(text), Some(origin), Some(source_hash)) => Ok(Some(Compact {
            text: admit(KIND, text)?,
            origin,
            source_hash,
        })),
        _ => Err(Corrupt::new(KIND, "its short form is not whole")),
    }
}

/// The conventions of a project, if anybody wrote any.
pub(super) fn find(
    conn: &mut Connection,
    company: CompanyScope,
    project: ProjectId,
) -> Result<Option<Conventions>, StoreError> {
    let row = project_conventions::table
        .filter(project_conventions::company_id.eq(IdColumn(company.company())))
        .filter(project_conventions::project_id.eq(IdColumn(project)))
        .select(ConventionsRow::as_select())
        .first(conn)
        .optional();
    one(row.map_err(failed)?)
}

/// Stores the conventions of a locked project.
pub(super) fn save(
    conn: &mut Connection,
    project: &Project,
    conventions: &Conventions,
) -> Result<(), StoreError> {
    let max_chars = |compact: &Compact| match compact.origin {
        CompactOrigin::Manual => None,
        CompactOrigin::Generated { max_chars } => Some(max_chars),
    };
    let compact = conventions.compact.as_ref();
    let row = ConventionsRow {
        company_id: IdColumn(project.company),
        project_id: IdColumn(project.id),
        backstory: conventions.backstory.to_string(),
        conventions_md: conventions.conventions_md.to_string(),
        extra_references: JsonColumn(conventions.extra_references.clone()),
        compact_context: compact.map(|compact| compact.text.to_string()),
        compact_source: compact.map(|compact| StringEnumColumn(compact.origin.source())),
        compact_max_chars: compact.and_then(max_chars),
        compact_source_hash: compact.map(|compact| DigestColumn(compact.source_hash)),
        updated_at: InstantColumn(conventions.updated_at.unwrap_or(project.updated_at)),
    };
    diesel::insert_into(project_conventions::table)
        .values(&row)
        .on_conflict(project_conventions::project_id)
        .do_update()
        .set(&row)
        .execute(conn)
        .map_err(failed)?;
    Ok(())
}
