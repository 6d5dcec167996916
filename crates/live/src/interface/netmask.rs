//! The IPv4 addresses of interfaces.

use std::ffi::CStr;
use std::io;
use std::net::Ipv4Addr;
use std::ptr::null_mut;

/// Name, address and prefix length of every IPv4 address here.
pub(super) fn ipv4() -> io::Result<Vec<(String, Ipv4Addr, u32)>> {
    let (mut first, mut found) = (null_mut(), Vec::new());
    // SAFETY: the call fills in the pointer, and the list is freed below.
    if unsafe { libc::getifaddrs(&mut first) } < 0 {
        return Err(io::Error::last_os_error());
    }
    let mut next: *const libc::ifaddrs = first;
    // SAFETY: a list of the C library, which ends with a null pointer and is not yet freed.
    while let Some(entry) = unsafe { next.as_ref() } {
        next = entry.ifa_next;
        // SAFETY: pointers of that list: null, or what the library says.
        let parts = unsafe { (address(entry.ifa_addr), address(entry.ifa_netmask), CStr::from_ptr(entry.ifa_name)) };
        if let (Some(address), mask, name) = parts {
            let prefix = mask.map_or(32, |mask| mask.to_bits().count_ones());
            found.push((name.to_string_lossy().into_owned(), address, prefix));
        }
    }
    // SAFETY: the list of above; nothing of it is kept.
    unsafe { libc::freeifaddrs(first) };
    Ok(found)
}

/// # Safety
/// Null, or a socket address of the length that its family has.
unsafe fn address(of: *const libc::sockaddr) -> Option<Ipv4Addr> {
    // SAFETY: as the caller promises.
    let family = unsafe { of.as_ref() }?.sa_family;
    if i32::from(family) != libc::AF_INET {
        return None;
    }
    // SAFETY: the family says what it is.
    let address = unsafe { of.cast::<libc::sockaddr_in>().read_unaligned() };
    Some(Ipv4Addr::from_bits(u32::from_be(address.sin_addr.s_addr)))
}
