//! Files of instructions, which may lie on the disk of the server.

use std::sync::Arc;
use std::time::Duration;

use workforce_app::agents::instructions::{
    self as use_cases, BundleView, DeleteFile, FileView, FoundFile, PutFile,
};
use workforce_domain::id::AgentId;

use super::Visit;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::request_context::in_pool;
use crate::routes::instructions;

impl Visit {
    /// A bundle with what only the disk tells, and the file of it that was found, if one was.
    ///
    /// # Errors
    /// Why the file cannot be read.
    pub async fn load_instructions(
        &self,
        bundle: BundleView,
        file: Option<FoundFile>,
    ) -> Result<(BundleView, Option<FileView>), Problem> {
        let disk = Arc::clone(&self.ports().instructions);
        let loaded = in_pool(Duration::ZERO, move || {
            let load = |file| use_cases::load(file, &*disk).map_err(Problem::refused);
            let file = file.map(load).transpose()?;
            Ok((bundle.completed(&*disk), file))
        });
        loaded.await
    }

    /// Writes a file of an agent's instructions.
    ///
    /// # Errors
    /// Why it was not done.
    pub async fn write_instructions(
        &self,
        key: Option<&str>,
        agent: AgentId,
        file: PutFile,
    ) -> Result<(), Problem> {
        let context = self.request_context(key);
        let parse = move |_: &_| Ok((agent, file));
        let written = instructions::written(context, parse, |_, _, _view| Reply::ok(()));
        written.await.map(drop)
    }

    /// Deletes a file of an agent's instructions.
    ///
    /// # Errors
    /// Why it was not done.
    pub async fn delete_instructions(
        &self,
        key: Option<&str>,
        agent: AgentId,
        file: DeleteFile,
    ) -> Result<(), Problem> {
        let context = self.request_context(key);
        let parse = move |_: &_| Ok((agent, file));
        let deleted = instructions::deleted(context, parse, |_, _, _view| Reply::ok(()));
        deleted.await.map(drop)
    }
}
