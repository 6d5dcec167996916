//! E276: packets that a link on their way cannot carry. The simulator does not fragment.

use crate::resolve::offered::Flowline;
use crate::resolve::ports::File;
use crate::resolve::topology::Direction;
use perhop_core::params::{Problems, key};
use perhop_sim::traffic::quic::LEAST_MTU;
use perhop_sim::traffic::{TrafficModel as _, Transport};

/// Reports the traffic with the largest packets on each link that cannot carry them.
pub fn check(file: File<'_>, problems: &mut Problems) {
    for (index, link) in file.topology.links.iter().enumerate().filter(|(_, link)| link.mtu.is_some()) {
        let over = file.crossing.either(index).map(|(i, _)| &file.traffic[i]);
        let sizes = over.filter_map(|flow| Some((size(flow, index as u32)?, flow)));
        if let Some((size, flow)) = sizes.max_by_key(|(size, flow)| (*size, std::cmp::Reverse(flow.offered.class))) {
            carry(link, size, flow, problems);
        }
    }
}

/// IP length of the largest packet that a traffic sends over a link, if it does.
fn size(flow: &Flowline, link: u32) -> Option<u32> {
    let there = flow.forward.contains(&link).then_some(flow.data);
    let back = flow.backward.contains(&link).then_some(flow.ack);
    there.max(back)
}

fn carry(link: &Direction, size: u32, flow: &Flowline, problems: &mut Problems) {
    let Some(mtu) = link.mtu.filter(|mtu| mtu.get() < u64::from(size)) else { return };
    let name = &flow.offered.name;
    let message = format!("packets of traffic `{name}` are larger than the MTU of `{}`", link.name);
    let header = u64::from(flow.offered.tcp.header);
    let smaller = match flow.offered.model.transport() {
        Transport::Quic(_) if *mtu >= LEAST_MTU => format!("write `mtu = \"{}\"` in [traffic.{}]", *mtu, key(name)),
        Transport::Quic(_) => format!("choose another path: QUIC needs packets of {LEAST_MTU}"),
        Transport::Tcp if mtu.get() > header => {
            format!("write a `segment` of at most {}B in `tcp`", mtu.get() - header)
        }
        Transport::Tcp | Transport::Udp => format!("send packets of at most {}", *mtu),
    };
    let help = format!("{smaller}, or raise the link's `mtu` to {size}B or more: links do not fragment");
    problems.error("E276", mtu.place, message).label(format!("the largest is {size}B")).help(help);
}
