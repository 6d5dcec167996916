//! What an interface does.

use crate::counts::Kernel;

/// A frame that came.
#[derive(Debug)]
pub struct Frame<'a> {
    /// Its bytes from the Ethernet header on, VLAN tags included.
    pub bytes: &'a mut [u8],
    /// Bytes that it had; more than there are if it did not fit into a buffer.
    pub length: u32,
    /// Its transport checksum was left to a network card.
    pub unfinished: bool,
}

/// What becomes of a frame that is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// It is in the buffer.
    Taken,
    /// All buffers are in use: it is lost.
    Full,
    /// It exceeds the interface's MTU: it is lost.
    TooLong,
}

/// What became of frames in the buffer since the last call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// The kernel took them.
    pub sent: u64,
    /// The kernel refused them.
    pub errors: u64,
    /// They still wait in the buffer.
    pub waiting: u64,
}

/// An interface.
pub trait PacketIo {
    /// Hands over frames that have come, at most `most` of them; how many. It does not wait.
    fn receive(&mut self, most: usize, each: &mut impl FnMut(Frame<'_>)) -> usize;

    /// Puts a frame into the buffer of those that are to be sent.
    fn offer(&mut self, bytes: &[u8]) -> Offer;

    /// Has the kernel send what is in the buffer. It does not wait.
    fn flush(&mut self) -> Sent;

    /// What the kernel counts.
    fn kernel(&mut self) -> Kernel;
}
