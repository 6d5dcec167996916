//! What the kernel says of an interface.

use std::fs;
use std::io;
use std::net::Ipv6Addr;

use super::holder::is_taken;
use super::ioctl::{Asker, index_of, name_of};
use super::netmask;

/// ARPHRD_ETHER.
const ETHERNET: u16 = 1;

/// What is to be known of an interface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Its name; if it was asked for by an alternative one, its first.
    pub name: String,
    /// Its number in the network namespace.
    pub index: u32,
    /// Whether it is up.
    pub up: bool,
    /// Whether its frames have Ethernet headers.
    pub ethernet: bool,
    /// Bytes of the largest packet.
    pub mtu: u32,
    /// IPv4 addresses and global IPv6 ones, with prefix lengths.
    pub addresses: Vec<String>,
    /// What has it as a port: a bridge, a bond.
    pub master: Option<String>,
    /// Keys of sysctl by which the kernel forwards what comes in on it.
    pub forwarding: Vec<String>,
    /// Interfaces above and below it, as a VLAN and its Ethernet are to each other: a frame passes both.
    pub stack: Vec<Layer>,
    /// It, or those of the stack, if a forwarder has them.
    pub used: Vec<String>,
}

/// An interface above or below another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// Its name.
    pub name: String,
    /// Its number.
    pub index: u32,
}

/// Names of the interfaces here.
pub fn names() -> Vec<String> {
    let table = fs::read_to_string("/proc/net/dev").unwrap_or_default();
    table.lines().filter_map(|line| Some(line.split_once(':')?.0.trim().to_owned())).collect()
}

impl Facts {
    /// Those of `name`.
    ///
    /// # Errors
    /// It is not there, or the kernel does not say.
    pub fn of(name: &str) -> io::Result<Self> {
        let asker = Asker::new()?;
        let index = index_of(name)?;
        let name = &name_of(index)?;
        let stack = stack(name);
        Ok(Self {
            name: name.clone(),
            index,
            up: asker.flags(name)? & libc::IFF_UP != 0,
            ethernet: asker.hardware(name)? == ETHERNET,
            mtu: asker.mtu(name)?,
            addresses: addresses(name)?,
            master: master(name),
            forwarding: forwarding(name),
            used: used(Layer { name: name.clone(), index }, &stack)?,
            stack,
        })
    }
}

fn addresses(name: &str) -> io::Result<Vec<String>> {
    let four = netmask::ipv4()?.into_iter().filter(|it| it.0 == name).map(|(_, it, prefix)| format!("{it}/{prefix}"));
    let six = fs::read_to_string("/proc/net/if_inet6").unwrap_or_default();
    Ok(four.chain(six.lines().filter_map(|line| global(line, name))).collect())
}

/// The address of a line of if_inet6 (address, index, prefix length, scope, flags, name) if it is `name`'s and not of the
/// link alone.
fn global(line: &str, name: &str) -> Option<String> {
    const LINK_LOCAL: u8 = 0x20;
    let fields: Vec<_> = line.split_whitespace().collect();
    let [address, _, prefix, scope, _, of] = fields[..] else { return None };
    let (address, prefix) = (u128::from_str_radix(address, 16).ok()?, u8::from_str_radix(prefix, 16).ok()?);
    let is_global = of == name && u8::from_str_radix(scope, 16).ok()? != LINK_LOCAL;
    is_global.then(|| format!("{}/{prefix}", Ipv6Addr::from_bits(address)))
}

fn master(name: &str) -> Option<String> {
    let link = fs::read_link(format!("/sys/class/net/{name}/master")).ok()?;
    Some(link.file_name()?.to_string_lossy().into_owned())
}

/// All below it, and all above it.
fn stack(name: &str) -> Vec<Layer> {
    ["lower_", "upper_"].into_iter().flat_map(|way| along(way, name)).collect()
}

fn along(way: &str, name: &str) -> Vec<Layer> {
    let mut found: Vec<Layer> = Vec::new();
    let mut open = vec![name.to_owned()];
    while let Some(name) = open.pop() {
        let links = fs::read_dir(format!("/sys/class/net/{name}")).into_iter().flatten().flatten();
        let names = links.filter_map(|link| link.file_name().to_str()?.strip_prefix(way).map(str::to_owned));
        let new: Vec<_> = names.filter(|name| found.iter().all(|it| it.name != *name)).collect();
        found.extend(new.iter().filter_map(|name| Some(Layer { name: name.clone(), index: index_of(name).ok()? })));
        open.extend(new);
    }
    found
}

fn used(own: Layer, stack: &[Layer]) -> io::Result<Vec<String>> {
    let mut used = Vec::new();
    for layer in [&own].into_iter().chain(stack) {
        if is_taken(layer.index)? {
            used.push(layer.name.clone());
        }
    }
    Ok(used)
}

fn forwarding(name: &str) -> Vec<String> {
    let is_on = |family: &&str| {
        fs::read_to_string(format!("/proc/sys/net/{family}/conf/{name}/forwarding")).is_ok_and(|it| it.trim() == "1")
    };
    // a dot in a name, as of a VLAN, is a slash to sysctl
    let key = |family| format!("net.{family}.conf.{}.forwarding", name.replace('.', "/"));
    ["ipv4", "ipv6"].into_iter().filter(is_on).map(key).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_the_link_is_allowed() {
        let line = "fe80000000000000020000fffe000001 02 40 20 80     eth0";
        assert_eq!(global(line, "eth0"), None);
        let line = "20010db8000000000000000000000001 02 40 00 80     eth0";
        assert_eq!(global(line, "eth0").unwrap(), "2001:db8::1/64");
        assert_eq!(global(line, "eth1"), None);
    }

    #[test]
    fn loopback_is_here() {
        let found = Facts::of("lo").unwrap();
        assert!(names().contains(&"lo".to_owned()));
        assert!(!found.ethernet);
        assert_eq!(Facts::of("no-such-one").unwrap_err().raw_os_error(), Some(libc::ENODEV));
        assert_eq!(Facts::of("a name that is too long").unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
