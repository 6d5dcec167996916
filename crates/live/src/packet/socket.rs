//! A packet socket: calls of the kernel.

use std::ffi::CStr;
use std::io;
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use crate::counts::Kernel;
use crate::packet::shape::{RESERVE, SLOTS, Shape};

/// The number of TPACKET_V2.
const VERSION_2: libc::c_int = 1;

/// All protocols, in network byte order.
const ALL: u16 = (libc::ETH_P_ALL as u16).to_be();

/// A packet socket, closed when it is dropped; the kernel then ends its promiscuous mode.
#[derive(Debug)]
pub(super) struct Socket(OwnedFd);

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Socket {
    /// One that receives nothing yet.
    pub(super) fn new() -> io::Result<Self> {
        // SAFETY: no pointers; the result is checked.
        let fd = unsafe { libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: a new descriptor, which is known here alone.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// Rings of this shape, own frames ignored.
    pub(super) fn prepare(&self, shape: &Shape) -> io::Result<()> {
        let ring = libc::tpacket_req {
            tp_block_size: shape.block,
            tp_block_nr: shape.blocks(),
            tp_frame_size: shape.slot,
            tp_frame_nr: SLOTS,
        };
        self.set(libc::PACKET_VERSION, &VERSION_2)?;
        self.set(libc::PACKET_IGNORE_OUTGOING, &1)?;
        self.set(libc::PACKET_RESERVE, &RESERVE)?;
        self.set(libc::PACKET_RX_RING, &ring)?;
        self.set(libc::PACKET_TX_RING, &ring)
    }

    /// Frames of this interface come from now on.
    pub(super) fn bind(&self, interface: &CStr) -> io::Result<()> {
        // SAFETY: a string that ends with 0.
        let index = unsafe { libc::if_nametoindex(interface.as_ptr()) };
        if index == 0 {
            return Err(io::Error::last_os_error());
        }
        let member = libc::packet_mreq {
            mr_ifindex: index as i32,
            mr_type: libc::PACKET_MR_PROMISC as u16,
            mr_alen: 0,
            mr_address: [0; 8],
        };
        self.set(libc::PACKET_ADD_MEMBERSHIP, &member)?;
        // SAFETY: zeros are a valid address of this kind.
        let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = ALL;
        address.sll_ifindex = index as i32;
        let (pointer, size) = ((&raw const address).cast(), size_of::<libc::sockaddr_ll>() as u32);
        // SAFETY: pointer and size are those of `address`.
        done(unsafe { libc::bind(self.0.as_raw_fd(), pointer, size) })
    }

    /// Whether its interface is there no longer; the kernel then takes the interface from the socket, and gives it to none
    /// that has the same name (packet_notifier of net/packet/af_packet.c).
    pub(super) fn is_gone(&self) -> bool {
        // SAFETY: zeros are a valid address of this kind.
        let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
        let mut size = size_of::<libc::sockaddr_ll>() as u32;
        // SAFETY: pointer and size are those of `address`.
        let told = unsafe { libc::getsockname(self.0.as_raw_fd(), (&raw mut address).cast(), &mut size) } == 0;
        told && address.sll_ifindex < 0
    }

    /// Frames since the last call: those for this socket, and of them those that were dropped.
    pub(super) fn statistics(&self) -> Kernel {
        let mut found = libc::tpacket_stats { tp_packets: 0, tp_drops: 0 };
        let mut size = size_of::<libc::tpacket_stats>() as u32;
        let (fd, pointer) = (self.0.as_raw_fd(), (&raw mut found).cast());
        // SAFETY: pointer and size are those of `found`.
        let _ = unsafe { libc::getsockopt(fd, libc::SOL_PACKET, libc::PACKET_STATISTICS, pointer, &mut size) };
        Kernel { came: found.tp_packets.into(), dropped: found.tp_drops.into() }
    }

    /// `T` is what the kernel expects of the option: a C structure or a number of 32 bits.
    fn set<T>(&self, option: libc::c_int, value: &T) -> io::Result<()> {
        let (pointer, size) = ((&raw const *value).cast(), size_of::<T>() as u32);
        // SAFETY: pointer and size are those of `value`.
        done(unsafe { libc::setsockopt(self.0.as_raw_fd(), libc::SOL_PACKET, option, pointer, size) })
    }
}

fn done(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
