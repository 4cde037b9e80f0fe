//! From options, environment and file to the configuration that a coordinator is started with.

use std::path::{Path, PathBuf};

use millpond_model::config::{self, Config, Override};

use crate::cli::{InstanceArguments, SettingsArguments};
use crate::failure::{Failure, Outcome};

/// The configuration, its stores resolved to absolute physical directories.
pub fn load(arguments: &SettingsArguments) -> Outcome<Config> {
    let mut config = load_unresolved(arguments)?;
    if config.store.paths.is_empty() {
        config.store.paths.push(".".into());
    }
    for path in &mut config.store.paths {
        *path = physical(Path::new(path))?;
    }
    config.store.paths.sort();
    config.store.paths.dedup();
    Ok(config)
}

/// The configuration as written, its stores neither resolved nor looked at.
pub fn load_unresolved(arguments: &SettingsArguments) -> Outcome<Config> {
    let file = match config_path(arguments) {
        Some(path) => Some((read(&path)?, path.display().to_string())),
        None => None,
    };
    let file = file.as_ref().map(|(text, origin)| (text.as_str(), origin.as_str()));
    config::layered(file, environment(), &overrides(arguments)?).map_err(|error| Failure::new(error, ""))
}

/// The name of the coordinator for commands that start none.
pub fn instance_name(arguments: &InstanceArguments) -> String {
    arguments
        .instance
        .clone()
        .or_else(|| std::env::var("MILLPOND_INSTANCE").ok().filter(|name| !name.is_empty()))
        .unwrap_or_else(|| "default".into())
}

/// The text of a configuration file.
pub fn read(path: &Path) -> Outcome<String> {
    std::fs::read_to_string(path).map_err(|error| {
        Failure::new(
            format_args!("configuration {}: {error}", path.display()),
            "name a readable file of UTF-8 text, or write one with `millpond config --example`",
        )
    })
}

fn overrides(arguments: &SettingsArguments) -> Outcome<Vec<Override>> {
    let mut overrides = Vec::new();
    if !arguments.stores.is_empty() {
        let stores: Vec<&str> =
            arguments.stores.iter().map(|path| store_text(path)).collect::<Outcome<_>>()?;
        overrides.push(Override::new("store.paths", "--store", stores.join(":")));
    }
    if let Some(pool) = &arguments.pool {
        overrides.push(Override::new("pool.size", "--pool", pool));
    }
    if let Some(flush) = arguments.flush {
        overrides.push(Override::new("flush.mode", "--flush", flush.text()));
    }
    if let Some(name) = &arguments.instance.instance {
        overrides.push(Override::new("instance", "--instance", name));
    }
    Ok(overrides)
}

fn environment() -> impl Iterator<Item = (String, String)> {
    // A variable that is no UTF-8 is none of ours.
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

/// `--config`, `MILLPOND_CONFIG`, or the user's own file where there is one.
fn config_path(arguments: &SettingsArguments) -> Option<PathBuf> {
    let named = arguments.config.clone().or_else(|| directory_variable("MILLPOND_CONFIG"));
    named.or_else(|| {
        let home = directory_variable("XDG_CONFIG_HOME")
            .or_else(|| directory_variable("HOME").map(|home| home.join(".config")))?;
        Some(home.join("millpond/config.toml")).filter(|path| path.exists())
    })
}

fn directory_variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// The path as one store of a list that is separated by `:`.
fn store_text(path: &Path) -> Outcome<&str> {
    match path.to_str() {
        Some(text) if !text.is_empty() && !text.contains([':', '\n']) => Ok(text),
        _ => Err(Failure::new(
            format_args!("store {path:?}: its path is empty, no UTF-8, or holds `:` or a line break"),
            "rename the directory, or name it through a symbolic link's target without them",
        )),
    }
}

/// Follows symbolic links, because the kernel reports the files of programs by their physical paths.
fn physical(path: &Path) -> Outcome<String> {
    let refuse = |why: &dyn std::fmt::Display| {
        Failure::new(
            format_args!("store {}: {why}", path.display()),
            "name an existing directory with --store",
        )
    };
    let real = path.canonicalize().map_err(|error| refuse(&error))?;
    if !real.is_dir() {
        return Err(refuse(&"not a directory"));
    }
    store_text(&real).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stores_become_physical() {
        let root = tempfile::tempdir().unwrap();
        let real = root.path().join("real");
        std::fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, root.path().join("link")).unwrap();
        let arguments = SettingsArguments {
            stores: vec![root.path().join("link"), real.clone()],
            pool: Some("64M".into()),
            ..Default::default()
        };
        let config = load(&arguments).unwrap();
        assert_eq!(config.store.paths, [real.canonicalize().unwrap().to_str().unwrap()]);
        assert_eq!(config.pool.size, config::ByteSize::mib(64));
    }

    #[test]
    fn bad_stores_are_refused() {
        let message = |path: &str| {
            let arguments = SettingsArguments { stores: vec![path.into()], ..Default::default() };
            load(&arguments).unwrap_err().to_string()
        };
        assert!(message("/nowhere/at/all").starts_with("store /nowhere/at/all: "));
        assert!(message("/etc/passwd").contains("not a directory"));
        assert!(message("/a:b").contains("holds `:`"));
    }
}
