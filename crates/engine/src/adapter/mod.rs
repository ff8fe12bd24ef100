//! How agents are run: one implementation per kind of adapter.

pub(crate) mod agent_program;
mod composed_prompt;
pub(crate) mod http;
mod http_body;
pub(crate) mod local;
mod process;
pub(crate) mod settings;

use std::pin::Pin;
use std::sync::Arc;

use workforce_agent_programs::AgentProgram;
use workforce_domain::agent::AdapterType;

use self::agent_program::AgentProgramAdapter;

use crate::execution_result::ExecutionResult;
use crate::live::LiveRun;
use crate::run_context::RunContext;
use crate::state::EngineState;

/// The future of a run; `None` for one that is left to the next start of the server.
pub(crate) type RunFuture<'a> = Pin<Box<dyn Future<Output = Option<ExecutionResult>> + Send + 'a>>;

/// A way to run agents.
///
/// Every process that it starts belongs to the run: it ends when the run is
/// halted, and is recorded in the store before it may do anything.
pub(crate) trait Adapter: Send + Sync {
    /// Runs an agent once, from start to end.
    fn execute<'a>(
        &'a self,
        state: &'a Arc<EngineState>,
        live: &'a Arc<LiveRun>,
        context: &'a RunContext,
    ) -> RunFuture<'a>;

    /// The agent program that it runs, if that is one.
    fn program(&self) -> Option<AgentProgram> {
        None
    }
}

/// The program that agents of a kind run, if that is one of the known ones.
#[must_use]
pub fn agent_program(kind: AdapterType) -> Option<AgentProgram> {
    adapter(kind).program()
}

/// The adapter for a kind.
pub(crate) fn adapter(kind: AdapterType) -> &'static dyn Adapter {
    match kind {
        AdapterType::Process => &process::ProcessAdapter,
        AdapterType::ClaudeLocal => &AgentProgramAdapter(AgentProgram::Claude),
        AdapterType::CodexLocal => &AgentProgramAdapter(AgentProgram::Codex),
        AdapterType::Cursor => &AgentProgramAdapter(AgentProgram::Cursor),
        AdapterType::GeminiLocal => &AgentProgramAdapter(AgentProgram::Gemini),
        AdapterType::OpencodeLocal => &AgentProgramAdapter(AgentProgram::Opencode),
        AdapterType::PiLocal => &AgentProgramAdapter(AgentProgram::Pi),
        AdapterType::Http => &http::HttpAdapter,
    }
}
