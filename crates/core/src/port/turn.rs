//! Who may call the hooks of conditioners, AQMs and schedulers: the port alone, in its order.
//!
//! Decision: docs/decisions/029-the-port-is-in-the-core.md

use std::ops::Deref;

/// What a hook is given. Only the port makes one, so no host can call a hook, and none in another order; there it is what
/// it holds, and costs nothing.
///
/// A host cannot make one, and what it cannot make it cannot give:
///
/// ```compile_fail,E0624
/// # use perhop_core::{Rng, aqm::{AnyAqm, Aqm, Arrival}, packet::Packet, port::Turn};
/// fn host(aqm: &mut AnyAqm, at: &Arrival, packet: &mut Packet, rng: &mut Rng) {
///     aqm.on_arrival(Turn::new(at), packet, rng);
/// }
/// ```
///
/// ```compile_fail,E0423
/// # use perhop_core::{Rng, aqm::{AnyAqm, Aqm, Arrival}, packet::Packet, port::Turn};
/// fn host(aqm: &mut AnyAqm, at: &Arrival, packet: &mut Packet, rng: &mut Rng) {
///     aqm.on_arrival(Turn(at), packet, rng);
/// }
/// ```
///
/// ```compile_fail,E0308
/// # use perhop_core::{Rng, aqm::{AnyAqm, Aqm, Arrival}, packet::Packet, port::Turn};
/// fn host(aqm: &mut AnyAqm, at: &Arrival, packet: &mut Packet, rng: &mut Rng) {
///     aqm.on_arrival(at, packet, rng);
/// }
/// ```
///
/// The same as a test does it, with the feature `testing`, which nothing has that users get:
///
/// ```
/// # use perhop_core::{Rng, aqm::{AnyAqm, Aqm, Arrival}, packet::Packet, port::Turn};
/// fn test(aqm: &mut AnyAqm, at: &Arrival, packet: &mut Packet, rng: &mut Rng) {
///     aqm.on_arrival(Turn::testing(at), packet, rng);
/// }
/// ```
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Turn<T>(T);

impl<T> Turn<T> {
    /// For the port.
    #[inline(always)]
    pub(super) const fn new(of: T) -> Self {
        Self(of)
    }

    /// For tests of a hook and whoever measures one by itself, and no host.
    #[cfg(any(test, feature = "testing"))]
    #[inline(always)]
    pub const fn testing(of: T) -> Self {
        Self(of)
    }
}

impl<T> Deref for Turn<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}
