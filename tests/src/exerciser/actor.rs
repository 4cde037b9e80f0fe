//! A process that takes turns: what all of its operations share.

use std::collections::BTreeMap;

use super::kinds::{Kind, Profile};
use super::options::Options;
use super::random::Random;
use super::state::{Description, Slot, State, MAPS, MOST, SLOTS};
use crate::data;

/// Bytes of a page of memory, and what `O_DIRECT` wants offsets to be multiples of.
pub const PAGE: usize = 4096;

/// Exit code of a process that has found something wrong and has said what.
pub const FOUND: i32 = 3;

/// A process.
pub struct Actor {
    /// What all processes know.
    pub state: &'static mut State,
    /// What the run was told.
    pub options: Options,
    /// What is particular to the run.
    pub profile: Profile,
    /// Which process it is.
    pub role: usize,
    /// The step at hand.
    pub step: u64,
    /// Its random numbers.
    pub random: Random,
    /// Pages that each private mapping has of its own, by their number in the file.
    pub copies: [BTreeMap<usize, Vec<u8>>; MAPS],
    /// Whether it is a new image of a process that goes on: it has only what passes an exec.
    pub heir: bool,
    /// Room for data, with a page to spare for alignment on either side.
    memory: Vec<u8>,
}

/// A descriptor, with what belongs to it.
#[derive(Clone, Copy, Debug)]
pub struct Picked {
    /// Where it stands in the role's table.
    pub index: usize,
    /// The descriptor.
    pub slot: Slot,
    /// Its description.
    pub d: Description,
}

impl Picked {
    /// Whether it has one of these flags.
    pub fn has(&self, flag: i32) -> bool {
        self.d.flags & flag != 0
    }

    /// Whether it can read.
    pub fn reads(&self) -> bool {
        self.d.reads()
    }

    /// Whether it can write.
    pub fn writes(&self) -> bool {
        self.d.writes()
    }
}

/// Value or errno of a call that has just returned `value`.
pub fn outcome(value: i64) -> Result<usize, i32> {
    if value < 0 {
        Err(std::io::Error::last_os_error().raw_os_error().unwrap_or(0))
    } else {
        Ok(value as usize)
    }
}

/// The multiple of a page at or below `at`.
pub fn floor(at: usize) -> usize {
    at / PAGE * PAGE
}

impl Actor {
    /// A process of the run.
    pub fn new(state: &'static mut State, options: Options, role: usize) -> Self {
        let profile = Profile::new(options.seed, options.run, options.processes);
        let random = Random::new(options.seed, options.run, 0);
        Self {
            state,
            profile,
            role,
            step: 0,
            random,
            copies: Default::default(),
            heir: false,
            memory: vec![0; MOST + 3 * PAGE],
            options,
        }
    }

    /// Does one step.
    pub fn perform(&mut self, step: u64) {
        self.step = step;
        self.random = Random::new(self.options.seed, self.options.run, step);
        let mut kind = self.profile.kind(&mut self.random);
        if self.state.roles[self.role].slots.iter().all(Option::is_none) {
            kind = Kind::Open;
        }
        self.state.story.line(&format!("#{step} process {} {kind:?}", self.role));
        self.dispatch(kind);
        self.state.sweep();
    }

    /// Does an operation of a kind.
    pub fn dispatch(&mut self, kind: Kind) {
        match kind {
            Kind::Read => self.read(false),
            Kind::ReadAt => self.read(true),
            Kind::Write => self.write(false),
            Kind::WriteAt => self.write(true),
            Kind::AppendAt => self.append_at(),
            Kind::Seek => self.seek(),
            Kind::SeekSparse => self.seek_sparse(),
            Kind::Threads => self.threads(),
            Kind::TruncateFd => self.truncate_fd(),
            Kind::TruncatePath => self.truncate_path(),
            Kind::Punch | Kind::Zero | Kind::Allocate | Kind::KeepSize | Kind::Collapse | Kind::Insert => {
                self.space(kind)
            }
            Kind::Map => self.map(),
            Kind::MapRead => self.map_read(),
            Kind::MapWrite => self.map_write(),
            Kind::MapSync => self.map_sync(),
            Kind::MapMove => self.map_move(),
            Kind::MapDrop => self.map_drop(),
            Kind::MapPart => self.map_part(),
            Kind::MapOver => self.map_over(),
            Kind::MapTwice => self.map_twice(),
            Kind::MapAdvise => self.map_advise(),
            Kind::ReadIntoMap => self.read_into_map(),
            Kind::WriteFromMap => self.write_from_map(),
            Kind::Sync => self.sync(),
            Kind::SyncAll => self.sync_all(),
            Kind::Open => self.open(),
            Kind::Close => self.close(),
            Kind::Dup => self.dup(),
            Kind::SetFlags => self.set_flags(),
            Kind::Evict => self.evict(),
            Kind::Drain => self.drain(),
            Kind::Pressure => self.pressure(),
            Kind::CopyRange => self.copy_range(),
            Kind::SendFile => self.send_file(),
            Kind::Splice => self.splice(),
            Kind::Rename => self.rename(),
            Kind::Exchange => self.exchange(),
            Kind::Unlink => self.unlink(),
            Kind::Link => self.link(),
            Kind::Stat => self.stat(),
            Kind::Look => self.look_after_sync(),
            Kind::Child => self.child(),
            Kind::Spawn => self.spawn(),
            Kind::Exec => self.exec(),
            Kind::Replace => self.replace(),
            Kind::Pass => self.pass(),
        }
    }

    /// One of the role's descriptors, mostly one for which an operation makes sense.
    pub fn pick_fit(&mut self, fits: impl Fn(&Picked) -> bool) -> Option<Picked> {
        let mut picked = self.pick()?;
        for _ in 0..6 {
            if fits(&picked) || self.random.once_in(16) {
                break;
            }
            picked = self.pick()?;
        }
        self.show(&picked);
        Some(picked)
    }

    /// A descriptor that can write, mostly.
    pub fn pick_writer(&mut self) -> Option<Picked> {
        self.pick_fit(Picked::writes)
    }

    /// Any of the role's descriptors.
    pub fn pick_any(&mut self) -> Option<Picked> {
        self.pick_fit(|_| true)
    }

    fn pick(&mut self) -> Option<Picked> {
        let slots = self.state.roles[self.role].slots;
        let open: Vec<usize> = (0..SLOTS)
            .filter(|&index| slots[index].is_some_and(|slot| !self.heir || !slot.cloexec))
            .collect();
        if open.is_empty() {
            self.told("nothing open");
            return None;
        }
        let index = self.random.pick(&open);
        self.picked(index)
    }

    fn show(&mut self, picked: &Picked) {
        let shown = format!(" fd {} of file {} flags {:#o}", picked.slot.fd, picked.d.file, picked.d.flags);
        self.told(&shown);
    }

    /// The descriptor at `index` of the role's table.
    fn picked(&mut self, index: usize) -> Option<Picked> {
        let slot = self.state.roles[self.role].slots[index]?;
        let d = self.state.descriptions[slot.description];
        Some(Picked { index, slot, d })
    }

    /// An offset.
    pub fn offset(&mut self, size: usize) -> usize {
        let span = self.profile.span as u64;
        let at = match self.random.below(8) {
            0 => (size as u64 + 40).saturating_sub(self.random.below(80)),
            // About the borders of pages, whatever their size.
            1 => (self.random.below(span) / (4 << 10) * (4 << 10) + 8).saturating_sub(self.random.below(16)),
            2 => {
                (self.random.below(span) / (64 << 10) * (64 << 10) + 40).saturating_sub(self.random.below(80))
            }
            _ => self.random.below(span),
        } as usize;
        let at = at.min(MOST);
        if self.profile.aligned && !self.random.once_in(8) {
            floor(at)
        } else {
            at
        }
    }

    /// A length, at least 1.
    pub fn length(&mut self) -> usize {
        let longest = self.profile.longest as u64;
        let bound = if self.random.once_in(2) { longest.min(300) } else { longest };
        let len = 1 + self.random.below(bound) as usize;
        if self.profile.aligned && !self.random.once_in(8) {
            len.next_multiple_of(PAGE)
        } else {
            len
        }
    }

    /// Room for `len` bytes; at a multiple of a page where that is needed.
    pub fn room(&mut self, len: usize, aligned: bool) -> *mut u8 {
        let shift = if aligned { 0 } else { self.random.below(64) as usize };
        assert!(len <= MOST + PAGE, "room for {len} bytes");
        let start = self.memory.as_mut_ptr();
        start.wrapping_add(start.align_offset(PAGE) + shift)
    }

    /// Bytes to write.
    pub fn data(&mut self, len: usize) -> Vec<u8> {
        match self.random.below(16) {
            0 => vec![0; len],
            1 => vec![self.random.next() as u8; len],
            _ => data::pattern(self.random.next() as u32, len),
        }
    }

    /// Puts bytes that were written into the model, once wrongly if the run is to.
    pub fn wrote(&mut self, file: usize, at: usize, bytes: &[u8]) {
        self.state.files[file].write(at, bytes);
        if self.options.fault.is_some_and(|step| self.step >= step) && !self.state.lied && !bytes.is_empty() {
            self.state.lied = true;
            self.state.files[file].bytes[at + bytes.len() / 2] ^= 1;
        }
    }

    /// Adds to the line of the step.
    pub fn told(&mut self, text: &str) {
        self.state.story.add(text);
    }

    /// Compares what a call gave with what it must give.
    pub fn expect(&mut self, what: &str, got: Result<usize, i32>, want: Result<usize, i32>) {
        self.told(&match got {
            Ok(value) => format!(" {what} = {value}"),
            Err(errno) => format!(" {what} = errno {errno}"),
        });
        if got != want {
            self.fail(&format!("{what} gave {got:?} instead of {want:?}"));
        }
    }

    /// Compares bytes of a file with the model's.
    pub fn same(&mut self, what: &str, file: usize, at: usize, got: &[u8]) {
        let want = self.state.files[file].read(at, got.len());
        if want != got {
            let want = want.to_vec();
            self.differs(what, file, at, got, &want);
        }
    }

    /// Says where bytes differ, and ends.
    pub fn differs(&mut self, what: &str, file: usize, at: usize, got: &[u8], want: &[u8]) -> ! {
        let wrong: Vec<usize> =
            (0..got.len().max(want.len())).filter(|&i| got.get(i) != want.get(i)).collect();
        let (first, last) = (wrong[0], wrong[wrong.len() - 1]);
        let shown = |bytes: &[u8]| data::show(&bytes[first.min(bytes.len())..(first + 16).min(bytes.len())]);
        let size = self.state.files[file].size;
        self.fail(&format!(
            "{what} of file {file} (size {size}): {} of {} bytes from {at} differ, the first at {}, the last at {}: \
             {} instead of {}",
            wrong.len(),
            got.len(),
            at + first,
            at + last,
            shown(got),
            shown(want),
        ))
    }

    /// Says what is wrong, with all that led to it, and ends.
    pub fn fail(&mut self, what: &str) -> ! {
        eprintln!(
            "seed {} run {} step {}, process {}: {what}\nThe last operations:\n{}{}",
            self.options.seed,
            self.options.run,
            self.step,
            self.role,
            self.state.story.text(),
            self.state.shown(),
        );
        // Who watches the run ends it at this.
        self.state.failed.store(1, std::sync::atomic::Ordering::SeqCst);
        // SAFETY: ends the process.
        unsafe { libc::_exit(FOUND) }
    }
}
