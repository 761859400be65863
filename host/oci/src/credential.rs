//! Credentials that `docker login` stored, in a file or in a helper of the system.

use std::{
    env,
    fs::File,
    io::{BufReader, ErrorKind},
    path::PathBuf,
};

use docker_credential::{CredentialRetrievalError, DockerCredential, get_credential_from_reader};
use oci_client::secrets::RegistryAuth;

use crate::error::RegistryError;

/// Finds the credentials for a registry; anonymous if none are stored. Reads `~/.docker/config.json`, or that of DOCKER_CONFIG.
pub(crate) fn find_credential(host: &str) -> Result<RegistryAuth, RegistryError> {
    let failed = |why: String| RegistryError::Credentials { host: host.to_owned(), why };
    let Some(path) = config_file() else { return Ok(RegistryAuth::Anonymous) };
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(RegistryAuth::Anonymous),
        Err(error) => return Err(failed(format!("{}: {error}", path.display()))),
    };
    match get_credential_from_reader(BufReader::new(file), host) {
        Ok(DockerCredential::UsernamePassword(user, password)) => Ok(RegistryAuth::Basic(user, password)),
        // The client has no use for such tokens.
        Ok(DockerCredential::IdentityToken(_)) => {
            Err(failed("they are an identity token; log in with a password or an access token".to_owned()))
        }
        Err(CredentialRetrievalError::NoCredentialConfigured) => Ok(RegistryAuth::Anonymous),
        Err(error) => Err(failed(format!("{}: {error}", path.display()))),
    }
}

fn config_file() -> Option<PathBuf> {
    let home = || Some(PathBuf::from(env::var_os("HOME")?).join(".docker"));
    let folder = env::var_os("DOCKER_CONFIG").map(PathBuf::from).or_else(home);
    Some(folder?.join("config.json"))
}
