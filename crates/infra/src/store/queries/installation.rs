use diesel::prelude::*;
use workforce_domain::id::InstallationId;

use super::super::Connection;
use crate::store::columns::IdColumn;
use crate::store::schema::installation;

/// There is one row.
const ONLY: i32 = 1;

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
