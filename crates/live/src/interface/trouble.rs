//! Why a forwarder may not have two interfaces, with the line to type.

use std::fmt;
use std::io;

use super::facts::Facts;

/// What is wrong, and what mends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// What is wrong, with the value and its bound.
    pub what: String,
    /// The line to type, or what to do.
    pub fix: String,
}

impl Trouble {
    /// Another forwarder has `user`, which is `name`, or is above or below it.
    pub(super) fn used(name: &str, user: &str) -> Self {
        let whose =
            if name == user { name.to_owned() } else { format!("{name} shares frames with {user}, and {user}") };
        let what = format!("{whose} is in use by another `perhop forward`: packets would pass twice");
        Self { what, fix: "end that one (pgrep -af \"perhop forward\"), or name other interfaces".into() }
    }

    /// An interface could not be taken.
    pub(super) fn untaken(side: &Facts, error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::AddrInUse => Self::used(&side.name, &side.name),
            _ => Self { what: format!("{}: {error}", side.name), fix: "allow sockets of AF_UNIX".into() },
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n   help: {}", self.what, self.fix)
    }
}

/// All that speaks against two interfaces, those of `--in` and `--out`.
pub fn troubles(sides: &[Facts; 2]) -> Vec<Trouble> {
    let [a, b] = sides;
    let mut all: Vec<_> = sides.iter().flat_map(alone).collect();
    if a.name == b.name {
        let what = format!("--in and --out are both {}", a.name);
        all.push(Trouble { what, fix: "name two interfaces: packets come in on one and leave on the other".into() });
    }
    if b.stack.iter().any(|layer| layer.name == a.name) {
        let what = format!("{} and {} share frames, one is above the other: packets would pass twice", a.name, b.name);
        all.push(Trouble { what, fix: "name two interfaces that carry different frames".into() });
    }
    if a.mtu != b.mtu {
        let (small, large) = if a.mtu < b.mtu { (a, b) } else { (b, a) };
        let what = format!(
            "{} has an MTU of {} and {} of {}: larger packets would be lost",
            small.name, small.mtu, large.name, large.mtu
        );
        all.push(Trouble { what, fix: format!("ip link set {} mtu {}", large.name, small.mtu) });
    }
    all
}

fn alone(it: &Facts) -> Vec<Trouble> {
    let name = &it.name;
    let mut all = Vec::new();
    let mut add = |what: String, fix: String| all.push(Trouble { what, fix });
    if !it.ethernet {
        add(format!("{name} is not an Ethernet"), "name an interface whose frames have Ethernet headers".into());
    }
    if !it.up {
        add(format!("{name} is down"), format!("ip link set {name} up"));
    }
    for address in &it.addresses {
        let why = "the kernel would answer for packets that pass";
        add(format!("{name} has the address {address}: {why}"), format!("ip address del {address} dev {name}"));
    }
    if let Some(master) = &it.master {
        let why = "packets would pass twice";
        add(format!("{name} is a port of {master}: {why}"), format!("ip link set {name} nomaster"));
    }
    for key in &it.forwarding {
        let why = "the kernel forwards too, so packets would pass twice";
        add(format!("{key} is 1: {why}"), format!("sysctl -w {key}=0"));
    }
    all.extend(it.used.iter().map(|user| Trouble::used(name, user)));
    all
}

#[cfg(test)]
mod tests {
    use super::super::facts::Layer;
    use super::*;

    fn good(name: &str) -> Facts {
        Facts { name: name.into(), up: true, ethernet: true, mtu: 1500, ..Facts::default() }
    }

    #[test]
    fn two_plain_interfaces_are_fine() {
        assert_eq!(troubles(&[good("a"), good("b")]), []);
    }

    /// Each fault is told once, with its line.
    #[test]
    fn says_the_line_to_type() {
        let faulty = Facts {
            up: false,
            mtu: 9000,
            addresses: vec!["10.0.0.1/24".into()],
            master: Some("br0".into()),
            forwarding: vec!["net.ipv4.conf.a.forwarding".into()],
            used: vec!["a".into(), "a.5".into()],
            ..good("a")
        };
        let fixes: Vec<_> = troubles(&[faulty, good("b")]).into_iter().map(|it| it.fix).collect();
        let expected = [
            "ip link set a up",
            "ip address del 10.0.0.1/24 dev a",
            "ip link set a nomaster",
            "sysctl -w net.ipv4.conf.a.forwarding=0",
            "end that one (pgrep -af \"perhop forward\"), or name other interfaces",
            "end that one (pgrep -af \"perhop forward\"), or name other interfaces",
            "ip link set a mtu 1500",
        ];
        assert_eq!(fixes, expected);
        assert_eq!(troubles(&[good("a"), good("a")])[0].what, "--in and --out are both a");
        let above = Facts { stack: vec![Layer { name: "a".into(), index: 7 }], ..good("a.5") };
        assert!(troubles(&[good("a"), above])[0].what.contains("a and a.5 share frames"));
        assert_eq!(troubles(&[Facts { ethernet: false, ..good("a") }, good("b")])[0].what, "a is not an Ethernet");
    }
}
