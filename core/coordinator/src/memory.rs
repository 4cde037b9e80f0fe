//! How much memory this process may still take: what the node has, and what its control groups leave.

use std::fs;
use std::path::{Path, PathBuf};

/// Bytes that can be taken before the node or a control group runs out.
pub fn available() -> u64 {
    let node = fs::read_to_string("/proc/meminfo")
        .ok()
        .and_then(|text| field(&text, "MemAvailable:"))
        .map(|kib| kib << 10);
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    group_directories(&groups)
        .iter()
        .flat_map(|(dir, v2)| left_in(dir, *v2))
        .chain(node)
        .min()
        .unwrap_or(u64::MAX)
}

fn field(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().next()?.parse().ok())
}

/// The directories of the memory controllers that this process is under, and whether they are of the unified kind.
fn group_directories(groups: &str) -> Vec<(PathBuf, bool)> {
    let mut found = Vec::new();
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        let unified = controllers.is_empty();
        if !unified && !controllers.split(',').any(|c| c == "memory") {
            continue;
        }
        let root = Path::new(if unified { "/sys/fs/cgroup" } else { "/sys/fs/cgroup/memory" });
        for above in Path::new(path.trim_start_matches('/')).ancestors() {
            found.push((root.join(above), unified));
        }
    }
    found
}

/// What a control group leaves; file pages that it can drop count as free.
fn left_in(dir: &Path, unified: bool) -> Option<u64> {
    let number = |name: &str| fs::read_to_string(dir.join(name)).ok()?.trim().parse::<u64>().ok();
    let (limit, used) = if unified {
        (number("memory.max")?, number("memory.current")?)
    } else {
        (number("memory.limit_in_bytes")?, number("memory.usage_in_bytes")?)
    };
    let stat = fs::read_to_string(dir.join("memory.stat")).unwrap_or_default();
    let cached = field(&stat, if unified { "inactive_file " } else { "total_inactive_file " }).unwrap_or(0);
    Some(limit.saturating_sub(used.saturating_sub(cached)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_both_kinds_are_found_with_all_above() {
        let found = group_directories("4:cpu,memory:/a/b\n3:pids:/\n0::/x\n");
        let paths: Vec<_> =
            found.iter().map(|(p, v2)| (p.to_str().unwrap().trim_end_matches('/'), *v2)).collect();
        assert_eq!(
            paths,
            [
                ("/sys/fs/cgroup/memory/a/b", false),
                ("/sys/fs/cgroup/memory/a", false),
                ("/sys/fs/cgroup/memory", false),
                ("/sys/fs/cgroup/x", true),
                ("/sys/fs/cgroup", true),
            ]
        );
    }

    #[test]
    fn something_is_available() {
        assert!(available() > 1 << 20);
        assert_eq!(field("A: 1 kB\nMemAvailable:   7 kB\n", "MemAvailable:"), Some(7));
    }
}
