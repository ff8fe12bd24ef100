//! Whom comments mention (docs/issues.md#mentions).

use serde::Serialize;
use workforce_domain::actor::CompanyScope;
use workforce_domain::mention::{MentionIndex, Mentions};
use workforce_domain::port::{StoreError, Tx};
use workforce_domain::text::CommentBody;

use crate::context::Context;

/// A comment that was added.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Commented<C> {
    /// The comment.
    #[serde(flatten)]
    pub comment: C,
    /// Words after an `@` that name nobody who can be mentioned, in lower case.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub unknown_mentions: Vec<String>,
}

/// The names of a company's agents, which are read when a comment may mention one.
#[derive(Default)]
pub(crate) struct Names(Option<MentionIndex>);

impl Names {
    /// Whom a comment mentions, its author left out.
    pub(crate) fn mentioned(
        &mut self,
        tx: &mut dyn Tx,
        ctx: &Context<'_>,
        company: CompanyScope,
        body: &CommentBody,
    ) -> Result<Mentions, StoreError> {
        if !MentionIndex::may_mention(body) {
            return Ok(Mentions::default());
        }
        let index = match self.0.take() {
            Some(index) => index,
            None => MentionIndex::new(tx.agents().mentionable(company)?),
        };
        let author = ctx.actor().agent_id();
        let mut mentions = self.0.insert(index).mentions(body);
        mentions.agents.retain(|agent| Some(*agent) != author);
        Ok(mentions)
    }
}
