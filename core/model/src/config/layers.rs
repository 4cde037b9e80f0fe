//! Putting the sources of a configuration together: flags over environment over file over defaults.

use std::collections::HashMap;

use super::error::{ConfigError, Fault, Place};
use super::keys::{Key, KEYS};
use super::locate::{key_at, line_of, line_of_key};
use super::validate::validate;
use super::Config;

/// A value from a command-line flag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    /// The key it sets, such as `pool.size`.
    pub key: &'static str,
    /// The flag as the user typed it, such as `--pool`.
    pub flag: &'static str,
    /// The value.
    pub value: String,
}

impl Override {
    /// `flag` sets `key` to `value`.
    pub fn new(key: &'static str, flag: &'static str, value: impl Into<String>) -> Self {
        Self { key, flag, value: value.into() }
    }
}

/// Reads a configuration file's text; `origin` is how errors name it.
pub fn parse(text: &str, origin: &str) -> Result<Config, ConfigError> {
    layered(Some((text, origin)), std::iter::empty(), &[])
}

/// Puts a file (text and name), environment pairs and flags over the defaults, and checks the result.
///
/// Pairs whose variable is none of ours are passed over; an empty value counts as not set.
pub fn layered(
    file: Option<(&str, &str)>,
    environment: impl IntoIterator<Item = (String, String)>,
    flags: &[Override],
) -> Result<Config, ConfigError> {
    let mut config = match file {
        Some((text, origin)) => read(text, origin)?,
        None => Config::default(),
    };
    let mut places: HashMap<&'static str, Place> = HashMap::new();
    for (name, value) in environment {
        if let Some(key) = KEYS.iter().find(|key| key.env == name && !value.is_empty()) {
            apply(&mut config, &mut places, key, &value, Place::Env(name))?;
        }
    }
    for flag in flags {
        let place = Place::Flag(flag.flag.into());
        let Some(key) = Key::find(flag.key) else {
            let remedy = "name a key of `millpond config --example`";
            return Err(Fault::new(flag.key, "no such key", remedy).at(place));
        };
        apply(&mut config, &mut places, key, &flag.value, place)?;
    }
    validate(&config).map_err(|fault| {
        let place = place_of(&fault.key, file, &places);
        fault.at(place)
    })?;
    Ok(config)
}

fn apply(
    config: &mut Config,
    places: &mut HashMap<&'static str, Place>,
    key: &'static Key,
    value: &str,
    place: Place,
) -> Result<(), ConfigError> {
    (key.set)(config, value)
        .map_err(|problem| Fault::new(key.path, problem, key.remedy).at(place.clone()))?;
    places.insert(key.path, place);
    Ok(())
}

fn place_of(path: &str, file: Option<(&str, &str)>, places: &HashMap<&'static str, Place>) -> Place {
    if let Some(place) = Key::find(path).and_then(|key| places.get(key.path)) {
        return place.clone();
    }
    file.and_then(|(text, origin)| {
        line_of_key(text, path).map(|line| Place::Line { origin: origin.into(), line })
    })
    .unwrap_or(Place::Default)
}

fn read(text: &str, origin: &str) -> Result<Config, ConfigError> {
    toml::from_str(text).map_err(|error: toml::de::Error| {
        let span = error.span().unwrap_or(0..0);
        let place = Place::Line { origin: origin.into(), line: line_of(text, span.start) };
        let key = key_at(text, &span);
        let remedy = match Key::find(&key) {
            Some(known) => known.remedy,
            None if key.is_empty() => "write TOML as `millpond config --example` shows it",
            None => "take a key of `millpond config --example`",
        };
        let problem = error.message().replace('\n', " ");
        Fault::new(key, problem, remedy).at(place)
    })
}
