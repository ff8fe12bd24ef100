use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::PathBuf;

/// The file in which a run is told about its project, for its agent to read.
/// It goes when the run has ended.
#[derive(Debug)]
pub(crate) struct ContextFile {
    path: PathBuf,
}

impl ContextFile {
    /// Writes the file, which nobody can change.
    pub(crate) fn write(path: PathBuf, text: &str) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(folder)?;
        }
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o400)
            .open(&path)?;
        let written = Self { path };
        file.write_all(text.as_bytes())?;
        Ok(written)
    }

    /// The file of a run whose server is gone, to be dropped.
    pub(crate) const fn left_at(path: PathBuf) -> Self {
        Self { path }
    }
}

impl Drop for ContextFile {
    fn drop(&mut self) {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                let path = self.path.display();
                tracing::warn!(%error, %path, "what a run was told about its project stays");
            }
            _ => {}
        }
    }
}
