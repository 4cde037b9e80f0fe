//! Page arithmetic: which pages a run of file bytes touches.

use crate::range::ByteRange;

/// Number of a page within its file, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageIndex(pub u64);

/// The size of a page, a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageGeometry {
    shift: u32,
}

/// The part of a run of file bytes that lies in one page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The page.
    pub page: PageIndex,
    /// The bytes inside the page.
    pub range: ByteRange,
    /// Where the span starts within the run, in bytes.
    pub at: usize,
}

impl PageGeometry {
    /// Pages of `bytes` bytes; `None` unless that is a power of two from 4 KiB to 1 MiB.
    pub fn new(bytes: u32) -> Option<Self> {
        (bytes.is_power_of_two() && (4096..=1 << 20).contains(&bytes))
            .then(|| Self { shift: bytes.trailing_zeros() })
    }

    /// Bytes in a page.
    #[inline]
    pub fn bytes(self) -> u32 {
        1 << self.shift
    }

    /// The page that holds the byte at `offset`.
    #[inline]
    pub fn page_of(self, offset: u64) -> PageIndex {
        PageIndex(offset >> self.shift)
    }

    /// Where in its page the byte at `offset` lies.
    #[inline]
    pub fn within(self, offset: u64) -> u32 {
        (offset & (u64::from(self.bytes()) - 1)) as u32
    }

    /// The offset in the file of a page's first byte.
    #[inline]
    pub fn start_of(self, page: PageIndex) -> u64 {
        page.0 << self.shift
    }

    /// The first span of the run of `len` bytes at `offset`, where `done` bytes of it have been dealt with.
    #[inline]
    pub fn span(self, offset: u64, len: usize, done: usize) -> Span {
        let at = offset + done as u64;
        let start = self.within(at);
        let room = (self.bytes() - start) as usize;
        let take = room.min(len - done) as u32;
        Span { page: self.page_of(at), range: ByteRange { start, end: start + take }, at: done }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_powers_of_two_in_bounds_are_page_sizes() {
        for bad in [0, 1, 2048, 65_535, 2 << 20] {
            assert!(PageGeometry::new(bad).is_none(), "{bad}");
        }
        assert_eq!(PageGeometry::new(65_536).unwrap().bytes(), 65_536);
    }

    proptest! {
        #[test]
        fn spans_tile_the_run(offset in 0u64..1 << 44, len in 0usize..1 << 20, shift in 12u32..21) {
            let geometry = PageGeometry::new(1 << shift).unwrap();
            let mut done = 0;
            while done < len {
                let span = geometry.span(offset, len, done);
                prop_assert_eq!(geometry.start_of(span.page) + u64::from(span.range.start), offset + done as u64);
                prop_assert!(!span.range.is_empty() && span.range.end <= geometry.bytes());
                done += span.range.len() as usize;
            }
            prop_assert_eq!(done, len);
        }
    }
}
