//! The baseline of a write: the statements that the server runs for it, in a loop without a server.
//! No server on the same database writes faster, unless its writes share commits.

use anyhow::{Result, bail};

use crate::company::Company;
use crate::database::{Database, Preparations};
use crate::figure::{Figure, Place};
use crate::load::{Pace, Sample, measure};
use crate::seed::Issues;
use crate::write::Writer;

/// How a baseline runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setup<'a> {
    pub(crate) url: &'a str,
    /// As many threads, each with a connection of its own.
    pub(crate) connections: usize,
    /// So many transactions share one commit; 1 where each has its own.
    pub(crate) group: usize,
}

/// Operations after which every statement is prepared.
const PREPARING: usize = 2;

/// One round of the statements of `figure` without any server.
///
/// # Errors
///
/// Also when a statement was prepared more than once: that would be no baseline.
pub(crate) fn run<D: Database>(
    setup: Setup<'_>,
    figure: Figure,
    pace: Pace,
    company: &Company,
    issues: &Issues,
) -> Result<Sample> {
    let mut prepared: Vec<(Preparations, usize)> = Vec::new();
    let mut writers = Vec::new();
    for connection in 0..setup.connections {
        let mut session = Session::new(D::open(setup.url)?, setup.group);
        let preparations = session.database.count_preparations();
        let place = Place {
            connection,
            connections: setup.connections,
        };
        let mut writer = Writer::new(session.database(), company, issues, place)?;
        for _ in 0..PREPARING {
            writer.write(figure, &mut session)?;
        }
        writer.release_but(0, &mut session)?;
        session.settle()?;
        prepared.push((preparations.clone(), preparations.count()));
        writers.push((writer, session));
    }
    let workers = writers
        .iter_mut()
        .map(|(writer, session)| move || writer.write(figure, session));
    let sample = measure(pace, workers.collect())?;
    for (mut writer, mut session) in writers {
        writer.release_but(0, &mut session)?;
        session.settle()?;
    }
    for (preparations, expected) in prepared {
        if expected == 0 || preparations.count() != expected {
            let count = preparations.count();
            bail!("a baseline prepared {count} statements instead of {expected}");
        }
    }
    Ok(sample)
}

/// A connection whose transactions may share commits.
#[derive(Debug)]
pub(crate) struct Session<D> {
    database: D,
    group: usize,
    /// Transactions since the last commit.
    members: usize,
}

impl<D: Database> Session<D> {
    pub(crate) fn new(database: D, group: usize) -> Self {
        Self {
            database,
            group,
            members: 0,
        }
    }

    pub(crate) fn database(&mut self) -> &mut D {
        &mut self.database
    }

    /// So many transactions share a commit.
    pub(crate) const fn group(&self) -> usize {
        self.group
    }

    /// Runs one transaction, or one member of a shared one.
    pub(crate) fn transact(&mut self, body: impl FnOnce(&mut D) -> Result<()>) -> Result<()> {
        if self.members == 0 {
            self.database.begin()?;
        }
        self.members += 1;
        body(&mut self.database)?;
        if self.members >= self.group {
            self.settle()?;
        }
        Ok(())
    }

    fn settle(&mut self) -> Result<()> {
        if self.members > 0 {
            self.members = 0;
            self.database.commit()?;
        }
        Ok(())
    }
}
