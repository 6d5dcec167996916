//! Types of interfaces whose names say how fast they are.

use perhop_core::units::BitRate;

/// Types by name, with their rate in Mbit/s and whether it is the name that perhop writes for it.
pub(crate) const SPEEDS: [(&str, u64, bool); 15] = [
    ("Ethernet", 10, true),
    ("FastEthernet", 100, true),
    ("GigabitEthernet", 1_000, true),
    ("TwoGigabitEthernet", 2_500, true),
    ("FiveGigabitEthernet", 5_000, true),
    ("TenGigabitEthernet", 10_000, true),
    ("TenGigE", 10_000, false),
    ("TwentyFiveGigabitEthernet", 25_000, false),
    ("TwentyFiveGigE", 25_000, true),
    ("FortyGigabitEthernet", 40_000, true),
    ("FortyGigE", 40_000, false),
    ("FiftyGigE", 50_000, false),
    ("HundredGigabitEthernet", 100_000, false),
    ("HundredGigE", 100_000, true),
    ("FourHundredGigE", 400_000, false),
];

/// What an interface of this name sends at most, if the name says it.
pub(crate) fn nominal(name: &str) -> Option<BitRate> {
    let kind = name.trim_end_matches(|c: char| !c.is_alphabetic());
    let kind = kind.get(..kind.find(|c: char| !c.is_alphabetic()).unwrap_or(kind.len()))?;
    SPEEDS.iter().find(|(known, ..)| known.eq_ignore_ascii_case(kind)).map(|(_, mbit, _)| BitRate::mbps(*mbit))
}
