use diesel::prelude::*;
use workforce_domain::id::InstallationId;

use super::super::Connection;
use crate::store::AttachmentsNote;
use crate::store::columns::IdColumn;
use crate::store::schema::{assets, installation};

/// There is one row.
const ONLY: i32 = 1;

/// Notes where the attachments are. What is noted already stays, unless they were moved, or
/// `is_alone` and there are none: another server may be about to store the first one. Servers that
/// open a database do so one after the other.
pub(in crate::store) fn note_attachments(
    conn: &mut Connection,
    note: Option<&AttachmentsNote>,
    is_alone: bool,
) -> QueryResult<()> {
    let Some(AttachmentsNote { place, moves }) = note else {
        return Ok(());
    };
    let row = installation::table.find(ONLY);
    let noted: Option<String> = row.select(installation::attachments).first(conn)?;
    let any = diesel::dsl::exists(assets::table.select(assets::id));
    let has_assets: bool = diesel::select(any).get_result(conn)?;
    if noted.is_none() || *moves || (is_alone && !has_assets) {
        diesel::update(row)
            .set(installation::attachments.eq(place))
            .execute(conn)?;
    }
    Ok(())
}

/// Forgets where the attachments are.
pub(in crate::store) fn forget_attachments(conn: &mut Connection) -> QueryResult<()> {
    diesel::update(installation::table)
        .set(installation::attachments.eq(None::<String>))
        .execute(conn)
        .map(drop)
}

/// Gives the database an installation, unless it has one.
pub(in crate::store) fn name_installation(
    conn: &mut Connection,
    new: InstallationId,
) -> QueryResult<()> {
    diesel::insert_into(installation::table)
        .values((
            installation::id.eq(ONLY),
            installation::installation_id.eq(IdColumn(new)),
        ))
        .on_conflict_do_nothing()
        .execute(conn)
        .map(drop)
}
