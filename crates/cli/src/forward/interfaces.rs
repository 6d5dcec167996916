//! Both interfaces, looked at before anything is touched.

use super::policy::Read;
use crate::Failure;
use crate::args::Forward;
use perhop_core::units::counted;
use perhop_live::interface::{Facts, NET_ADMIN, NET_RAW, Offloads, Right, SYS_NICE, Trouble, keep, names, troubles};
use perhop_live::{AfPacket, OpenError};
use std::io;

/// Interfaces that may be had.
pub(super) struct Checked {
    sides: [Facts; 2],
}

impl Checked {
    /// # Errors
    /// Everything that speaks against them, in one pass.
    pub(super) fn of(args: &Forward) -> Result<Self, Failure> {
        let asked = [("--in", &args.inside), ("--out", &args.outside)];
        let found = asked.map(|(option, name)| Facts::of(name).map_err(|error| missing(option, name, &error)));
        let mut all = rights(args);
        let sides = match found {
            [Ok(a), Ok(b)] => Some([a, b]),
            found => {
                all.splice(..0, found.into_iter().filter_map(Result::err));
                None
            }
        };
        all.extend(sides.iter().flat_map(troubles));
        sides.filter(|_| all.is_empty()).map(|sides| Self { sides }).ok_or_else(|| refused(&all))
    }

    pub(super) fn names(&self) -> [&str; 2] {
        self.sides.each_ref().map(|side| side.name.as_str())
    }

    /// Opens both.
    pub(super) fn open(&self) -> Result<[AfPacket; 2], Failure> {
        let open = |side: &Facts| AfPacket::open(&side.name, side.mtu).map_err(|error| unopened(&error));
        let [a, b] = self.sides.each_ref().map(open);
        Ok([a?, b?])
    }

    /// Switches offloads off if that was asked for; they are on again when what comes back is dropped.
    pub(super) fn fix(&self, args: &Forward) -> Result<Vec<Offloads>, Failure> {
        let fix = |name: &&str| {
            Offloads::fix(name)
                .map_err(|error| Failure::Error(format!("error[E030] {name}: cannot set offloads: {error}")))
        };
        self.names().iter().filter(|_| args.fix_offloads).map(fix).collect()
    }

    /// One line for the log.
    pub(super) fn begun(&self, args: &Forward) -> String {
        let [a, b] = self.names();
        format!("forwarding {a} -> {b} through {}; Ctrl-C or SIGTERM ends it", args.policy.display())
    }

    /// What would be done.
    pub(super) fn plan(&self, args: &Forward, policy: &Read) -> String {
        let [a, b] = self.names();
        let mut lines = vec![format!("{a} -> {b}: {}", policy.summary()), format!("{b} -> {a}: passes")];
        for name in [a, b] {
            for offload in Offloads::on(name).unwrap_or_default() {
                let line = format!("ethtool -K {name} {} off", offload.name());
                lines.push(match args.fix_offloads {
                    true => format!("would do: {line}"),
                    false => format!("note: frames above the MTU are lost; {line}, or --fix-offloads"),
                });
            }
        }
        lines.push("nothing was touched".into());
        lines.join("\n")
    }
}

/// Rights that are missing.
fn rights(args: &Forward) -> Vec<Trouble> {
    let needed = [
        (NET_RAW, "packet sockets need", true),
        (NET_ADMIN, "--fix-offloads needs", args.fix_offloads),
        (SYS_NICE, "--real-time needs", args.real_time),
    ];
    let missing = needed.into_iter().filter(|(right, _, needed)| *needed && !right.is_here());
    missing.map(|(right, why, _)| Trouble { what: format!("{why} {}", right.name), fix: grant(right) }).collect()
}

/// What is still needed once packets pass: the interfaces' settings, where they are to be undone. Packet sockets that are
/// open need no right, and the policy is read again as this user.
pub(super) fn give_up_rights(args: &Forward) -> Result<(), Failure> {
    let kept: &[Right] = if args.fix_offloads { &[NET_ADMIN] } else { &[] };
    keep(kept).map_err(|error| Failure::Error(format!("error[E030] cannot give up rights: {error}")))
}

/// Real-time scheduling, if that was asked for.
pub(super) fn real_time(args: &Forward) -> Result<(), Failure> {
    let refused =
        |error: io::Error| Failure::Error(format!("error[E030] --real-time: {error}\n   help: {}", grant(SYS_NICE)));
    if args.real_time { perhop_live::real_time().map_err(refused) } else { Ok(()) }
}

fn grant(right: Right) -> String {
    let name = right.name.to_lowercase();
    format!("run it as root, or: sudo setcap {name}+ep \"$(command -v perhop)\"")
}

fn missing(option: &str, name: &str, error: &io::Error) -> Trouble {
    const NO_SUCH: [Option<i32>; 2] = [Some(19), Some(6)];
    let known = names().iter().any(|it| it == name);
    if !known && (NO_SUCH.contains(&error.raw_os_error()) || error.kind() == io::ErrorKind::NotFound) {
        let fix = "`ip -brief link` lists those of this machine or namespace".into();
        return Trouble { what: format!("{option} {name}: there is no such interface"), fix };
    }
    Trouble { what: format!("{option} {name}: {error}"), fix: "see `ip link show`".into() }
}

fn unopened(error: &OpenError) -> Failure {
    Failure::Error(format!(
        "error[E030] {error}\n   help: packet(7) says what it needs: CAP_NET_RAW, and memory for rings"
    ))
}

fn refused(all: &[Trouble]) -> Failure {
    let lines: Vec<_> = all.iter().map(|trouble| format!("error[E030] {trouble}")).collect();
    Failure::Error(format!("{}\n{}, nothing was touched", lines.join("\n"), counted(all.len(), ["error", "errors"])))
}
