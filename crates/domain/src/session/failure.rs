//! Why a program failed, by what is to be done about it.

use crate::string_enum;

string_enum! {
    /// What kind of failure ended the work of an agent's program. The words are
    /// those of the crate that reads the output of programs.
    pub enum FailureClass {
        /// The program is not signed in, or its key is refused.
        AuthRequired = "auth_required",
        /// A rate limit or a quota is exhausted.
        ProviderLimit = "provider_limit",
        /// The provider has no capacity at the moment.
        Overloaded = "overloaded",
        /// The conversation no longer fits into the model.
        ContextTooLong = "context_too_long",
        /// The session to resume is not there.
        SessionUnknown = "session_unknown",
        /// The program reached its limit of turns.
        MaxTurns = "max_turns",
        /// The program reached its limit of money.
        BudgetOfProgram = "budget_of_program",
        /// The program refuses to work as root without asking.
        RootRefused = "root_refused",
        /// The provider could not be reached.
        Unreachable = "unreachable",
        /// The provider answered with a failure of its own.
        ServerError = "server_error",
        /// The program ended without its last event.
        Interrupted = "interrupted",
        /// Anything else.
        Other = "other",
    }
}

impl FailureClass {
    /// True when a session that failed so is of no more use.
    pub const fn ends_session(self) -> bool {
        matches!(
            self,
            Self::ContextTooLong | Self::SessionUnknown | Self::MaxTurns
        )
    }

    /// True when the program did no work, so that the session is as it was.
    pub const fn leaves_session(self) -> bool {
        matches!(self, Self::AuthRequired | Self::RootRefused)
    }
}
