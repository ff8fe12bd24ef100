use std::collections::HashSet;

use diesel::dsl::{exists, not};
use diesel::prelude::*;
use workforce_domain::actor::{CompanyScope, InstanceScope, Scope};
use workforce_domain::attachment::{Asset, Attachment, ObjectName};
use workforce_domain::id::{AssetId, AttachmentId, CompanyId, IssueId};
use workforce_domain::page::{CreationKey, Page, PageRequest};
use workforce_domain::port::{
    AttachmentCursor, AttachmentReads, AttachmentWrites, Lock, Locked, StoreError,
};
use workforce_domain::time::Timestamp;

use super::super::transaction::Transaction;
use super::super::{Connection, LoadingMode, for_update};
use super::attachment_row::{AssetRow, AttachmentRow};
use super::page::{fetch_limit, page_of, row_limit};
use super::row::{Row, exactly_one, in_scope, one};
use crate::store::columns::{DigestColumn, IdColumn, InstantColumn};
use crate::store::errors::failed;
use crate::store::schema::{assets, issue_attachments};

impl AttachmentReads for Transaction<'_> {
    fn find(&mut self, scope: Scope, id: AttachmentId) -> Result<Option<Attachment>, StoreError> {
        let query = issue_attachments::table
            .inner_join(assets::table)
            .filter(issue_attachments::id.eq(IdColumn(id)));
        let row: QueryResult<Option<(AttachmentRow, AssetRow)>> =
            in_scope!(scope, issue_attachments, query, |scoped| scoped
                .select((AttachmentRow::as_select(), AssetRow::as_select()))
                .first(self.conn)
                .optional());
        one(row.map_err(failed)?)
    }

    fn list(
        &mut self,
        company: CompanyScope,
        issue: IssueId,
        page: &PageRequest<AttachmentCursor>,
    ) -> Result<Page<Attachment, AttachmentCursor>, StoreError> {
        let mut query = issue_attachments::table
            .inner_join(assets::table)
            .filter(issue_attachments::company_id.eq(IdColumn(company.company())))
            .filter(issue_attachments::issue_id.eq(IdColumn(issue)))
            .select((AttachmentRow::as_select(), AssetRow::as_select()))
            .into_boxed();
        if let Some(after) = page.after {
            let at = InstantColumn(Timestamp::from_micros(after.at));
            query = query.filter(issue_attachments::created_at.le(at)).filter(
                issue_attachments::created_at
                    .lt(at)
                    .or(issue_attachments::id.lt(IdColumn(after.id))),
            );
        }
        let rows = query
            .order((
                issue_attachments::created_at.desc(),
                issue_attachments::id.desc(),
            ))
            .limit(fetch_limit(page))
            .load_iter::<(AttachmentRow, AssetRow), LoadingMode>(self.conn)
            .map_err(failed)?;
        page_of(rows, page, |attachment| CreationKey {
            at: attachment.created_at.micros(),
            id: attachment.id,
        })
    }

    fn assets_among(
        &mut self,
        _scope: InstanceScope,
        objects: &[ObjectName],
    ) -> Result<Vec<ObjectName>, StoreError> {
        let asked: HashSet<&ObjectName> = objects.iter().collect();
        let ids: Vec<_> = objects.iter().map(|it| IdColumn(it.asset)).collect();
        let rows: Vec<(IdColumn<CompanyId>, IdColumn<AssetId>)> = assets::table
            .filter(assets::id.eq_any(ids))
            .select((assets::company_id, assets::id))
            .load(self.conn)
            .map_err(failed)?;
        Ok(rows
            .into_iter()
            .map(|(company, asset)| ObjectName {
                company: company.0,
                asset: asset.0,
            })
            .filter(|name| asked.contains(name))
            .collect())
    }
}

impl AttachmentWrites for Transaction<'_> {
    fn keep_asset(&mut self, asset: &Asset) -> Result<Asset, StoreError> {
        let present = for_update!(
            assets::table
                .filter(assets::company_id.eq(IdColumn(asset.company)))
                .filter(assets::sha256.eq(DigestColumn(asset.sha256)))
                .select(AssetRow::as_select())
        )
        .first(self.conn)
        .optional()
        .map_err(failed)?;
        if let Some(present) = one::<AssetRow>(present)? {
            return Ok(present);
        }
        // The loser of a race for the same bytes runs again and finds the winner's asset.
        diesel::insert_into(assets::table)
            .values(AssetRow::from(asset))
            .execute(self.conn)
            .map_err(failed)?;
        Ok(asset.clone())
    }

    fn insert(&mut self, attachment: &Attachment) -> Result<(), StoreError> {
        diesel::insert_into(issue_attachments::table)
            .values(AttachmentRow::from(attachment))
            .execute(self.conn)
            .map_err(failed)?;
        Ok(())
    }

    fn lock(
        &mut self,
        scope: Scope,
        id: AttachmentId,
    ) -> Result<Option<Locked<Attachment>>, StoreError> {
        self.locks(Lock::Attachment, id);
        let query = issue_attachments::table
            .inner_join(assets::table)
            .filter(issue_attachments::id.eq(IdColumn(id)));
        let row: QueryResult<Option<(AttachmentRow, AssetRow)>> =
            in_scope!(scope, issue_attachments, query, |scoped| for_update!(
                scoped.select((AttachmentRow::as_select(), AssetRow::as_select()))
            )
            .first(self.conn)
            .optional());
        Ok(one(row.map_err(failed)?)?.map(Locked::assume_locked))
    }

    fn delete(&mut self, attachment: Locked<Attachment>) -> Result<Option<ObjectName>, StoreError> {
        let attachment = attachment.to_store()?;
        let object = attachment.asset.object();
        diesel::delete(issue_attachments::table)
            .filter(issue_attachments::company_id.eq(IdColumn(object.company)))
            .filter(issue_attachments::id.eq(IdColumn(attachment.id)))
            .execute(self.conn)
            .map_err(failed)
            .and_then(exactly_one)?;
        Ok(delete_unshown(self.conn, object)?.then_some(object))
    }

    fn delete_unattached(
        &mut self,
        _scope: InstanceScope,
        limit: usize,
    ) -> Result<Vec<ObjectName>, StoreError> {
        let shown = issue_attachments::table
            .filter(issue_attachments::company_id.eq(assets::company_id))
            .filter(issue_attachments::asset_id.eq(assets::id));
        let rows: Vec<AssetRow> = assets::table
            .filter(not(exists(shown)))
            .order(assets::id)
            .limit(row_limit(limit))
            .select(AssetRow::as_select())
            .load(self.conn)
            .map_err(failed)?;
        let mut deleted = Vec::new();
        for row in rows {
            let object = row.restore()?.object();
            // Before it was locked another attachment may have come to show it.
            let locked: Option<IdColumn<AssetId>> = for_update!(
                assets::table
                    .filter(assets::company_id.eq(IdColumn(object.company)))
                    .filter(assets::id.eq(IdColumn(object.asset)))
                    .select(assets::id)
            )
            .first(self.conn)
            .optional()
            .map_err(failed)?;
            if locked.is_some() && delete_unshown(self.conn, object)? {
                deleted.push(object);
            }
        }
        Ok(deleted)
    }
}

/// Deletes a locked asset that no attachment shows; says whether it did.
fn delete_unshown(conn: &mut Connection, object: ObjectName) -> Result<bool, StoreError> {
    let shown = issue_attachments::table
        .filter(issue_attachments::company_id.eq(IdColumn(object.company)))
        .filter(issue_attachments::asset_id.eq(IdColumn(object.asset)));
    let is_shown: bool = diesel::select(exists(shown))
        .get_result(conn)
        .map_err(failed)?;
    if is_shown {
        return Ok(false);
    }
    diesel::delete(assets::table)
        .filter(assets::company_id.eq(IdColumn(object.company)))
        .filter(assets::id.eq(IdColumn(object.asset)))
        .execute(conn)
        .map_err(failed)
        .and_then(exactly_one)?;
    Ok(true)
}
