//! How many buffers of which size hold a given number of bytes.
//!
//! The rule is the one of Hermes' buffer pool: largest sizes first, the tail in one smallest buffer that holds it, and
//! all or nothing.

/// One buffer size on offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Bytes in a buffer.
    pub buffer: u32,
    /// Buffers that are free.
    pub free: u32,
}

/// Most buffer sizes that a device can have.
pub const MAX_SLABS: usize = 8;

/// Buffers to take of each offer, in the order of the offers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Count per offer.
    pub take: [u32; MAX_SLABS],
}

impl Plan {
    /// Number of buffers in the plan.
    pub fn buffers(&self) -> u32 {
        self.take.iter().sum()
    }
}

/// Plans buffers for `bytes` bytes from `offers`, which are in ascending order of size, using at most `most` buffers.
///
/// Returns `None` when the offers do not suffice: nothing is planned by halves.
pub fn plan(bytes: u32, offers: &[Offer], most: u32) -> Option<Plan> {
    let mut plan = Plan::default();
    let mut left = bytes;
    for (slot, offer) in offers.iter().enumerate().take(MAX_SLABS).rev() {
        let take = (left / offer.buffer).min(offer.free);
        plan.take[slot] = take;
        left -= take * offer.buffer;
    }
    if left > 0 {
        let tail = offers
            .iter()
            .enumerate()
            .take(MAX_SLABS)
            .find(|(slot, offer)| offer.buffer >= left && offer.free > plan.take[*slot])?
            .0;
        plan.take[tail] += 1;
    }
    (plan.buffers() <= most).then_some(plan)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn offers(free: [u32; 3]) -> [Offer; 3] {
        [4096, 16_384, 65_536]
            .map(|b| b)
            .iter()
            .zip(free)
            .map(|(&buffer, free)| Offer { buffer, free })
            .collect::<Vec<_>>()
            .try_into()
            .unwrap()
    }

    #[test]
    fn largest_first_and_the_tail_in_the_smallest_that_holds_it() {
        let plan = plan(65_536 + 16_384 + 100, &offers([4, 4, 4]), 16).unwrap();
        assert_eq!(plan.take[..3], [1, 1, 1]);
    }

    #[test]
    fn smaller_ones_stand_in_when_the_large_ones_are_gone() {
        assert_eq!(plan(65_536, &offers([16, 0, 0]), 16).unwrap().take[..3], [16, 0, 0]);
        assert_eq!(plan(65_536, &offers([15, 0, 0]), 16), None);
        assert_eq!(plan(65_536, &offers([100, 0, 0]), 8), None);
    }

    proptest! {
        #[test]
        fn a_plan_holds_the_bytes_and_takes_only_what_is_free(bytes in 1u32..300_000, free in prop::array::uniform3(0u32..20)) {
            let offers = offers(free);
            let room: u64 = offers.iter().map(|o| u64::from(o.buffer) * u64::from(o.free)).sum();
            match plan(bytes, &offers, u32::MAX) {
                Some(plan) => {
                    let held: u64 = offers.iter().zip(plan.take).map(|(o, n)| u64::from(o.buffer) * u64::from(n)).sum();
                    prop_assert!(held >= u64::from(bytes));
                    for (offer, n) in offers.iter().zip(plan.take) {
                        prop_assert!(n <= offer.free);
                    }
                }
                None => prop_assert!(room < u64::from(bytes) + 65_536),
            }
        }
    }
}
