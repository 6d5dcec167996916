//! Both interfaces, and all that a start needs, looked at before anything is touched.

use super::metrics::Listening;
use super::policy::Read;
use super::trace;
use crate::Failure;
use crate::request::Forward;
use perhop_edge::Host;
use perhop_live::interface::{
    Facts, Lock, NET_ADMIN, NET_RAW, Offloads, Right, SYS_NICE, Trouble, keep, names, troubles,
};
use perhop_live::{AfPacket, OpenError};
use perhop_scenario::{Diagnostic, Diagnostics};
use std::{fs, io, thread};

/// What a start and a dry run have looked at: interfaces that may be had.
pub(super) struct Checked {
    sides: [Facts; 2],
    listening: Option<Listening>,
    /// Lines about what a start would warn of.
    notes: Vec<String>,
}

impl Checked {
    /// # Errors
    /// Everything that speaks against a start, in one pass.
    pub(super) fn of(args: &Forward, policy: &Read) -> Result<Self, Failure> {
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
        let mut all: Vec<_> = all.iter().map(of_trouble).collect();
        all.extend(Host::new(policy.edge(args)).err().map(|error| Diagnostic::error("E030", error.to_string(), "")));
        let mut keep = |failure: Failure| match failure {
            Failure::Refused { found, .. } => all.extend(found.list),
            Failure::Interrupted(why) => all.push(Diagnostic::of_call(why, "")),
        };
        let listening = args.seen.metrics.and_then(|port| Listening::on(port).map_err(&mut keep).ok());
        let mut notes = sides.iter().flatten().flat_map(|side| long_frames(args, side)).collect::<Vec<_>>();
        let names = [&args.inside, &args.outside].map(String::as_str);
        let later = without_rights(|| trace::check(args, names, policy).map(|left| (left, unreadable(args))));
        let (left, unreadable) = later.map_err(keep).unwrap_or_default();
        notes.extend(left.into_iter().chain(unreadable));
        let sides = sides.filter(|_| all.is_empty()).ok_or_else(|| refused(all))?;
        Ok(Self { sides, listening, notes })
    }

    /// Lines about what is no reason not to begin.
    pub(super) fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The port of `--metrics`, once.
    pub(super) fn listening(&mut self) -> Option<Listening> {
        self.listening.take()
    }

    /// Keeps other forwarders from both interfaces.
    ///
    /// # Errors
    /// One was faster.
    pub(super) fn lock(&self) -> Result<[Lock; 2], Failure> {
        Lock::both(&self.sides).map_err(|trouble| refused(vec![of_trouble(&trouble)]))
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
                .map_err(|error| Failure::error("E030", format!("{name}: cannot set offloads: {error}"), ""))
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
        if args.fix_offloads {
            lines.extend(self.sides.iter().flat_map(offloads_off).map(|line| format!("would do: {line}")));
        }
        lines.extend(self.notes.iter().cloned());
        lines.push("nothing was touched".into());
        lines.join("\n")
    }
}

/// The lines that switch off what is on of the offloads.
fn offloads_off(side: &Facts) -> Vec<String> {
    let on = Offloads::on(&side.name).unwrap_or_default();
    on.iter().map(|offload| format!("ethtool -K {} {} off", side.name, offload.name())).collect()
}

/// What is said of offloads that stay on.
fn long_frames(args: &Forward, side: &Facts) -> Vec<String> {
    let stay = if args.fix_offloads { Vec::new() } else { offloads_off(side) };
    stay.iter().map(|line| format!("note: frames above the MTU are lost; {line}, or --fix-offloads")).collect()
}

/// What a thread finds that has given up its rights, as this one will have when packets pass.
fn without_rights<T: Send>(look: impl FnOnce() -> Result<T, Failure> + Send) -> Result<T, Failure> {
    let rightless = || keep(&[]).map_err(|error| kept_rights(&error)).and_then(|()| look());
    thread::scope(|scope| scope.spawn(rightless).join()).expect("it does not panic")
}

/// Whether SIGHUP would not find a policy to read; it opens no pipe, which would wait for its other end.
fn unreadable(args: &Forward) -> Option<String> {
    let error = fs::metadata(&args.policy)
        .and_then(|it| if it.is_file() { fs::File::open(&args.policy).map(drop) } else { Ok(()) });
    error.err().map(|error| format!("note: SIGHUP cannot read {}: {error}", args.policy.display()))
}

fn kept_rights(error: &io::Error) -> Failure {
    Failure::error("E030", format!("cannot give up rights: {error}"), "")
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
    keep(kept).map_err(|error| kept_rights(&error))
}

/// Real-time scheduling, if that was asked for.
pub(super) fn real_time(args: &Forward) -> Result<(), Failure> {
    let refused = |error: io::Error| Failure::error("E030", format!("--real-time: {error}"), grant(SYS_NICE));
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
    Failure::error("E030", error.to_string(), "packet(7) says what it needs: CAP_NET_RAW, and memory for rings")
}

fn refused(list: Vec<Diagnostic>) -> Failure {
    Failure::Refused { found: Diagnostics { list }, therefore: "nothing was touched" }
}

fn of_trouble(Trouble { what, fix }: &Trouble) -> Diagnostic {
    Diagnostic::error("E030", what, fix)
}

/// Interfaces went away while packets passed: a service manager begins again when they are back.
pub(super) fn gone(names: &[&str]) -> Failure {
    let line = |name: &&str| {
        let what = "the interface was deleted or left this network namespace, so nothing passes";
        let help = format!("begin again when {name} is back, as systemd does with contrib/perhop-forward@.service");
        Diagnostic::error("E031", format!("{name}: {what}"), help)
    };
    Diagnostics { list: names.iter().map(line).collect() }.into()
}
