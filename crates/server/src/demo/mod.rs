//! `workforce demo`: a manager and an engineer work on an issue from backlog
//! to done, in a service of its own and through its public interface; or one real
//! agent program does.

mod governed;
mod narrator;
mod real_agent;
mod story;

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, Parser};
use workforce_vitals::Vitals;

use crate::board_token;
use crate::client::Client;
use crate::config::ServeArgs;
use crate::logging;
use crate::service::{self, Service};
use crate::stop_signals::StopSignals;

use real_agent::Agent;

/// Flags of `workforce demo`.
#[derive(Args, Debug)]
pub(crate) struct DemoArgs {
    /// Keep everything in this folder, new or empty, to look around in it later; a
    /// temporary folder when unsaid.
    #[arg(long)]
    data_dir: Option<PathBuf>,

    /// Hire a real agent program, with your own login, in the place of scripts.
    #[arg(long, value_parser = Agent::parser())]
    agent: Option<Agent>,

    /// The model of that program; its own default when unsaid.
    #[arg(long, requires = "agent")]
    model: Option<String>,

    /// Tell of a ticket from its plan to its pull request, in a repository that is made
    /// for it.
    #[arg(long, conflicts_with = "agent")]
    governed: bool,

    /// The address of the repository of that ticket, whose forge is asked for a pull
    /// request: its token is in a variable such as WORKFORCE_GITHUB_TOKEN.
    #[arg(long, requires = "governed", value_name = "URL")]
    repository: Option<String>,

    /// End as soon as the story is told, also in a terminal.
    #[arg(long)]
    exit: bool,
}

#[derive(Parser)]
struct Defaults {
    #[command(flatten)]
    serve: ServeArgs,
}

/// Tells the story.
pub(crate) fn run(args: &DemoArgs) -> anyhow::Result<()> {
    let vitals = Vitals::default();
    logging::begin(crate::config::LogFormat::Text, "error", &vitals)?;
    let temporary = tempfile::Builder::new()
        .prefix("workforce-demo-")
        .tempdir()?;
    let folder = match &args.data_dir {
        Some(folder) => std::path::absolute(folder)?,
        None => temporary.path().to_owned(),
    };
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("failed to make the folder {}", folder.display()))?;
    let mut content = std::fs::read_dir(&folder)?;
    anyhow::ensure!(
        content.next().is_none(),
        "the folder {} is not empty: name a new one",
        folder.display()
    );
    let runtime = service::runtime()?;
    let linger = !args.exit && std::io::stdout().is_terminal();
    let outcome = runtime.block_on(async {
        let mut signals = StopSignals::listen()?;
        let settings = settings(&folder, args.agent);
        let mut service = Service::start(&settings, vitals).await?;
        let base = format!("http://{}", service.address);
        let token = match board_token::given()? {
            Some(given) => Some(given),
            None => board_token::of_folder(&settings.data.data_dir)?,
        };
        let board = Client::new(&base, token.map(|token| token.reveal().to_owned()));
        let outcome = tokio::select! {
            outcome = play(board, base, &folder, args, linger) => outcome,
            _ = signals.next() => Ok(()),
        };
        service.stop().await;
        outcome
    });
    runtime.shutdown_timeout(std::time::Duration::from_secs(1));
    outcome
}

/// A service on a free port with everything else as it comes.
fn settings(folder: &Path, agent: Option<Agent>) -> ServeArgs {
    let mut args = Defaults::parse_from(["workforce"]).serve;
    args.listen = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
    args.data.data_dir = folder.join("data");
    args.data.database_url = None;
    args.drain_sec = 2;
    args.agent_env
        .extend(agent.into_iter().flat_map(Agent::variables));
    args
}

async fn play(
    board: Client,
    base: String,
    folder: &Path,
    args: &DemoArgs,
    linger: bool,
) -> anyhow::Result<()> {
    let (place, agent, model) = (folder.to_owned(), args.agent, args.model.clone());
    let (governed, repository) = (args.governed, args.repository.clone());
    tokio::task::spawn_blocking(move || match agent {
        Some(agent) => real_agent::play(&board, &place, agent, model.as_deref()),
        None if governed => governed::play(&board, &place, repository.as_deref()),
        None => story::play(&board, &place),
    })
    .await??;
    let kept = args.data_dir.is_some();
    let mut out = std::io::stdout();
    if kept {
        let data = folder.join("data");
        writeln!(
            out,
            "\nIt is all kept: workforce serve --data-dir {}",
            data.display()
        )?;
    }
    if linger {
        writeln!(out, "\nLook around, for example:")?;
        writeln!(out, "  {base}/docs/")?;
        writeln!(out, "  curl -s {base}/api/companies")?;
        writeln!(out, "\nCtrl-C ends the service.")?;
        std::future::pending::<()>().await;
    } else if !kept {
        writeln!(
            out,
            "\nTo look around yourself: workforce demo --data-dir ./demo"
        )?;
    }
    Ok(())
}
