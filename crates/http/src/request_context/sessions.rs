//! How a browser comes to a session of the board (docs/access.md#sessions).

use workforce_app::authenticate::AuthError;
use workforce_app::board_sessions::{self, authenticate_member};
use workforce_app::{Failure, Signal};
use workforce_domain::port::Tx;

use super::RequestContext;
use super::pool::in_pool;
use crate::access_rules::Access;
use crate::problem::{Problem, into_problem};
use crate::reply::Reply;
use crate::turn::PATIENCE;

impl RequestContext {
    /// Begins a session of the board's token `token`, in the place of the session `former`; its
    /// value.
    ///
    /// # Errors
    /// It is no valid token of the board, or the store failed.
    pub(crate) async fn sign_in(
        mut self,
        token: &str,
        former: Option<String>,
    ) -> Result<String, Problem> {
        let policy = self.state.auth;
        self.request.present(token);
        self.access = Access::Board;
        self.act(
            |_request| Ok(()),
            move |tx, ctx, ()| board_sessions::begin(tx, ctx, policy, former.as_deref()),
            |begun| Reply::credential(begun.value),
        )
        .await
    }

    /// The same with a link, which is used up by it.
    ///
    /// # Errors
    /// It is no link that may be used, or the store failed.
    pub(crate) async fn sign_in_by_link(
        self,
        link: String,
        former: Option<String>,
    ) -> Result<String, Problem> {
        in_pool(PATIENCE, move || {
            self.sign_in_by_link_now(&link, former.as_deref())
        })
        .await
    }

    fn sign_in_by_link_now(&self, value: &str, former: Option<&str>) -> Result<String, Problem> {
        let (ports, policy) = (&self.state.ports, self.state.auth);
        let now = ports.clock.now();
        let invalid = || Failure::Refused(Problem::refused(AuthError::Invalid));
        // Looked up with a read first: what is no link must not queue for the right to write.
        let found = ports
            .store
            .read(|reads| {
                let found = board_sessions::find_link(reads, &*ports.tokens, policy, value, now)?;
                found.ok_or_else(invalid)
            })
            .map_err(into_problem)?;
        ports
            .store
            .write(|tx: &mut dyn Tx| {
                if !tx.board_sessions_mut().take_link(&found.digest)? {
                    return Err(invalid());
                }
                let caller = authenticate_member(tx.reads(), policy, found.member)
                    .map_err(|failure| failure.map(Problem::refused))?;
                let signal = Signal::default();
                let ctx = self.context(&caller, now, &signal);
                let begun = board_sessions::begin(tx, &ctx, policy, former)
                    .map_err(|failure| failure.map(Problem::refused))?;
                Ok(begun.value)
            })
            .map_err(into_problem)
    }

    /// Ends the session with this value, if there is one.
    ///
    /// # Errors
    /// The store failed.
    pub(crate) async fn sign_out(self, session: String) -> Result<(), Problem> {
        in_pool(PATIENCE, move || {
            let (ports, policy) = (&self.state.ports, self.state.auth);
            ports
                .store
                .write(|tx: &mut dyn Tx| {
                    let tokens = &*ports.tokens;
                    let found = board_sessions::find(tx.reads(), tokens, policy, &session)?;
                    if let Some(found) = found {
                        tx.board_sessions_mut().end(found.id)?;
                    }
                    Ok(())
                })
                .map_err(into_problem)
        })
        .await
    }
}
