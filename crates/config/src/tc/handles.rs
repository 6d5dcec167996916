//! Handles of queueing disciplines, numbers of classes, and the places of an interface that have numbers, too.

use super::units::{class, handle};
use super::words::{Refusal, Taken, Token};

/// Where the first queueing discipline of an interface is.
pub(super) const ROOT: u32 = 0xffff_ffff;
/// Where `ingress` and `clsact` are.
pub(super) const INGRESS: u32 = 0xffff_fff1;
/// Filters of packets that come in.
pub(super) const AT_INGRESS: u32 = 0xffff_fff2;
/// Filters of packets that go out, before the queues.
pub(super) const AT_EGRESS: u32 = 0xffff_fff3;
/// The handle of `ingress` and `clsact`.
pub(super) const INGRESS_HANDLE: u32 = 0xffff_0000;
/// The first handle that the kernel gives itself.
pub(super) const OWN_HANDLES: u32 = 0x8001_0000;

/// A handle or the number of a class.
///
/// # Errors
/// It is none.
pub(super) fn id(token: &Token<'_>) -> Taken<u32> {
    set(token)?;
    let named = match &*token.text {
        "root" => Some(ROOT),
        "ingress" => Some(AT_INGRESS),
        "egress" => Some(AT_EGRESS),
        "none" => Some(0),
        text => class(text),
    };
    named.ok_or_else(|| Refusal::at(token, format!("`{}` is no handle", token.text)).instead("1: or 1:10, hexadecimal"))
}

/// The handle of a queueing discipline.
pub(super) fn qdisc_id(token: &Token<'_>) -> Taken<u32> {
    set(token)?;
    let found = if token.text == "none" { Some(0) } else { handle(&token.text) };
    found.ok_or_else(|| Refusal::at(token, format!("`{}` is no handle", token.text)).instead("1:, hexadecimal"))
}

/// # Errors
/// Part of it is a shell variable that the text does not set.
fn set(token: &Token<'_>) -> Taken<()> {
    if !token.unset {
        return Ok(());
    }
    let message = format!("`{}` has a shell variable that this text does not set", token.text);
    Err(Refusal::at(token, message).instead("write its value, and a line for each value of a loop or a function"))
}

/// The numbers of a queueing discipline and its classes, without the places that stand for something else.
pub(super) fn own(handle: u32) -> std::ops::RangeInclusive<u32> {
    handle..=(handle | 0xffff).min(INGRESS - 1)
}
