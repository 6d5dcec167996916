//! Why a forwarder may not have two interfaces, with the line to type.

use std::fmt;

use super::facts::Facts;

/// What is wrong, and what mends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// What is wrong, with the value and its bound.
    pub what: String,
    /// The line to type, or what to do.
    pub fix: String,
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
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good(name: &str) -> Facts {
        let (addresses, forwarding) = Default::default();
        Facts { name: name.into(), up: true, ethernet: true, mtu: 1500, addresses, master: None, forwarding }
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
            ..good("a")
        };
        let fixes: Vec<_> = troubles(&[faulty, good("b")]).into_iter().map(|it| it.fix).collect();
        let expected = [
            "ip link set a up",
            "ip address del 10.0.0.1/24 dev a",
            "ip link set a nomaster",
            "sysctl -w net.ipv4.conf.a.forwarding=0",
            "ip link set a mtu 1500",
        ];
        assert_eq!(fixes, expected);
        assert_eq!(troubles(&[good("a"), good("a")])[0].what, "--in and --out are both a");
        assert_eq!(troubles(&[Facts { ethernet: false, ..good("a") }, good("b")])[0].what, "a is not an Ethernet");
    }
}
