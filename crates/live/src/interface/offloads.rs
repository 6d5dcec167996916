//! Offloads of an interface that put received segments together, which a forwarder cannot send on.

use std::io;

use super::ioctl::{Asker, index_of};

/// Numbers of linux/ethtool.h.
const GET_FLAGS: u32 = 0x25;
const SET_FLAGS: u32 = 0x26;
const GET_GRO: u32 = 0x2b;
const SET_GRO: u32 = 0x2c;
const LRO: u32 = 1 << 15;

/// An offload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offload {
    /// Generic receive offload.
    Gro,
    /// Large receive offload.
    Lro,
}

impl Offload {
    /// All.
    pub const ALL: [Self; 2] = [Self::Gro, Self::Lro];

    /// Its name for `ethtool -K`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gro => "gro",
            Self::Lro => "lro",
        }
    }

    /// Whether it is on; what an interface does not have is off.
    fn is_on(self, asker: &Asker, name: &str) -> bool {
        match self {
            Self::Gro => asker.ethtool(name, GET_GRO, 0).is_ok_and(|it| it != 0),
            Self::Lro => asker.ethtool(name, GET_FLAGS, 0).is_ok_and(|it| it & LRO != 0),
        }
    }

    fn set(self, asker: &Asker, name: &str, on: bool) -> io::Result<()> {
        match self {
            Self::Gro => asker.ethtool(name, SET_GRO, on.into())?,
            Self::Lro => {
                let flags = asker.ethtool(name, GET_FLAGS, 0)? & !LRO;
                asker.ethtool(name, SET_FLAGS, flags | if on { LRO } else { 0 })?
            }
        };
        Ok(())
    }
}

/// Offloads of an interface that are switched off until this is dropped.
#[derive(Debug)]
pub struct Offloads {
    asker: Asker,
    name: String,
    index: u32,
    /// Those that were on.
    pub off: Vec<Offload>,
}

impl Offloads {
    /// Those of an interface that are on.
    ///
    /// # Errors
    /// There are no sockets.
    pub fn on(name: &str) -> io::Result<Vec<Offload>> {
        let asker = Asker::new()?;
        Ok(Offload::ALL.into_iter().filter(|it| it.is_on(&asker, name)).collect())
    }

    /// Switches off what is on. Needs CAP_NET_ADMIN.
    ///
    /// # Errors
    /// The kernel refuses. What was switched off is on again.
    pub fn fix(name: &str) -> io::Result<Self> {
        let on = Self::on(name)?;
        let mut fixed = Self { asker: Asker::new()?, name: name.to_owned(), index: index_of(name)?, off: Vec::new() };
        for offload in on {
            offload.set(&fixed.asker, name, false)?;
            fixed.off.push(offload);
        }
        Ok(fixed)
    }
}

impl Drop for Offloads {
    fn drop(&mut self) {
        // another interface may have its name now
        let is_there = index_of(&self.name).is_ok_and(|index| index == self.index);
        for offload in self.off.drain(..).filter(|_| is_there) {
            // an interface that has gone meanwhile has no offloads to switch on
            let _ = offload.set(&self.asker, &self.name, true);
        }
    }
}
