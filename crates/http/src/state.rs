use std::sync::Arc;
use std::time::Duration;

use workforce_app::authenticate::AuthPolicy;
use workforce_domain::cost::PriceTable;
use workforce_domain::port::{
    AdapterChecks, Clock, EngineSignal, ForgeWebhooks, GovernedWork, Ids, InstructionFiles,
    ObjectStore, RunLogs, Store, Tokens, Vault,
};
use workforce_domain::time::Timestamp;
use workforce_vitals::Vitals;

use crate::allowed_hosts::AllowedHosts;
use crate::body::incoming::LARGE_BODIES;
use crate::credential_uses::CredentialUses;
use crate::idempotency::InFlight;
use crate::metrics::{KeptFigures, Requests};
use crate::missing_objects::MissingObjects;
use crate::rate_limit::{Limiter, RateLimit};
use crate::sign_ins::SignIns;
use crate::slots::{SlotLimits, Slots};
use crate::store_lane::StoreLane;
use crate::streams::{StreamLimits, Streams};
use crate::transfers::{TransferLimits, Transfers};
use crate::waiting_writes::WaitingWrites;
use crate::write_lane::WriteLane;

/// Everything outside of this crate that answering a request takes.
#[derive(Clone)]
pub struct Ports {
    /// Where records are kept.
    pub store: Arc<dyn Store>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Gives out ids.
    pub ids: Arc<dyn Ids>,
    /// Makes credentials and their digests.
    pub tokens: Arc<dyn Tokens>,
    /// Seals kept answers that carry a credential.
    pub vault: Arc<dyn Vault>,
    /// Where the output of runs is kept.
    pub logs: Arc<dyn RunLogs>,
    /// The folders that external instructions are in.
    pub instructions: Arc<dyn InstructionFiles>,
    /// Where the bytes of attachments are kept.
    pub objects: Arc<dyn ObjectStore>,
    /// What the models cost by list.
    pub prices: Arc<PriceTable>,
    /// Told when the engine has something to do at once.
    pub engine: Arc<dyn EngineSignal>,
    /// Looks at whether agents could run.
    pub adapters: Arc<dyn AdapterChecks>,
    /// Does outside of the store what approvals ask for.
    pub governed: Arc<dyn GovernedWork>,
    /// Takes what forges tell by themselves.
    pub webhooks: Arc<dyn ForgeWebhooks>,
}

/// For how long a body may take to arrive in all, unless told otherwise.
const BODY_DEADLINE: Duration = Duration::from_secs(30);

/// Who else opens what this server sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyRotation {
    /// Nobody: the master key may be changed at once.
    Alone,
    /// Perhaps other servers of the same database, which would have to get the
    /// new key first: whoever asks for a change must say that there are none.
    Shared,
}

/// What every worker thread shares.
pub struct State {
    pub(crate) ports: Ports,
    pub(crate) auth: AuthPolicy,
    pub(crate) hosts: AllowedHosts,
    pub(crate) in_flight: InFlight,
    pub(crate) requests: Requests,
    pub(crate) figures: KeptFigures,
    pub(crate) metrics_are_open: bool,
    pub(crate) started_at: Timestamp,
    pub(crate) body_deadline: Duration,
    pub(crate) large_bodies: Slots,
    pub(crate) transfers: Transfers,
    pub(crate) store_lane: StoreLane,
    pub(crate) write_lane: WriteLane,
    pub(crate) waiting_writes: WaitingWrites,
    pub(crate) limiter: Option<Limiter>,
    pub(crate) sign_ins: SignIns,
    pub(crate) public_url: Option<String>,
    credential_uses: CredentialUses,
    streams: Arc<Streams>,
    pub(crate) strict_secrets: bool,
    pub(crate) key_rotation: KeyRotation,
    pub(crate) vitals: Vitals,
    pub(crate) missing_objects: MissingObjects,
}

impl State {
    /// The state of a server that starts now.
    pub fn new(ports: Ports, auth: AuthPolicy, hosts: AllowedHosts) -> Self {
        let started_at = ports.clock.now();
        Self {
            ports,
            auth,
            hosts,
            in_flight: InFlight::default(),
            requests: Requests::default(),
            figures: KeptFigures::default(),
            metrics_are_open: false,
            started_at,
            body_deadline: BODY_DEADLINE,
            large_bodies: Slots::new("large bodies", LARGE_BODIES),
            transfers: Transfers::default(),
            store_lane: StoreLane::default(),
            write_lane: WriteLane::default(),
            waiting_writes: WaitingWrites::default(),
            limiter: None,
            sign_ins: SignIns::default(),
            public_url: None,
            credential_uses: CredentialUses::default(),
            streams: Arc::new(Streams::new(StreamLimits::default())),
            strict_secrets: false,
            key_rotation: KeyRotation::Alone,
            vitals: Vitals::default(),
            missing_objects: MissingObjects::default(),
        }
    }

    /// The same state, but a request's body may take `deadline` in all to
    /// arrive, rather than 30 seconds.
    #[must_use]
    pub const fn with_body_deadline(mut self, deadline: Duration) -> Self {
        self.body_deadline = deadline;
        self
    }

    /// The same state, but so many large bodies may be received at once.
    #[must_use]
    pub fn with_large_bodies(mut self, limits: SlotLimits) -> Self {
        self.large_bodies = Slots::new("large bodies", limits);
        self
    }

    /// The same state with other limits of uploads.
    #[must_use]
    pub fn with_transfer_limits(mut self, limits: TransferLimits) -> Self {
        self.transfers = Transfers::new(limits);
        self
    }

    /// The same state, but a caller may ask only so often.
    #[must_use]
    pub fn with_rate_limit(mut self, limit: RateLimit) -> Self {
        self.limiter = Some(Limiter::new(limit));
        self
    }

    /// The same state of a server that is known under this address, which has no path.
    #[must_use]
    pub fn with_public_url(mut self, url: Option<String>) -> Self {
        self.public_url = url;
        self
    }

    /// The same state with other limits for streams.
    #[must_use]
    pub fn with_stream_limits(mut self, limits: StreamLimits) -> Self {
        self.streams = Arc::new(Streams::new(limits));
        self
    }

    /// The open streams. Whoever stops the server closes them first.
    pub const fn streams(&self) -> &Arc<Streams> {
        &self.streams
    }

    /// The same state, but values under sensitive names must be secrets
    /// (docs/secrets.md#strict-mode).
    #[must_use]
    pub const fn with_strict_secrets(mut self, strict: bool) -> Self {
        self.strict_secrets = strict;
        self
    }

    /// The same state, but `/metrics` asks for no credential when it is open
    /// (docs/operations.md#metrics).
    #[must_use]
    pub const fn with_open_metrics(mut self, are_open: bool) -> Self {
        self.metrics_are_open = are_open;
        self
    }

    /// The same state of a server that changes its master key like this.
    #[must_use]
    pub const fn with_key_rotation(mut self, rotation: KeyRotation) -> Self {
        self.key_rotation = rotation;
        self
    }

    /// The same state of a server with these vital signs.
    #[must_use]
    pub fn with_vitals(mut self, vitals: Vitals) -> Self {
        self.vitals = vitals;
        self
    }

    /// How many requests were answered since the start.
    pub fn answered(&self) -> u64 {
        self.requests.answered()
    }

    /// The uses of credentials that are not stored yet. Whoever runs the server
    /// flushes them about once a minute and at the end.
    pub const fn credential_uses(&self) -> &CredentialUses {
        &self.credential_uses
    }
}
