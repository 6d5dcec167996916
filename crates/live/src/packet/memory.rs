//! The memory of both rings, shared with the kernel: the receiving one first, the sending one behind it.
//!
//! A slot belongs to the kernel or to this program, as its status word says. Each side writes the word last, and the other
//! reads it first: all else in a slot is touched by its owner alone. [`Slot`] is a slot that is ours.

use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicU32, Ordering};

use libc::tpacket2_hdr;

use crate::packet::shape::{SLOTS, Shape};
use crate::packet::socket::Socket;

/// Bytes of a cache line, and the lines of a slot that hold the kernel's header and those of Ethernet, IP and ports.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;
#[cfg(target_arch = "x86_64")]
const HEAD_LINES: usize = 2;

/// Which ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Frames that come.
    In,
    /// Frames that go.
    Out,
}

/// Both rings; unmapped when they are dropped.
#[derive(Debug)]
pub(super) struct Rings {
    start: NonNull<u8>,
    shape: Shape,
}

// SAFETY: the memory has no owner other than this, whichever thread has it.
unsafe impl Send for Rings {}

impl Rings {
    pub(super) fn map(socket: &Socket, shape: &Shape) -> io::Result<Self> {
        let (bytes, fd) = (2 * shape.bytes(), socket.as_fd().as_raw_fd());
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_POPULATE);
        // SAFETY: a new mapping wherever the kernel likes; the result is checked.
        let start = unsafe { libc::mmap(null_mut(), bytes, access, kind, fd, 0) };
        match NonNull::new(start.cast::<u8>()) {
            Some(start) if start.as_ptr().cast() != libc::MAP_FAILED => Ok(Self { start, shape: *shape }),
            _ => Err(io::Error::last_os_error()),
        }
    }

    fn place(&self, way: Way, number: u32) -> NonNull<u8> {
        assert!(number < SLOTS);
        let ring = if way == Way::In { 0 } else { self.shape.bytes() };
        // SAFETY: the slot lies within the mapping, which has two rings of SLOTS slots.
        unsafe { self.start.add(ring + number as usize * self.shape.slot as usize) }
    }

    /// Whose a slot is: the kernel's bits.
    pub(super) fn status(&self, way: Way, number: u32) -> u32 {
        self.word(way, number).load(Ordering::Acquire)
    }

    /// Has the processor fetch the beginning of a slot that is next: the kernel wrote it on another processor, and without
    /// this each packet waits for its own headers.
    #[inline]
    pub(super) fn fetch(&self, way: Way, number: u32) {
        #[cfg(target_arch = "x86_64")]
        for line in 0..HEAD_LINES {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            // SAFETY: within the slot, and all processors of this kind have the instruction, which changes nothing.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(self.place(way, number).as_ptr().add(line * LINE).cast()) };
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = (way, number);
    }

    /// Hands a slot to the kernel, or takes back what it left.
    pub(super) fn set_status(&mut self, way: Way, number: u32, status: u32) {
        self.word(way, number).store(status, Ordering::Release);
    }

    fn word(&self, way: Way, number: u32) -> &AtomicU32 {
        // SAFETY: the status is the first word of a slot, aligned as slots are, and both sides access it atomically only.
        unsafe { AtomicU32::from_ptr(self.place(way, number).as_ptr().cast()) }
    }

    /// A slot whose status says that it is this program's.
    pub(super) fn slot(&mut self, way: Way, number: u32) -> Slot<'_> {
        let place = self.place(way, number);
        // SAFETY: the slot is ours until its status is set, for which `self` must be borrowed again. The first word stays
        // out of the slice, for it is atomic.
        let bytes = unsafe { std::slice::from_raw_parts_mut(place.as_ptr().add(4), self.shape.slot as usize - 4) };
        Slot { bytes }
    }
}

impl Drop for Rings {
    fn drop(&mut self) {
        // SAFETY: the mapping of `map`, which nothing refers to any longer.
        unsafe { libc::munmap(self.start.as_ptr().cast(), 2 * self.shape.bytes()) };
    }
}

/// A slot of this program, without its status.
pub(super) struct Slot<'a> {
    bytes: &'a mut [u8],
}

/// What the kernel says of a received frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    /// Bytes that the frame had, and those that are here.
    pub(super) length: u32,
    pub(super) here: u32,
    /// Where it begins in the slot.
    pub(super) start: usize,
    /// The VLAN tag that was taken out.
    pub(super) tag: u16,
    pub(super) tag_type: u16,
}

/// The place of a field in [`Slot::bytes`].
macro_rules! at {
    ($field:ident) => {
        std::mem::offset_of!(tpacket2_hdr, $field) - 4
    };
}

impl<'a> Slot<'a> {
    pub(super) fn head(&self) -> Head {
        Head {
            length: self.word(at!(tp_len)),
            here: self.word(at!(tp_snaplen)),
            start: usize::from(self.half(at!(tp_mac))),
            tag: self.half(at!(tp_vlan_tci)),
            tag_type: self.half(at!(tp_vlan_tpid)),
        }
    }

    /// The bytes from `start` of the slot on, `length` of them.
    pub(super) fn frame(self, start: usize, length: usize) -> &'a mut [u8] {
        &mut self.bytes[start - 4..][..length]
    }

    /// Writes a frame that is to be sent, which begins at `start`.
    pub(super) fn write(self, start: usize, frame: &[u8]) {
        self.bytes[start - 4..][..frame.len()].copy_from_slice(frame);
        self.bytes[at!(tp_len)..][..4].copy_from_slice(&(frame.len() as u32).to_ne_bytes());
    }

    fn word(&self, at: usize) -> u32 {
        u32::from_ne_bytes(*self.bytes[at..].first_chunk().expect("within the header"))
    }

    fn half(&self, at: usize) -> u16 {
        u16::from_ne_bytes(*self.bytes[at..].first_chunk().expect("within the header"))
    }
}
