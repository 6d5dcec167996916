//! Connection ids and seeds from the run's randomness: quinn would ask the operating system.

use quinn_proto::{ConnectionId, ConnectionIdGenerator};
use std::time::Duration;

/// Bytes of a connection id, quinn's default.
const LENGTH: usize = 8;
/// Bytes of the id that a client gives to a server it does not know, quinn's default.
const FIRST: usize = 20;

/// Numbers that look random, from a seed (SplitMix64: G. Steele, D. Lea, C. Flood, OOPSLA 2014).
#[derive(Clone, Debug)]
pub struct Numbers(u64);

impl Numbers {
    /// Those of one end of a connection.
    pub fn new(seed: u64, end: u64) -> Self {
        let mut it = Self(seed);
        let own = it.next() ^ end;
        Self(own)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut out = [0; N];
        for chunk in out.chunks_mut(8) {
            let next = self.next().to_le_bytes();
            chunk.copy_from_slice(&next[..chunk.len()]);
        }
        out
    }

    /// The seed of quinn's generator.
    pub fn seed(&mut self) -> [u8; 32] {
        self.bytes()
    }

    /// The id that a client gives to a server it does not know.
    pub fn first_id(&mut self) -> ConnectionId {
        ConnectionId::new(&self.bytes::<FIRST>())
    }
}

impl ConnectionIdGenerator for Numbers {
    fn generate_cid(&mut self) -> ConnectionId {
        ConnectionId::new(&self.bytes::<LENGTH>())
    }

    fn cid_len(&self) -> usize {
        LENGTH
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}
