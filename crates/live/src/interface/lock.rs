//! An interface has one forwarder: what comes in on it would leave twice with two.
//!
//! A forwarder holds an abstract socket (unix(7)) for each of its interfaces, with the interface's index in its name. Such
//! names belong to a network namespace, as interfaces do, and the kernel frees them when their process ends, however it ends.

use std::io;
use std::os::unix::net::UnixDatagram;

use super::facts::Facts;
use super::holder::{address, is_taken, unknown_holder};
use super::trouble::Trouble;

/// An interface that no other forwarder may have until this is dropped.
#[derive(Debug)]
pub struct Lock {
    _socket: UnixDatagram,
}

impl Lock {
    /// Takes the interface of an index.
    ///
    /// # Errors
    /// `AddrInUse`: another forwarder has it.
    fn take(index: u32) -> io::Result<Self> {
        UnixDatagram::bind_addr(&address(index)?).map(|socket| Self { _socket: socket }).map_err(unknown_holder)
    }

    /// Takes both interfaces. Of forwarders that begin at once one gets what it asks for, because all ask in the order of
    /// indices.
    ///
    /// # Errors
    /// Another forwarder was faster, with one of them or with an interface above or below it.
    pub fn both(sides: &[Facts; 2]) -> Result<[Self; 2], Trouble> {
        let mut ordered = sides.each_ref();
        ordered.sort_by_key(|side| side.index);
        let take = |side: &Facts| Self::take(side.index).map_err(|error| Trouble::untaken(side, &error));
        let locks = [take(ordered[0])?, take(ordered[1])?];
        let mut stacks = sides.iter().flat_map(|side| side.stack.iter().map(|layer| (&side.name, layer)));
        match stacks.find(|(_, layer)| is_taken(layer.index).unwrap_or(true)) {
            Some((name, user)) => Err(Trouble::used(name, &user.name)),
            None => Ok(locks),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Indices that no interface has.
    const SOME: u32 = 4_000_000_000;

    #[test]
    fn is_held_until_it_is_dropped() {
        assert!(!is_taken(SOME).unwrap());
        let lock = Lock::take(SOME).unwrap();
        assert!(is_taken(SOME).unwrap() && !is_taken(SOME + 1).unwrap());
        assert_eq!(Lock::take(SOME).unwrap_err().kind(), io::ErrorKind::AddrInUse);
        drop(lock);
        assert!(!is_taken(SOME).unwrap());
    }

    /// Of forwarders on pairs that overlap in a circle, begun at once, one has its pair.
    #[test]
    fn one_of_several_wins() {
        let side = |n: u32| Facts { index: SOME + 10 + n, ..Facts::default() };
        let pairs = [[0, 1], [1, 0], [1, 2], [2, 1], [0, 2], [2, 0]].map(|pair| pair.map(side));
        let barrier = std::sync::Barrier::new(pairs.len());
        for _ in 0..200 {
            let begin = |pair| {
                barrier.wait();
                let lock = Lock::both(pair).ok();
                barrier.wait();
                lock.is_some()
            };
            let won = std::thread::scope(|scope| {
                let all: Vec<_> = pairs.iter().map(|pair| scope.spawn(move || begin(pair))).collect();
                all.into_iter().map(|thread| thread.join().unwrap()).filter(|won| *won).count()
            });
            assert_eq!(won, 1);
        }
    }
}
