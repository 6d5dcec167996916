//! Whether a forwarder has an interface: a process is bound to the abstract socket (unix(7)) of its index.

use std::io;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// Whether a forwarder has the interface of this index.
///
/// # Errors
/// There are no sockets of this family.
pub(super) fn is_taken(index: u32) -> io::Result<bool> {
    match UnixDatagram::unbound().map_err(unknown_holder)?.connect_addr(&address(index)?) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Ok(false),
        Err(error) => Err(unknown_holder(error)),
    }
}

/// Why it is unknown whether a forwarder has an interface; an interface in use is none of these reasons.
pub(super) fn unknown_holder(error: io::Error) -> io::Error {
    let why = "cannot tell whether another `perhop forward` has it";
    match error.raw_os_error() {
        Some(libc::EAFNOSUPPORT) => io::Error::other(format!("{why}: RestrictAddressFamilies= lacks AF_UNIX")),
        Some(libc::EADDRINUSE) => error,
        _ => io::Error::other(format!("{why}: {error}")),
    }
}

/// The abstract name of a forwarder's socket for the interface of an index.
pub(super) fn address(index: u32) -> io::Result<SocketAddr> {
    SocketAddr::from_abstract_name(format!("perhop-forward-{index}"))
}
