//! `cargo xtask bench --url`: the figures of servers that run already, over HTTP alone.
//!
//! Everything that is asked for is made through the interface, and removed through it at the end.
//! There is no limit and no baseline beside the figures: nothing is known of the database.

mod site;
mod table;

use anyhow::{Context as _, Result, bail};

use self::site::Site;
use self::table::{Compared, table};
use crate::client::{Client, Refused, Target, asked, get};
use crate::figure::Figure;
use crate::load::{Measurement, Pace, ROUNDS, Sample};

/// What is measured, and where.
pub(crate) struct Remote<'a> {
    /// One server, or two to compare.
    pub(crate) urls: &'a [String],
    /// What lets the board in: none, one for all, or one for each server.
    pub(crate) tokens: &'a [String],
    /// So many issues are made.
    pub(crate) issues: usize,
    pub(crate) pace: Pace,
    pub(crate) figures: Vec<Figure>,
    pub(crate) connections: Vec<usize>,
}

impl Remote<'_> {
    /// Measures and prints, and cleans up in any case.
    pub(crate) fn measure(&self) -> Result<()> {
        // Nothing is made anywhere unless all answer.
        let targets = self.targets()?;
        let mut sites = Vec::new();
        let outcome = self.on(&targets, &mut sites);
        for site in &sites {
            println!("{}", site.clean_up());
        }
        outcome
    }

    fn targets(&self) -> Result<Vec<Target>> {
        if self.urls.len() > 2 {
            bail!("at most two servers are compared");
        }
        if self.tokens.len() > 1 && self.tokens.len() != self.urls.len() {
            bail!("give one --token for all servers, or one for each --url");
        }
        // An empty one stands for a server whose board needs none.
        let token = |it: &String| (!it.is_empty()).then(|| it.clone());
        let tokens = self.tokens.iter().cycle().map(token);
        let tokens = tokens.chain(std::iter::repeat(None));
        self.urls
            .iter()
            .zip(tokens)
            .map(|(url, token)| {
                let target = Target::reach(url, token)?;
                greet(&target).map_err(explained).context(url.clone())?;
                Ok(target)
            })
            .collect()
    }

    fn on(&self, targets: &[Target], sites: &mut Vec<Site>) -> Result<()> {
        for (url, target) in self.urls.iter().zip(targets) {
            let site = Site::open(url, target).map_err(explained);
            sites.push(site.context(url.clone())?);
            if let Some(site) = sites.last_mut() {
                site.fill(self.issues)
                    .map_err(explained)
                    .context(url.clone())?;
            }
        }
        let mut rows = Vec::new();
        for figure in &self.figures {
            for connections in &self.connections {
                println!("{}, {connections} clients", figure.title());
                let measured = self.in_turn(sites, *figure, *connections)?;
                rows.push(Compared {
                    figure: *figure,
                    connections: *connections,
                    measured,
                });
            }
        }
        println!("\n{}", table(self.urls, self.issues, &rows));
        for site in sites {
            for note in &site.notes {
                eprintln!("WARNING: {}: {note}", site.url);
            }
        }
        if rows
            .iter()
            .all(|row| row.measured.iter().all(Option::is_none))
        {
            bail!("not one figure could be measured");
        }
        Ok(())
    }

    /// Measures a figure at one site after the other, round by round, so that all meet the same
    /// machine.
    fn in_turn(
        &self,
        sites: &mut [Site],
        figure: Figure,
        connections: usize,
    ) -> Result<Vec<Option<Measurement>>> {
        let mut samples = vec![Some(Sample::default()); sites.len()];
        for round in 0..ROUNDS {
            for (site, sample) in sites.iter_mut().zip(&mut samples) {
                let Some(all) = sample else { continue };
                match site.measure(self.pace, round, figure, connections) {
                    Some(round) => all.add(round),
                    None => *sample = None,
                }
            }
        }
        samples
            .into_iter()
            .map(|sample| sample.map(Sample::measurement).transpose())
            .collect()
    }
}

/// Fails unless a web server answers that lets the board in. One without this route may have the
/// others.
fn greet(target: &Target) -> Result<()> {
    let mut client = Client::connect(target.address)?;
    let request = get("/api/companies?limit=1", target.board());
    let answer = client
        .send(&request)
        .context("it accepts connections and does not answer as a web server")?;
    match answer.status {
        401 | 403 => answer.require_success(),
        _ => Ok(()),
    }
    .with_context(|| asked(&request))
}

/// Says what to do about a refusal.
fn explained(error: anyhow::Error) -> anyhow::Error {
    match error.downcast_ref::<Refused>() {
        Some(Refused { status: 401, .. }) => {
            error.context("it does not let the board in; give a token of its board with --token")
        }
        Some(refused) if refused.is_missing_route() => {
            error.context("it lacks a route without which nothing can be measured")
        }
        _ => error,
    }
}

#[cfg(test)]
mod tests;
