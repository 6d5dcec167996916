//! Questions to the kernel about an interface (netdevice(7)).

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// A socket for questions; it needs no right.
#[derive(Debug)]
pub(super) struct Asker(OwnedFd);

/// An empty question about an interface; `None`: no interface has such a name.
pub(super) fn question(name: &str) -> Option<libc::ifreq> {
    // SAFETY: zeros are valid in all variants of the union.
    let mut question: libc::ifreq = unsafe { std::mem::zeroed() };
    let fits = !name.is_empty() && name.len() < question.ifr_name.len() && !name.bytes().any(|it| it == 0);
    for (to, byte) in question.ifr_name.iter_mut().zip(name.bytes()).filter(|_| fits) {
        *to = byte as libc::c_char;
    }
    fits.then_some(question)
}

/// The number of an interface.
pub(super) fn index_of(name: &str) -> io::Result<u32> {
    question(name).ok_or(io::ErrorKind::NotFound)?;
    let name = CString::new(name)?;
    // SAFETY: a string that ends with 0.
    match unsafe { libc::if_nametoindex(name.as_ptr()) } {
        0 => Err(io::Error::last_os_error()),
        index => Ok(index),
    }
}

/// The name of an interface, not one of its alternative names.
pub(super) fn name_of(index: u32) -> io::Result<String> {
    let mut name = [0 as libc::c_char; libc::IF_NAMESIZE];
    // SAFETY: a buffer of the size that the call asks for.
    if unsafe { libc::if_indextoname(index, name.as_mut_ptr()) }.is_null() {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call has filled the buffer with a string that ends with 0.
    Ok(unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned())
}

impl Asker {
    pub(super) fn new() -> io::Result<Self> {
        // SAFETY: no pointers; the result is checked.
        let fd = unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: a new descriptor, which is known here alone.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// Asks `what`, one of the numbers whose argument is an ifreq.
    fn ask(&self, what: libc::c_ulong, question: &mut libc::ifreq) -> io::Result<()> {
        // SAFETY: the argument of these requests is an ifreq, which outlives the call.
        match unsafe { libc::ioctl(self.0.as_raw_fd(), what as _, &raw mut *question) } {
            done if done < 0 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        }
    }

    /// IFF_ flags.
    pub(super) fn flags(&self, name: &str) -> io::Result<libc::c_int> {
        let mut question = question(name).ok_or(io::ErrorKind::NotFound)?;
        self.ask(libc::SIOCGIFFLAGS, &mut question)?;
        // SAFETY: the request has filled in this variant.
        Ok(unsafe { question.ifr_ifru.ifru_flags }.into())
    }

    /// MTU, bytes.
    pub(super) fn mtu(&self, name: &str) -> io::Result<u32> {
        let mut question = question(name).ok_or(io::ErrorKind::NotFound)?;
        self.ask(libc::SIOCGIFMTU, &mut question)?;
        // SAFETY: the request has filled in this variant.
        Ok(unsafe { question.ifr_ifru.ifru_mtu } as u32)
    }

    /// ARPHRD_ number: 1 is Ethernet.
    pub(super) fn hardware(&self, name: &str) -> io::Result<u16> {
        let mut question = question(name).ok_or(io::ErrorKind::NotFound)?;
        self.ask(libc::SIOCGIFHWADDR, &mut question)?;
        // SAFETY: the request has filled in this variant.
        Ok(unsafe { question.ifr_ifru.ifru_hwaddr }.sa_family)
    }

    /// Asks ethtool's `command`, whose structure is one number behind it; the number that comes back.
    pub(super) fn ethtool(&self, name: &str, command: u32, value: u32) -> io::Result<u32> {
        let mut argument = [command, value];
        let mut question = question(name).ok_or(io::ErrorKind::NotFound)?;
        question.ifr_ifru.ifru_data = argument.as_mut_ptr().cast();
        self.ask(0x8946, &mut question)?;
        Ok(argument[1])
    }
}
