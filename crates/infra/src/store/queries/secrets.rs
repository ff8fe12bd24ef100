use diesel::prelude::*;
use diesel::sql_types::Bool;
use workforce_domain::actor::{CompanyOwned, CompanyScope, Scope};
use workforce_domain::corrupt::Corrupt;
use workforce_domain::id::{AgentId, RunId, SecretId};
use workforce_domain::page::{CreationKey, Page, PageRequest};
use workforce_domain::port::{
    Lock, Locked, RunSecret, SecretCursor, SecretReads, SecretUser, SecretWrites, StoreError,
    VersionInfo,
};
use workforce_domain::secret::{Secret, SecretVersion};
use workforce_domain::text::SecretName;
use workforce_domain::time::Timestamp;

use super::super::transaction::Transaction;
use super::super::{LoadingMode, for_update};
use super::page::{MAX_WHOLE, fetch_limit, page_of, row_limit};
use super::predicates::remaining_agent;
use super::row::{Row, admit, all, exactly_one, in_scope, one};
use super::secret_row::{SecretRow, UseRow, VersionRow};
use crate::store::columns::{IdColumn, InstantColumn};
use crate::store::errors::failed;
use crate::store::schema::{agent_secrets, agents, run_secrets, secret_versions, secrets};
use crate::store::stable::{fixed, one_of};

#[derive(Queryable, Selectable)]
#[diesel(table_name = secret_versions)]
struct InfoRow {
    version: i32,
    created_at: InstantColumn,
}

impl Row for InfoRow {
    type Record = VersionInfo;

    fn weight(&self) -> usize {
        0
    }

    fn restore(self) -> Result<VersionInfo, Corrupt> {
        Ok(VersionInfo {
            version: self.version,
            created_at: self.created_at.0,
        })
    }
}

impl SecretReads for Transaction<'_> {
    fn find(&mut self, scope: Scope, id: SecretId) -> Result<Option<Secret>, StoreError> {
        let query = secrets::table.filter(secrets::id.eq(IdColumn(id)));
        let row = in_scope!(scope, secrets, query, |scoped| scoped
            .select(SecretRow::as_select())
            .first(self.conn)
            .optional());
        one(row.map_err(failed)?)
    }

    fn find_by_name(
        &mut self,
        company: CompanyScope,
        name: &SecretName,
    ) -> Result<Option<SecretId>, StoreError> {
        let found: Option<IdColumn<SecretId>> = secrets::table
            .filter(secrets::company_id.eq(IdColumn(company.company())))
            .filter(secrets::name.eq(name.as_str()))
            .select(secrets::id)
            .first(self.conn)
            .optional()
            .map_err(failed)?;
        Ok(found.map(|id| id.0))
    }

    fn tokens(&mut self, company: CompanyScope) -> Result<Vec<Secret>, StoreError> {
        let rows: Vec<SecretRow> = secrets::table
            .filter(secrets::company_id.eq(IdColumn(company.company())))
            .filter(secrets::token_for.is_not_null())
            .order(secrets::token_for)
            .limit(MAX_WHOLE)
            .select(SecretRow::as_select())
            .load(self.conn)
            .map_err(failed)?;
        all(rows)
    }

    fn list(
        &mut self,
        company: CompanyScope,
        page: &PageRequest<SecretCursor>,
    ) -> Result<Page<Secret, SecretCursor>, StoreError> {
        let mut query = secrets::table
            .filter(secrets::company_id.eq(IdColumn(company.company())))
            .select(SecretRow::as_select())
            .into_boxed();
        if let Some(after) = page.after {
            let at = InstantColumn(Timestamp::from_micros(after.at));
            query = query.filter(secrets::created_at.ge(at)).filter(
                secrets::created_at
                    .gt(at)
                    .or(secrets::id.gt(IdColumn(after.id))),
            );
        }
        let rows = query
            .order((secrets::created_at, secrets::id))
            .limit(fetch_limit(page))
            .load_iter::<SecretRow, LoadingMode>(self.conn)
            .map_err(failed)?;
        page_of(rows, page, |secret| CreationKey {
            at: secret.created_at.micros(),
            id: secret.id,
        })
    }

    fn version(
        &mut self,
        company: CompanyScope,
        secret: SecretId,
        version: i32,
    ) -> Result<Option<SecretVersion>, StoreError> {
        let row = secret_versions::table
            .find((IdColumn(secret), version))
            .filter(secret_versions::company_id.eq(IdColumn(company.company())))
            .select(VersionRow::as_select())
            .first(self.conn)
            .optional();
        one(row.map_err(failed)?)
    }

    fn versions(
        &mut self,
        company: CompanyScope,
        secret: SecretId,
        page: &PageRequest<i32>,
    ) -> Result<Page<VersionInfo, i32>, StoreError> {
        let mut query = secret_versions::table
            .filter(secret_versions::company_id.eq(IdColumn(company.company())))
            .filter(secret_versions::secret_id.eq(IdColumn(secret)))
            .select(InfoRow::as_select())
            .into_boxed();
        if let Some(after) = page.after {
            query = query.filter(secret_versions::version.lt(after));
        }
        let rows = query
            .order(secret_versions::version.desc())
            .limit(fetch_limit(page))
            .load_iter::<InfoRow, LoadingMode>(self.conn)
            .map_err(failed)?;
        page_of(rows, page, |info| info.version)
    }

    fn users(
        &mut self,
        company: CompanyScope,
        secret: SecretId,
    ) -> Result<Vec<SecretUser>, StoreError> {
        type Found = (IdColumn<AgentId>, String, String, Option<i32>);
        let rows: Vec<Found> = agent_secrets::table
            .inner_join(agents::table)
            .filter(agent_secrets::company_id.eq(IdColumn(company.company())))
            .filter(agent_secrets::secret_id.eq(IdColumn(secret)))
            .filter(fixed::<Bool>(remaining_agent("agents")))
            .select((
                agent_secrets::agent_id,
                agents::name,
                agent_secrets::variable,
                agent_secrets::pinned_version,
            ))
            .order((agent_secrets::agent_id, agent_secrets::variable))
            .limit(MAX_WHOLE)
            .load(self.conn)
            .map_err(failed)?;
        rows.into_iter()
            .map(|(agent, name, variable, pinned)| {
                Ok(SecretUser {
                    agent: agent.0,
                    name: admit("agent", name)?,
                    variable,
                    pinned,
                })
            })
            .collect()
    }

    fn uses(
        &mut self,
        company: CompanyScope,
        secret: SecretId,
        limit: usize,
    ) -> Result<Vec<RunSecret>, StoreError> {
        let rows: Vec<UseRow> = run_secrets::table
            .filter(run_secrets::company_id.eq(IdColumn(company.company())))
            .filter(run_secrets::secret_id.eq(IdColumn(secret)))
            .order((
                run_secrets::used_at.desc(),
                run_secrets::run_id.desc(),
                run_secrets::variable.desc(),
            ))
            .limit(row_limit(limit))
            .select(UseRow::as_select())
            .load(self.conn)
            .map_err(failed)?;
        all(rows)
    }

    fn of_run(&mut self, company: CompanyScope, run: RunId) -> Result<Vec<RunSecret>, StoreError> {
        let rows: Vec<UseRow> = run_secrets::table
            .filter(run_secrets::company_id.eq(IdColumn(company.company())))
            .filter(run_secrets::run_id.eq(IdColumn(run)))
            .order(run_secrets::variable)
            .limit(MAX_WHOLE)
            .select(UseRow::as_select())
            .load(self.conn)
            .map_err(failed)?;
        all(rows)
    }
}

impl SecretWrites for Transaction<'_> {
    fn insert(&mut self, secret: Secret) -> Result<Locked<Secret>, StoreError> {
        diesel::insert_into(secrets::table)
            .values(SecretRow::from(&secret))
            .execute(self.conn)
            .map_err(failed)?;
        Ok(Locked::assume_locked(secret))
    }

    fn lock(&mut self, scope: Scope, id: SecretId) -> Result<Option<Locked<Secret>>, StoreError> {
        self.locks(Lock::Secret, id);
        let query = secrets::table.filter(secrets::id.eq(IdColumn(id)));
        let row = in_scope!(scope, secrets, query, |scoped| for_update!(
            scoped.select(SecretRow::as_select())
        )
        .first(self.conn)
        .optional());
        Ok(one(row.map_err(failed)?)?.map(Locked::assume_locked))
    }

    /// In the order of their ids, so that two who do so never wait for each other.
    fn lock_all(
        &mut self,
        company: CompanyScope,
        ids: &[SecretId],
    ) -> Result<Vec<Locked<Secret>>, StoreError> {
        for id in ids {
            self.locks(Lock::Secret, *id);
        }
        let query = secrets::table
            .filter(secrets::company_id.eq(IdColumn(company.company())))
            .filter(one_of(secrets::id, ids.iter().copied()))
            .order(secrets::id)
            .select(SecretRow::as_select());
        let rows: Vec<SecretRow> = for_update!(query).load(self.conn).map_err(failed)?;
        Ok(all(rows)?.into_iter().map(Locked::assume_locked).collect())
    }

    fn save(&mut self, secret: &Locked<Secret>) -> Result<(), StoreError> {
        diesel::update(secrets::table)
            .filter(secrets::company_id.eq(IdColumn(secret.company)))
            .filter(secrets::id.eq(IdColumn(secret.id)))
            .set(SecretRow::from(secret.to_store()?))
            .execute(self.conn)
            .map_err(failed)
            .and_then(exactly_one)
    }

    fn delete(&mut self, secret: Locked<Secret>) -> Result<(), StoreError> {
        let secret = secret.to_store()?;
        diesel::delete(secrets::table)
            .filter(secrets::company_id.eq(IdColumn(secret.company)))
            .filter(secrets::id.eq(IdColumn(secret.id)))
            .execute(self.conn)
            .map_err(failed)
            .and_then(exactly_one)
    }

    fn insert_version(
        &mut self,
        secret: &Locked<Secret>,
        version: &SecretVersion,
    ) -> Result<(), StoreError> {
        let secret = secret.to_store()?;
        if (version.company, version.secret) != (secret.company, secret.id) {
            return Err(StoreError::Constraint {
                constraint: "a version is its secret's".into(),
            });
        }
        diesel::insert_into(secret_versions::table)
            .values(VersionRow::of(version)?)
            .execute(self.conn)
            .map_err(failed)?;
        Ok(())
    }

    fn delete_version(
        &mut self,
        secret: &Locked<Secret>,
        version: i32,
    ) -> Result<bool, StoreError> {
        let secret = secret.to_store()?;
        let deleted = diesel::delete(secret_versions::table.find((IdColumn(secret.id), version)))
            .filter(secret_versions::company_id.eq(IdColumn(secret.scope().company())))
            .execute(self.conn)
            .map_err(failed)?;
        Ok(deleted > 0)
    }

    fn record_uses(&mut self, company: CompanyScope, uses: &[RunSecret]) -> Result<(), StoreError> {
        for used in uses {
            diesel::insert_into(run_secrets::table)
                .values(UseRow {
                    company_id: IdColumn(company.company()),
                    run_id: IdColumn(used.run),
                    variable: used.variable.clone(),
                    secret_id: IdColumn(used.secret),
                    version: used.version,
                    used_at: InstantColumn(used.used_at),
                })
                .execute(self.conn)
                .map_err(failed)?;
        }
        Ok(())
    }
}
