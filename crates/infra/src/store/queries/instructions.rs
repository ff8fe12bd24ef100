//! Instructions of agents: where they are, and what the managed ones hold.

use diesel::dsl::max;
use diesel::prelude::*;
use workforce_domain::actor::CompanyScope;
use workforce_domain::agent::Agent;
use workforce_domain::corrupt::Corrupt;
use workforce_domain::id::{AgentId, CompanyId};
use workforce_domain::instructions::{BundleMode, BundlePath, BundlePointer, Manifest};
use workforce_domain::port::{InstructionReads, InstructionWrites, Locked, StoreError};
use workforce_domain::time::Timestamp;

use super::super::transaction::Transaction;
use super::row::{Row, length, one};
use crate::store::cached::cached;
use crate::store::columns::{IdColumn, InstantColumn, JsonColumn, StringEnumColumn};
use crate::store::errors::failed;
use crate::store::schema::{instruction_bundles, instruction_contents, instruction_versions};

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = instruction_bundles, treat_none_as_null = true, treat_none_as_default_value = false)]
struct BundleRow {
    agent_id: IdColumn<AgentId>,
    company_id: IdColumn<CompanyId>,
    mode: StringEnumColumn<BundleMode>,
    root_path: Option<String>,
    entry_file: String,
    version: i32,
    updated_at: InstantColumn,
}

impl Row for BundleRow {
    type Record = BundlePointer;

    fn weight(&self) -> usize {
        length(self.root_path.as_ref())
    }

    fn restore(self) -> Result<BundlePointer, Corrupt> {
        let entry_file = BundlePath::parse(&self.entry_file)
            .map_err(|fault| Corrupt::new("instructions bundle", fault.to_string()))?;
        Ok(BundlePointer {
            mode: self.mode.0,
            root_path: self.root_path,
            entry_file,
            version: self.version,
        })
    }
}

impl InstructionReads for Transaction<'_> {
    fn pointer(
        &mut self,
        company: CompanyScope,
        agent: AgentId,
    ) -> Result<Option<BundlePointer>, StoreError> {
        let query = instruction_bundles::table
            .filter(instruction_bundles::company_id.eq(IdColumn(company.company())))
            .filter(instruction_bundles::agent_id.eq(IdColumn(agent)))
            .select(BundleRow::as_select());
        let row: Option<BundleRow> = cached(query)
            .get_result(self.conn)
            .optional()
            .map_err(failed)?;
        one(row)
    }

    fn manifest(
        &mut self,
        company: CompanyScope,
        agent: AgentId,
        version: i32,
    ) -> Result<Option<Manifest>, StoreError> {
        let files: Option<JsonColumn<Manifest>> = instruction_versions::table
            .filter(instruction_versions::company_id.eq(IdColumn(company.company())))
            .filter(instruction_versions::agent_id.eq(IdColumn(agent)))
            .filter(instruction_versions::version.eq(version))
            .select(instruction_versions::files)
            .first(self.conn)
            .optional()
            .map_err(failed)?;
        Ok(files.map(|files| files.0))
    }

    fn content(
        &mut self,
        company: CompanyScope,
        agent: AgentId,
        sha256: &str,
    ) -> Result<Option<String>, StoreError> {
        instruction_contents::table
            .filter(instruction_contents::company_id.eq(IdColumn(company.company())))
            .filter(instruction_contents::agent_id.eq(IdColumn(agent)))
            .filter(instruction_contents::sha256.eq(sha256))
            .select(instruction_contents::content)
            .first(self.conn)
            .optional()
            .map_err(failed)
    }
}

impl InstructionWrites for Transaction<'_> {
    fn set_pointer(
        &mut self,
        agent: &Locked<Agent>,
        pointer: &BundlePointer,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let agent = agent.to_store()?;
        let row = |pointer: &BundlePointer| BundleRow {
            agent_id: IdColumn(agent.id),
            company_id: IdColumn(agent.company),
            mode: StringEnumColumn(pointer.mode),
            root_path: pointer.root_path.clone(),
            entry_file: pointer.entry_file.to_string(),
            version: pointer.version,
            updated_at: InstantColumn(now),
        };
        diesel::insert_into(instruction_bundles::table)
            .values(row(pointer))
            .on_conflict(instruction_bundles::agent_id)
            .do_update()
            .set(row(pointer))
            .execute(self.conn)
            .map_err(failed)?;
        Ok(())
    }

    fn add_version(
        &mut self,
        agent: &Locked<Agent>,
        manifest: &Manifest,
        now: Timestamp,
    ) -> Result<i32, StoreError> {
        let agent = agent.to_store()?;
        let last: Option<i32> = instruction_versions::table
            .filter(instruction_versions::company_id.eq(IdColumn(agent.company)))
            .filter(instruction_versions::agent_id.eq(IdColumn(agent.id)))
            .select(max(instruction_versions::version))
            .get_result(self.conn)
            .map_err(failed)?;
        let version = last.unwrap_or(0) + 1;
        diesel::insert_into(instruction_versions::table)
            .values((
                instruction_versions::agent_id.eq(IdColumn(agent.id)),
                instruction_versions::version.eq(version),
                instruction_versions::company_id.eq(IdColumn(agent.company)),
                instruction_versions::files.eq(JsonColumn(manifest.clone())),
                instruction_versions::created_at.eq(InstantColumn(now)),
            ))
            .execute(self.conn)
            .map_err(failed)?;
        Ok(version)
    }

    fn keep_content(
        &mut self,
        agent: &Locked<Agent>,
        sha256: &str,
        content: &str,
    ) -> Result<(), StoreError> {
        let agent = agent.to_store()?;
        diesel::insert_into(instruction_contents::table)
            .values((
                instruction_contents::agent_id.eq(IdColumn(agent.id)),
                instruction_contents::sha256.eq(sha256),
                instruction_contents::company_id.eq(IdColumn(agent.company)),
                instruction_contents::content.eq(content),
            ))
            .on_conflict_do_nothing()
            .execute(self.conn)
            .map_err(failed)?;
        Ok(())
    }
}
