//! Values of secrets that are kept outside: in the server's environment, or in
//! a file beneath the folder that the operator allows
//! (docs/secrets.md#providers). They are read at each run's start.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use nix::fcntl::{OFlag, OpenHow, ResolveFlag, openat2};
use workforce_domain::secret::{ExternalRef, SecretProvider, SecretValue};

use crate::config::EngineConfig;

/// Why there is no value. Tells nothing of any value.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ExternalSecretError {
    #[error("its secret is kept here and has no version")]
    NotOutside,
    #[error("the server has no variable `{0}`")]
    NoVariable(String),
    #[error("this server allows no files as secrets (--secret-files)")]
    NoFolder,
    #[error("the file `{file}` cannot be read beneath the allowed folder: {source}")]
    File {
        file: String,
        #[source]
        source: io::Error,
    },
    #[error("the value of its secret is not text of 1 byte to 64 KiB")]
    Form,
}

/// The value that a provider keeps.
pub(crate) fn read(
    config: &EngineConfig,
    provider: SecretProvider,
    reference: &ExternalRef,
) -> Result<String, ExternalSecretError> {
    let text = match provider {
        SecretProvider::LocalEncrypted => return Err(ExternalSecretError::NotOutside),
        SecretProvider::Env => variable(config, reference.as_str())?,
        SecretProvider::File => {
            let folder = config
                .secret_files
                .as_deref()
                .ok_or(ExternalSecretError::NoFolder)?;
            let failed = |source| ExternalSecretError::File {
                file: reference.as_str().to_owned(),
                source,
            };
            beneath(folder, reference.as_str()).map_err(failed)?
        }
    };
    let value = SecretValue::parse(&text).or(Err(ExternalSecretError::Form))?;
    Ok(value.expose().to_owned())
}

fn variable(config: &EngineConfig, name: &str) -> Result<String, ExternalSecretError> {
    let found = config
        .server_environment
        .iter()
        .find(|(own, _)| own == name);
    let (_, value) = found.ok_or_else(|| ExternalSecretError::NoVariable(name.to_owned()))?;
    value
        .to_str()
        .map(str::to_owned)
        .ok_or(ExternalSecretError::Form)
}

/// The text of a file, without the line break that editors leave at its end, and the byte order
/// mark that some put at its beginning.
/// The kernel resolves the path, so that neither `..` nor a link leads out of
/// the folder.
fn beneath(folder: &Path, path: &str) -> io::Result<String> {
    let folder = File::open(folder)?;
    let how = OpenHow::new()
        // A pipe without a writer must not hold the run up.
        .flags(OFlag::O_RDONLY | OFlag::O_CLOEXEC | OFlag::O_NONBLOCK)
        .resolve(ResolveFlag::RESOLVE_BENEATH | ResolveFlag::RESOLVE_NO_MAGICLINKS);
    let file = File::from(openat2(&folder, path, how)?);
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a file"));
    }
    let mut text = String::new();
    // A mark, a line break and one byte more than the longest value.
    let most = SecretValue::MAX as u64 + 6;
    file.take(most).read_to_string(&mut text)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let end = text.strip_suffix('\n').unwrap_or(text);
    Ok(end.strip_suffix('\r').unwrap_or(end).to_owned())
}

#[cfg(test)]
mod tests {
    use workforce_domain::id::InstanceId;
    use workforce_guard::client::GuardProgram;

    use super::*;

    fn config(folder: Option<&Path>) -> EngineConfig {
        let instance: InstanceId = "01890a5d-ac96-774b-bcce-b302099a8057".parse().unwrap();
        let environment = [("TOKEN".into(), "from outside".into())];
        let mut config = EngineConfig::new(
            instance,
            "http://127.0.0.1:1",
            "runs",
            environment,
            GuardProgram {
                file: "guard".into(),
                arguments: Vec::new(),
            },
        );
        config.secret_files = folder.map(Path::to_owned);
        config
    }

    fn file(folder: &Path, path: &str) -> Result<String, String> {
        let reference = ExternalRef::parse(SecretProvider::File, path).unwrap();
        read(&config(Some(folder)), SecretProvider::File, &reference)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_variable_of_the_server_is_a_value() {
        let read = |name| {
            let reference = ExternalRef::parse(SecretProvider::Env, name).unwrap();
            read(&config(None), SecretProvider::Env, &reference)
        };
        assert_eq!(read("TOKEN").unwrap(), "from outside");
        assert!(matches!(
            read("OTHER"),
            Err(ExternalSecretError::NoVariable(_))
        ));
    }

    #[test]
    fn a_file_is_a_value_only_beneath_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let allowed = folder.path().join("allowed");
        std::fs::create_dir_all(allowed.join("deep")).unwrap();
        std::fs::write(allowed.join("deep/key"), "value\n").unwrap();
        std::fs::write(folder.path().join("outside"), "not yours").unwrap();
        std::fs::write(allowed.join("long"), "x".repeat(SecretValue::MAX + 2)).unwrap();
        std::fs::write(allowed.join("empty"), "\n").unwrap();
        std::fs::write(allowed.join("marked"), "\u{feff}value\r\n").unwrap();
        std::os::unix::fs::symlink("../outside", allowed.join("link")).unwrap();
        std::os::unix::fs::symlink("deep/key", allowed.join("inner")).unwrap();
        std::os::unix::fs::symlink(folder.path().join("outside"), allowed.join("far")).unwrap();

        assert_eq!(file(&allowed, "deep/key").as_deref(), Ok("value"));
        assert_eq!(file(&allowed, "inner").as_deref(), Ok("value"));
        assert_eq!(file(&allowed, "marked").as_deref(), Ok("value"));
        for path in ["link", "far", "deep", "nothing", "long", "empty"] {
            let error = file(&allowed, path).unwrap_err();
            assert!(!error.contains("not yours"), "{path}: {error}");
        }
        let reference = ExternalRef::parse(SecretProvider::File, "deep/key").unwrap();
        let nowhere = read(&config(None), SecretProvider::File, &reference);
        assert!(matches!(nowhere, Err(ExternalSecretError::NoFolder)));
    }
}
