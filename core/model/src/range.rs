//! Byte ranges inside one page, and a bounded set of them.
//!
//! A page remembers which of its bytes are valid and which are dirty, to the byte: bytes that no
//! program wrote are never written to a file. The set is bounded because it lives in a fixed slot of the segment; an insertion that
//! would need one range too many is refused, and the caller then flushes the page first.

/// Most disjoint ranges that a page can carry of each kind.
pub const MAX_RANGES: usize = 28;

/// A half-open range of bytes inside a page: `start..end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByteRange {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl ByteRange {
    /// The range `start..end`; `start` must not exceed `end`.
    pub fn new(start: u32, end: u32) -> Self {
        debug_assert!(start <= end);
        Self { start, end }
    }

    /// Length in bytes.
    pub fn len(self) -> u32 {
        self.end - self.start
    }

    /// Whether no byte is in the range.
    pub fn is_empty(self) -> bool {
        self.start >= self.end
    }

    /// The bytes that both ranges have, possibly none.
    pub fn intersect(self, other: Self) -> Self {
        let start = self.start.max(other.start);
        Self { start, end: self.end.min(other.end).max(start) }
    }

    /// Whether `other` lies wholly inside this range.
    pub fn covers(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// The range as one 64-bit word, as the segment stores it.
    pub fn to_word(self) -> u64 {
        (u64::from(self.start) << 32) | u64::from(self.end)
    }

    /// The inverse of [`ByteRange::to_word`]; a word that is no range reads as an empty one.
    pub fn from_word(word: u64) -> Self {
        let (start, end) = ((word >> 32) as u32, word as u32);
        Self { start, end: end.max(start) }
    }
}

/// The set has no room for one more disjoint range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

/// Sorted, disjoint, non-adjacent ranges, at most [`MAX_RANGES`] of them.
#[derive(Clone, Copy, Debug, Default)]
pub struct RangeSet {
    len: usize,
    ranges: [ByteRange; MAX_RANGES],
}

impl PartialEq for RangeSet {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl Eq for RangeSet {}

impl RangeSet {
    /// The empty set.
    pub const EMPTY: Self = Self { len: 0, ranges: [ByteRange { start: 0, end: 0 }; MAX_RANGES] };

    /// A set rebuilt from stored ranges, which must be sorted and disjoint; what is not is left out.
    pub fn from_sorted(ranges: impl IntoIterator<Item = ByteRange>) -> Self {
        let mut set = Self::EMPTY;
        for range in ranges.into_iter().take(MAX_RANGES) {
            let floor = set.as_slice().last().map_or(0, |last| last.end);
            if !range.is_empty() && range.start >= floor {
                set.ranges[set.len] = range;
                set.len += 1;
            }
        }
        set
    }

    /// The ranges in order.
    pub fn as_slice(&self) -> &[ByteRange] {
        &self.ranges[..self.len]
    }

    /// Whether no byte is in the set.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of bytes in the set.
    pub fn bytes(&self) -> u64 {
        self.as_slice().iter().map(|r| u64::from(r.len())).sum()
    }

    /// One past the last byte of the set, 0 when empty.
    pub fn end(&self) -> u32 {
        self.as_slice().last().map_or(0, |r| r.end)
    }

    /// Whether every byte of `range` is in the set.
    pub fn covers(&self, range: ByteRange) -> bool {
        range.is_empty() || self.as_slice().iter().any(|r| r.covers(range))
    }

    /// Adds the bytes of `range`, merging what touches.
    ///
    /// # Errors
    /// [`Full`] when the result would need more than [`MAX_RANGES`] ranges; the set is then as before.
    pub fn insert(&mut self, range: ByteRange) -> Result<(), Full> {
        if range.is_empty() {
            return Ok(());
        }
        let first = self.as_slice().partition_point(|r| r.end < range.start);
        let last = self.as_slice().partition_point(|r| r.start <= range.end);
        if first == last {
            if self.len == MAX_RANGES {
                return Err(Full);
            }
            self.ranges.copy_within(first..self.len, first + 1);
            self.ranges[first] = range;
            self.len += 1;
            return Ok(());
        }
        self.ranges[first] = ByteRange {
            start: range.start.min(self.ranges[first].start),
            end: range.end.max(self.ranges[last - 1].end),
        };
        self.ranges.copy_within(last..self.len, first + 1);
        self.len -= last - first - 1;
        Ok(())
    }

    /// Takes the bytes of `range` out.
    ///
    /// # Errors
    /// [`Full`] when a split would need more than [`MAX_RANGES`] ranges; the set is then as before.
    pub fn remove(&mut self, range: ByteRange) -> Result<(), Full> {
        let mut out = Self::EMPTY;
        for &r in self.as_slice() {
            let head = ByteRange { start: r.start, end: r.end.min(range.start).max(r.start) };
            let tail = ByteRange { start: r.start.max(range.end).min(r.end), end: r.end };
            let parts = if range.is_empty() || range.intersect(r).is_empty() {
                [r, ByteRange::default()]
            } else {
                [head, tail]
            };
            for part in parts.into_iter().filter(|p| !p.is_empty()) {
                if out.len == MAX_RANGES {
                    return Err(Full);
                }
                out.ranges[out.len] = part;
                out.len += 1;
            }
        }
        *self = out;
        Ok(())
    }

    /// Keeps only the bytes below `end`.
    pub fn truncate(&mut self, end: u32) {
        let mut out = Self::EMPTY;
        for r in self.as_slice() {
            let cut = ByteRange { start: r.start, end: r.end.min(end).max(r.start) };
            if !cut.is_empty() {
                out.ranges[out.len] = cut;
                out.len += 1;
            }
        }
        *self = out;
    }

    /// The parts of `within` that are not in the set, in order.
    pub fn gaps(&self, within: ByteRange) -> impl Iterator<Item = ByteRange> + '_ {
        let mut at = within.start;
        let mut next = 0;
        std::iter::from_fn(move || {
            while at < within.end {
                let Some(&r) = self.as_slice().get(next) else {
                    let gap = ByteRange { start: at, end: within.end };
                    at = within.end;
                    return Some(gap);
                };
                next += 1;
                if r.end <= at {
                    continue;
                }
                let gap = ByteRange { start: at, end: r.start.min(within.end).max(at) };
                at = r.end;
                if !gap.is_empty() {
                    return Some(gap);
                }
            }
            None
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SPACE: u32 = 96;

    fn bits(set: &RangeSet) -> Vec<bool> {
        (0..SPACE).map(|b| set.as_slice().iter().any(|r| r.start <= b && b < r.end)).collect()
    }

    proptest! {
        #[test]
        fn a_set_agrees_with_a_bitmap(ops in prop::collection::vec((0u8..3, 0u32..SPACE, 0u32..24), 1..60)) {
            let mut set = RangeSet::EMPTY;
            for (kind, start, len) in ops {
                let range = ByteRange::new(start, (start + len).min(SPACE));
                let mut model = bits(&set);
                let before = set;
                let outcome = match kind {
                    0 => { model[range.start as usize..range.end as usize].fill(true); set.insert(range) }
                    1 => { model[range.start as usize..range.end as usize].fill(false); set.remove(range) }
                    _ => { model[start as usize..].fill(false); set.truncate(start); Ok(()) }
                };
                match outcome {
                    Ok(()) => prop_assert_eq!(bits(&set), model),
                    Err(Full) => prop_assert_eq!(set, before),
                }
                for pair in set.as_slice().windows(2) {
                    prop_assert!(pair[0].end < pair[1].start || kind == 1 && pair[0].end <= pair[1].start);
                }
                let within = ByteRange::new(5, 80);
                let mut gaps = vec![false; SPACE as usize];
                for gap in set.gaps(within) {
                    prop_assert!(!gap.is_empty());
                    gaps[gap.start as usize..gap.end as usize].fill(true);
                }
                let now = bits(&set);
                for b in 0..SPACE as usize {
                    prop_assert_eq!(gaps[b], (5..80).contains(&b) && !now[b]);
                }
                prop_assert_eq!(set.covers(within), set.gaps(within).next().is_none());
                prop_assert_eq!(RangeSet::from_sorted(set.as_slice().iter().copied()), set);
            }
        }
    }

    #[test]
    fn a_full_set_refuses_and_keeps_what_it_has() {
        let mut set = RangeSet::EMPTY;
        for i in 0..MAX_RANGES as u32 {
            set.insert(ByteRange::new(i * 4, i * 4 + 2)).unwrap();
        }
        let before = set;
        assert_eq!(set.insert(ByteRange::new(1000, 1001)), Err(Full));
        assert_eq!(set, before);
        set.insert(ByteRange::new(2, 4)).unwrap();
        assert_eq!(set.as_slice().len(), MAX_RANGES - 1);
    }
}
