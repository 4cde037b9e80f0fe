//! Open flags that read and print by name.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

const NAMES: &[(&str, i32)] = &[
    ("WRONLY", libc::O_WRONLY),
    ("RDWR", libc::O_RDWR),
    ("CREAT", libc::O_CREAT),
    ("EXCL", libc::O_EXCL),
    ("TRUNC", libc::O_TRUNC),
    ("APPEND", libc::O_APPEND),
    ("NONBLOCK", libc::O_NONBLOCK),
    // SYNC holds the bit of DSYNC and TMPFILE that of DIRECTORY: the wider names come first.
    ("SYNC", libc::O_SYNC),
    ("DSYNC", libc::O_DSYNC),
    ("TMPFILE", libc::O_TMPFILE),
    ("DIRECTORY", libc::O_DIRECTORY),
    ("CLOEXEC", libc::O_CLOEXEC),
    ("NOFOLLOW", libc::O_NOFOLLOW),
    ("NOATIME", libc::O_NOATIME),
    ("DIRECT", libc::O_DIRECT),
    ("PATH", libc::O_PATH),
];

/// Flags of `open`, shown as `RDWR|CREAT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenFlags(pub i32);

impl OpenFlags {
    /// Names of the flags; what has no name is shown as a number.
    pub fn names(self) -> String {
        let mut rest = self.0;
        let mut names = Vec::new();
        for (name, bits) in NAMES {
            if rest & bits == *bits {
                names.push((*name).to_string());
                rest &= !bits;
            }
        }
        if self.0 & libc::O_ACCMODE == libc::O_RDONLY {
            names.insert(0, "RDONLY".into());
        }
        if rest != 0 {
            names.push(format!("{rest:#o}"));
        }
        names.join("|")
    }

    fn parse(text: &str) -> Result<OpenFlags, String> {
        let mut flags = 0;
        for name in text.split('|') {
            flags |= match NAMES.iter().find(|(known, _)| *known == name) {
                Some((_, bits)) => *bits,
                None if name == "RDONLY" => 0,
                None => i32::from_str_radix(name.trim_start_matches("0o"), 8).map_err(|e| e.to_string())?,
            };
        }
        Ok(OpenFlags(flags))
    }
}

impl Serialize for OpenFlags {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.names())
    }
}

impl<'de> Deserialize<'de> for OpenFlags {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        OpenFlags::parse(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::OpenFlags;

    #[test]
    fn names_round_trip() {
        for flags in [0, libc::O_RDWR | libc::O_SYNC, libc::O_TMPFILE | libc::O_WRONLY, 3, 0o100_000] {
            assert_eq!(OpenFlags::parse(&OpenFlags(flags).names()), Ok(OpenFlags(flags)));
        }
    }
}
