//! The service: its parts wired together, started, and stopped in order.

mod credential_uses;
pub(crate) mod opening;
mod setup;

use self::opening::{Opened, open};
use self::setup::{auth_policy, drop_deaf_clients, reachable, tell_containment, watched_folders};
use std::fs::File;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use actix_web::web::Data;
use anyhow::Context;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use workforce_domain::id::InstanceId;
use workforce_domain::port::{Clock, Ids, InstructionFiles, Store, Tokens};
use workforce_engine::{Engine, EngineConfig, EngineHandle, FileRunLogs};
use workforce_guard::client::GuardProgram;
use workforce_http::door::Pages;
use workforce_http::{KeyRotation, Options, State, TransferLimits};
use workforce_infra::clock::SystemClock;
use workforce_infra::data_folder::RUNS;
use workforce_infra::ids::UuidV7Ids;
use workforce_infra::instance_file::InstanceFile;
use workforce_infra::instruction_files::DiskInstructionFiles;
use workforce_infra::prices;
use workforce_infra::start_token::FILE_NAME;
use workforce_infra::store::OpenOptions;
use workforce_infra::tokens::RandomTokens;
use workforce_vitals::Vitals;

use crate::board_token;
use crate::config::{self, ServeArgs};
use crate::logging;
use crate::master_key;
use crate::memory;
use crate::snapshots;
use crate::stop_signals::StopSignals;
use crate::sweeper;

/// The subcommand that runs the guard of one run.
pub(crate) const GUARD: &str = "guard";

/// Threads that talk to clients. They only parse and answer; the store is
/// asked on other threads.
const WORKERS: usize = 2;

/// How much longer than the drain time the engine may take to stop.
const SHUTDOWN_BOUND: Duration = Duration::from_secs(45);

/// How long requests get to be answered once the service stops.
const REQUEST_DRAIN: Duration = Duration::from_secs(5);

/// How long what still runs on a thread that may block gets to end after that.
const BLOCKED_BOUND: Duration = Duration::from_secs(5);

/// Serves until SIGTERM, SIGINT or SIGHUP.
pub(crate) fn serve(args: &ServeArgs) -> anyhow::Result<()> {
    // No process of the same user may look into this one, which knows every secret.
    nix::sys::prctl::set_dumpable(false)?;
    memory::bound();
    let vitals = Vitals::new(args.min_free_bytes);
    logging::begin(args.log_format, "info,actix_server=warn", &vitals)?;
    let runtime = runtime()?;
    let outcome = runtime.block_on(async {
        let mut signals = StopSignals::listen()?;
        let mut service = Service::start(args, vitals).await?;
        banner(&service, args);
        tokio::select! {
            signal = signals.next() => tracing::info!("{signal}: stopping"),
            outcome = &mut service.http => outcome.context("the listener failed")??,
        }
        // A second signal does not wait for the runs.
        tokio::select! {
            () = service.stop() => {}
            _ = signals.next() => tracing::warn!("second signal: stopping at once"),
        }
        // Whoever closes the store last waits until the disk keeps what was written.
        let closed = tokio::task::spawn_blocking(move || drop(service));
        if tokio::time::timeout(BLOCKED_BOUND, closed).await.is_err() {
            tracing::error!("the disk does not answer: the store is not closed");
        }
        Ok(())
    });
    // A file on a disk that does not answer must not keep the service from ending.
    runtime.shutdown_timeout(BLOCKED_BOUND);
    outcome
}

/// The runtime of the service. Most rules and queries run on the web server's
/// blocking threads, so that few threads do here.
pub(crate) fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .enable_all()
        .build()
        .context("failed to start the runtime")
}

fn banner(service: &Service, args: &ServeArgs) {
    let address = service.address;
    tracing::info!(
        data_dir = %args.data.data_dir.display(),
        "workforce {} serves http://{address}/api, documentation at http://{address}/docs/",
        env!("CARGO_PKG_VERSION"),
    );
    match args.auth {
        config::AuthMode::LocalTrusted => tracing::warn!(
            "local_trusted mode: every process of this machine that sends no credential is the \
             board; --auth token asks for one"
        ),
        config::AuthMode::Token if board_token::is_given() => {
            tracing::info!("the board's token is that of {}", board_token::VARIABLE);
        }
        config::AuthMode::Token => {
            let file = args.data.data_dir.join(FILE_NAME);
            tracing::info!("the board's token is in {}", file.display());
        }
    }
}

/// A started service.
pub(crate) struct Service {
    /// Where it listens.
    pub(crate) address: SocketAddr,
    http: tokio::task::JoinHandle<std::io::Result<()>>,
    http_handle: actix_web::dev::ServerHandle,
    engine: Arc<EngineHandle>,
    state: Data<State>,
    store: Arc<dyn Store>,
    /// What goes on beside the requests and the runs.
    tasks: JoinSet<()>,
    drain: Duration,
    /// Kept for as long as the service has runs and sweeps.
    _holds: (Arc<InstanceFile>, Option<File>),
}

impl Service {
    /// Opens the store, starts the engine and listens.
    pub(crate) async fn start(args: &ServeArgs, vitals: Vitals) -> anyhow::Result<Self> {
        let listen = args.checked_listen()?;
        // Before anything is made.
        args.run_as()?;
        let database = args.data.database()?;
        let exclusive = database.sqlite_path().is_some();
        let file = database.sqlite_path().map(Path::to_owned);
        let options = OpenOptions {
            vitals: vitals.clone(),
            ..OpenOptions::default()
        };
        let pool_size = options.pool_size;
        let given = args.clone();
        let opened = tokio::task::spawn_blocking(move || open(&given, &database, options));
        let Opened {
            data_dir,
            store,
            objects,
            location,
            attachments_lock,
            vault,
        } = opened.await??;
        let prices = Arc::new(match &args.prices {
            Some(file) => prices::read(file)?,
            None => prices::shipped()?,
        });
        let roots = args.instruction_roots(std::env::var_os("HOME").as_deref())?;
        let instructions: Arc<dyn InstructionFiles> =
            Arc::new(DiskInstructionFiles::new(&data_dir, roots));
        let listener =
            TcpListener::bind(listen).with_context(|| format!("failed to listen on {listen}"))?;
        drop_deaf_clients(&listener);
        let address = listener.local_addr()?;

        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let ids: Arc<dyn Ids> = Arc::new(UuidV7Ids::new(SystemClock));
        let tokens: Arc<dyn Tokens> = Arc::new(RandomTokens);
        let auth = auth_policy(args, &data_dir, &*tokens)?;
        let runs_dir = data_dir.join(RUNS);
        let instance = InstanceId::from(ids.next());
        let api_url = format!("http://{}", reachable(address));
        let hold = hold_folder(&data_dir, instance).await?;
        let mut config =
            EngineConfig::new(instance, api_url, &runs_dir, std::env::vars_os(), guard());
        if let Some(cap) = args.max_concurrent_runs {
            config.instance_cap = cap.into();
        }
        config.drain = args.drain();
        config.keep_runs = args.keep_runs;
        config.agent_home = args.agent_home();
        config.containment = args.contain(&config.guard, &data_dir, &location).await?;
        tell_containment(&config.containment);
        config.allowed_env.clone_from(&args.agent_env);
        config.command_folder = std::env::current_exe()?.parent().map(Path::to_owned);
        config.http_allow.clone_from(&args.callees.http_allow);
        config.public_url.clone_from(&args.callees.public_url);
        config.exclusive_store = exclusive;
        config.predecessors = hold.predecessors().to_vec();
        config.secret_files.clone_from(&args.secret_files);
        config.tickets = args.tickets.settings(&runs_dir)?;
        config.vitals = vitals.clone();
        config.watched_folders = watched_folders(&data_dir, &location);
        let engine = Engine::start(
            config,
            workforce_engine::Ports {
                store: Arc::clone(&store),
                clock: Arc::clone(&clock),
                ids: Arc::clone(&ids),
                tokens: Arc::clone(&tokens),
                vault: Arc::clone(&vault),
                prices: Arc::clone(&prices),
                instructions: Arc::clone(&instructions),
            },
        );
        let engine = Arc::new(engine);

        let mut tasks = JoinSet::new();
        tasks.spawn(forget_predecessors(Arc::clone(&hold), Arc::clone(&engine)));
        if let Some(every) = args.sweep_every() {
            let (store, objects) = (Arc::clone(&store), Arc::clone(&objects));
            let clock = Arc::clone(&clock);
            keep(&mut tasks, &vitals, "attachments-sweep", move || {
                let (store, objects) = (Arc::clone(&store), Arc::clone(&objects));
                sweeper::run(every, store, objects, Arc::clone(&clock))
            });
        }
        if let (Some(file), Some(every)) = (file, args.snapshots_every()) {
            let (data_dir, clock) = (data_dir.clone(), Arc::clone(&clock));
            keep(&mut tasks, &vitals, "snapshots", move || {
                snapshots::run(every, data_dir.clone(), file.clone(), Arc::clone(&clock))
            });
        }
        {
            let (store, vault) = (Arc::clone(&store), Arc::clone(&vault));
            keep(&mut tasks, &vitals, "master-key", move || {
                master_key::keep_resealed(Arc::clone(&store), Arc::clone(&vault), exclusive)
            });
        }
        let rotation = if exclusive {
            KeyRotation::Alone
        } else {
            KeyRotation::Shared
        };
        let state = State::new(
            workforce_http::Ports {
                store: Arc::clone(&store),
                clock,
                ids,
                tokens,
                vault,
                instructions,
                logs: Arc::new(FileRunLogs::new(runs_dir)),
                objects,
                engine: engine.clone(),
                prices,
                adapters: engine.clone(),
                governed: engine.clone(),
                webhooks: engine.clone(),
            },
            auth,
            args.hosts(),
        )
        .with_transfer_limits(TransferLimits {
            attachment: args.attachments.attachment_max_bytes,
            ..TransferLimits::default()
        })
        .with_strict_secrets(args.strict_secrets())
        .with_open_metrics(args.metrics_open)
        .with_public_url(args.callees.public_url.clone())
        .with_key_rotation(rotation)
        .with_vitals(vitals.clone());
        let state = Data::new(match args.limit() {
            Some(limit) => state.with_rate_limit(limit),
            None => state,
        });
        let server = workforce_http::serve(
            state.clone(),
            listener,
            Options {
                workers: WORKERS,
                store_connections: pool_size as usize,
                drain: REQUEST_DRAIN,
            },
            match args.no_board {
                true => Pages::NONE,
                false => workforce_board::pages(),
            },
        )?;
        let http_handle = server.handle();
        {
            let (state, store) = (state.clone(), Arc::clone(&store));
            keep(&mut tasks, &vitals, "credential-uses", move || {
                credential_uses::keep_noting(state.clone(), Arc::clone(&store))
            });
        }
        {
            let (state, store) = (state.clone(), Arc::clone(&store));
            keep(&mut tasks, &vitals, "memory", move || {
                memory::give_back(state.clone(), Arc::clone(&store))
            });
        }
        let http = tokio::spawn(server);
        Ok(Self {
            address,
            http,
            http_handle,
            engine,
            state,
            store,
            tasks,
            drain: args.drain(),
            _holds: (hold, attachments_lock),
        })
    }

    /// Stops in order: no new runs, live runs drained and ended, then the
    /// listener, so that runs can report until they are gone.
    pub(crate) async fn stop(&mut self) {
        // Nobody waits for streams, and whoever reads them finds another server.
        self.state.streams().close();
        // A store that does not answer must not keep the service from ending.
        let bound = self.drain + SHUTDOWN_BOUND;
        if tokio::time::timeout(bound, self.engine.shutdown())
            .await
            .is_err()
        {
            tracing::error!("the engine did not stop in time; its runs are left to the next start");
        }
        self.http_handle.stop(true).await;
        self.tasks.shutdown().await;
        credential_uses::note(&self.state, &self.store).await;
    }
}

/// Keeps a task running until the set is dropped or shut down.
fn keep<F>(
    tasks: &mut JoinSet<()>,
    vitals: &Vitals,
    name: &'static str,
    begin: impl FnMut() -> F + Send + 'static,
) where
    F: Future<Output = ()> + Send + 'static,
{
    let supervisor = vitals.supervisor.clone();
    tasks.spawn(supervisor.keep(name, CancellationToken::new(), begin));
}

/// This binary runs the guards too. It is named by what is executed now, which a
/// deploy may have replaced under its path.
fn guard() -> GuardProgram {
    GuardProgram {
        file: "/proc/self/exe".into(),
        arguments: vec![GUARD.into()],
    }
}

async fn hold_folder(data_dir: &Path, instance: InstanceId) -> anyhow::Result<Arc<InstanceFile>> {
    let data_dir = data_dir.to_owned();
    let taken = tokio::task::spawn_blocking(move || InstanceFile::take(&data_dir, instance));
    Ok(Arc::new(taken.await??))
}

async fn forget_predecessors(hold: Arc<InstanceFile>, engine: Arc<EngineHandle>) {
    engine.recovered().await;
    match tokio::task::spawn_blocking(move || hold.forget_predecessors()).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(%error, "the next start looks for what is gone already"),
        Err(error) => tracing::warn!(%error, "the next start looks for what is gone already"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_listens_everywhere_is_reached_over_loopback() {
        for (listening, reached) in [
            ("0.0.0.0:3100", "127.0.0.1:3100"),
            ("[::]:3100", "[::1]:3100"),
            ("10.1.2.3:80", "10.1.2.3:80"),
        ] {
            let address = reachable(listening.parse().unwrap());
            assert_eq!(address, reached.parse().unwrap());
        }
    }
}
