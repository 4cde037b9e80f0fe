//! The example file: every key with its meaning and its default.

use super::keys::KEYS;
use super::Config;

/// A configuration file that holds every key with its default and a comment; it reads back to the defaults.
pub fn example() -> String {
    let defaults = toml::Value::try_from(Config::default()).unwrap_or(toml::Value::Boolean(false));
    let mut text = String::from(
        "# Configuration of Millpond. Every key may be left out; the values below are the defaults.\n\
         # Flags override environment variables, which override this file.\n",
    );
    let mut current = "";
    for key in KEYS {
        let (section, name) = key.split();
        if section != current {
            text.push_str(&format!("\n[{section}]\n"));
            current = section;
        } else {
            text.push('\n');
        }
        for line in key.doc.lines() {
            text.push_str(&format!("# {line}\n"));
        }
        if !key.env.is_empty() {
            text.push_str(&format!("# Environment: {}\n", key.env));
        }
        let table = if section.is_empty() { Some(&defaults) } else { defaults.get(section) };
        match table.and_then(|table| table.get(name)) {
            Some(value) => text.push_str(&format!("{name} = {value}\n")),
            None => text.push_str(&format!("#{name} = \"5s\"\n")),
        }
    }
    text
}
