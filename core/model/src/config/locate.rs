//! From a key to its line in the text, and from a place in the text to the key that stands there.
//!
//! Works on the parsed tree with its spans, so that comments, dotted keys and inline tables are understood.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

/// The line, counted from one, of a byte offset.
pub(super) fn line_of(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1
}

/// The line of a key such as `pool.slabs[1].buffer`, or of the nearest thing above it that the text holds.
pub(super) fn line_of_key(text: &str, path: &str) -> Option<usize> {
    let root = DeTable::parse(text).ok()?;
    let mut table = Some(root.get_ref());
    let mut found = None;
    for step in path.split('.') {
        let (name, index) = match step.split_once('[') {
            Some((name, index)) => (name, index.trim_end_matches(']').parse::<usize>().ok()),
            None => (step, None),
        };
        let Some((key, value)) = table.and_then(|t| t.iter().find(|(key, _)| key.get_ref().as_ref() == name))
        else {
            break;
        };
        found = Some(key.span().start);
        let mut value = value.get_ref();
        if let (Some(index), DeValue::Array(items)) = (index, value) {
            let Some(item) = items.get(index) else { break };
            found = Some(item.span().start);
            value = item.get_ref();
        }
        table = match value {
            DeValue::Table(inner) => Some(inner),
            _ => None,
        };
    }
    found.map(|offset| line_of(text, offset))
}

/// The key that a span of the text belongs to; empty if there is none.
pub(super) fn key_at(text: &str, span: &Range<usize>) -> String {
    let mut path = String::new();
    if let Ok(root) = DeTable::parse(text) {
        descend(root.get_ref(), span.start, &mut path);
    }
    path
}

fn descend(table: &DeTable<'_>, offset: usize, path: &mut String) {
    for (key, value) in table {
        let on_key = key.span().contains(&offset);
        let mut deeper = String::new();
        match value.get_ref() {
            DeValue::Table(inner) => descend(inner, offset, &mut deeper),
            DeValue::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    let mut inside = String::new();
                    if let DeValue::Table(inner) = item.get_ref() {
                        descend(inner, offset, &mut inside);
                    }
                    if !inside.is_empty() || item.span().contains(&offset) {
                        deeper = format!("[{index}]");
                        if !inside.is_empty() {
                            deeper = format!("{deeper}.{inside}");
                        }
                        break;
                    }
                }
            }
            _ => {}
        }
        if on_key || !deeper.is_empty() || value.span().contains(&offset) {
            path.push_str(key.get_ref().as_ref());
            if !deeper.is_empty() {
                if !deeper.starts_with('[') {
                    path.push('.');
                }
                path.push_str(&deeper);
            }
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# first\n[pool]\nsize = \"1GiB\"\nslabs = [\n  { buffer = \"4KiB\", share = 50 },\n  { buffer = \"3KiB\", share = 50 },\n]\n\nlimits.clients = 3\n";

    #[test]
    fn keys_are_found() {
        assert_eq!(line_of_key(TEXT, "pool.size"), Some(3));
        assert_eq!(line_of_key(TEXT, "pool.slabs"), Some(4));
        assert_eq!(line_of_key(TEXT, "pool.slabs[1].buffer"), Some(6));
        assert_eq!(line_of_key(TEXT, "pool.page_size"), Some(2));
        assert_eq!(line_of_key(TEXT, "log.level"), None);
    }

    #[test]
    fn offsets_are_named() {
        let at = |needle: &str| {
            let start = TEXT.find(needle).unwrap();
            key_at(TEXT, &(start..start + 1))
        };
        assert_eq!(at("\"1GiB\""), "pool.size");
        assert_eq!(at("size"), "pool.size");
        assert_eq!(at("\"3KiB\""), "pool.slabs[1].buffer");
    }
}
