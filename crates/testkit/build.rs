//! Tells the tests which migrations they were built with.

use std::hash::{DefaultHasher, Hasher as _};
use std::path::PathBuf;
use std::{fs, io};

const MIGRATIONS: &str = "../../migrations/postgres";

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed={MIGRATIONS}");
    let mut folders = fs::read_dir(MIGRATIONS)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<Vec<PathBuf>>>()?;
    folders.sort();
    let mut hasher = DefaultHasher::new();
    for folder in folders {
        hasher.write(folder.as_os_str().as_encoded_bytes());
        hasher.write(&fs::read(folder.join("up.sql"))?);
    }
    println!(
        "cargo::rustc-env=WORKFORCE_MIGRATIONS={:016x}",
        hasher.finish()
    );
    Ok(())
}
