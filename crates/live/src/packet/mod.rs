//! An interface of Linux: a packet socket with a ring for each way, both shared with the kernel (packet(7), TPACKET_V2).
//!
//! It needs CAP_NET_RAW. Frames that this machine itself sends on the interface are ignored. A ring has 4096 slots for
//! frames of up to 1900 bytes, and as many larger ones where the MTU asks for them.

mod memory;
mod receive;
mod shape;
mod socket;
mod transmit;

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use thiserror::Error;

use crate::counts::Kernel;
use crate::io::{Frame, Offer, PacketIo, Sent};
use memory::Rings;
use receive::Receiver;
use shape::Shape;
use socket::Socket;
use transmit::Transmitter;

/// Why an interface could not be opened.
#[derive(Debug, Error)]
#[error("{interface}: {step}: {cause}")]
pub struct OpenError {
    /// Its name.
    pub interface: String,
    /// What failed.
    pub step: &'static str,
    /// Why.
    pub cause: io::Error,
}

/// An interface.
#[derive(Debug)]
pub struct AfPacket {
    // Unmapped before the socket is closed, in this order.
    receiver: Receiver,
    transmitter: Transmitter,
    rings: Rings,
    socket: Socket,
    kernel: Kernel,
}

impl AfPacket {
    /// Opens an interface of this MTU, promiscuous until the socket is closed.
    ///
    /// # Errors
    /// It is not there, or a right is missing.
    pub fn open(interface: &str, mtu: u32) -> Result<Self, OpenError> {
        let failed = |step: &'static str| move |cause| OpenError { interface: interface.to_owned(), step, cause };
        let name = CString::new(interface).map_err(|_| failed("its name")(io::ErrorKind::InvalidInput.into()))?;
        let socket = Socket::new().map_err(failed("cannot open a packet socket"))?;
        let shape = Shape::of_mtu(mtu);
        socket.prepare(&shape).map_err(failed("cannot set up packet rings"))?;
        let rings = Rings::map(&socket, &shape).map_err(failed("cannot map packet rings"))?;
        socket.bind(&name).map_err(failed("cannot bind a packet socket"))?;
        let (receiver, transmitter) = (Receiver::new(shape), Transmitter::new(shape, mtu));
        Ok(Self { receiver, transmitter, rings, socket, kernel: Kernel::default() })
    }

    /// Whether the interface was deleted, or has left this network namespace: no frame passes it again. One that is
    /// down is still there.
    pub fn is_gone(&self) -> bool {
        self.socket.is_gone()
    }
}

impl AsFd for AfPacket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl PacketIo for AfPacket {
    fn receive(&mut self, most: usize, each: &mut impl FnMut(Frame<'_>)) -> usize {
        self.receiver.receive(&mut self.rings, most, each)
    }

    fn offer(&mut self, bytes: &[u8]) -> Offer {
        self.transmitter.offer(&mut self.rings, bytes)
    }

    fn flush(&mut self) -> Sent {
        self.transmitter.flush(&mut self.rings, self.socket.as_fd().as_raw_fd())
    }

    fn kernel(&mut self) -> Kernel {
        let since = self.socket.statistics();
        self.kernel.came += since.came;
        self.kernel.dropped += since.dropped;
        self.kernel
    }
}
