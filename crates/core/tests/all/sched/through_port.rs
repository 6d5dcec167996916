//! Schedulers over flows in a port's tree: the same packets go as before the plainest line.

use super::flow_contract::{Step, flowing, params, run, steps};
use super::flow_line::Host;
use super::line::scope;
use perhop_core::aqm::{AqmParams, drop_tail};
use perhop_core::conditioner::Passage;
use perhop_core::packet::{Ecn, FlowId, Packet};
use perhop_core::port::{Buffers, Inside, Limit, NodeSpec, Port, PortSpec, QueueSpec, Side};
use perhop_core::sched::SchedulerParams;
use perhop_core::units::Time;
use perhop_core::verdict::{Fate, Reason};
use proptest::prelude::*;

/// The packets of a port, by number, and those that it dropped.
#[derive(Default)]
struct Store {
    packets: Vec<Packet>,
    dropped: Vec<u32>,
}

impl Buffers<u32> for Store {
    fn packet(&mut self, handle: u32) -> &mut Packet {
        &mut self.packets[handle as usize]
    }

    fn dropped(&mut self, handle: u32, _reason: Reason) {
        self.dropped.push(handle);
    }
}

fn port(params: &SchedulerParams) -> Port<u32> {
    let node = |parent, inside| NodeSpec { parent, shaper: None, inside, scope: scope() };
    let nodes = [node(None, Inside::Scheduler(params.clone())), node(Some(0), Inside::Queue(0))];
    let aqm = AqmParams::DropTail(drop_tail::Params {});
    let queues = [QueueSpec { aqm, limit: Limit::Packets(u32::MAX), drop: Side::Tail, scope: scope() }];
    let spec = PortSpec { name: "p", edge: &[], queues: &queues, nodes: &nodes, seed: 1, replication: 0 };
    spec.build().unwrap()
}

/// What is sent, marked and dropped.
fn through_port(params: &SchedulerParams, steps: &[Step]) -> [Vec<u32>; 3] {
    let (mut port, mut store) = (port(params), Store::default());
    let (mut now, mut sent, mut fields) = (Time::ZERO, Vec::new(), Vec::new());
    for step in steps {
        // A packet for each step, so that the numbers are those of the steps.
        let mut packet = Packet::default();
        if let Step::Arrive(flow, size, ecn) = *step {
            packet = Packet { size, flow: FlowId(flow), ecn, ..packet };
        }
        let handle = store.packets.len() as u32;
        fields.push(packet.ecn);
        store.packets.push(packet);
        while let Some(due) = port.poll_at().filter(|due| *due <= now) {
            port.on_timer(due);
        }
        match *step {
            Step::Wait(ns) => now = Time::from_ns(now.ns() + ns),
            Step::Send => sent.extend(port.next(now, &mut store).map(|leaving| leaving.handle)),
            Step::Arrive(..) => {
                if let Fate::Dropped(_) = port.arrive(&Passage::of(now, packet.flow), &mut packet, handle) {
                    store.dropped.push(handle);
                }
                if port.evicts() {
                    port.evict(now, &mut store);
                }
            }
        }
    }
    let marked = |i: &u32| store.packets[*i as usize].ecn == Ecn::Ce && fields[*i as usize] != Ecn::Ce;
    let marked = (0..fields.len() as u32).filter(marked).collect();
    [sent, marked, store.dropped]
}

proptest! {
    #[test]
    fn a_port_sends_drops_and_marks_the_same(steps in steps(), name in prop::sample::select(flowing())) {
        let params = params(name);
        let mut host = Host::new(&params);
        let sent: Vec<_> = run(&mut host, &steps, |_, _| {}).iter().map(|packet| packet.id).collect();
        // A packet that carries CE already stays as it is.
        let fresh = |id: &u32| !matches!(steps[*id as usize], Step::Arrive(_, _, Ecn::Ce));
        let mut marked: Vec<_> = host.log.marked.iter().copied().filter(fresh).collect();
        marked.sort_unstable();
        prop_assert_eq!(through_port(&params, &steps), [sent, marked, host.log.dropped]);
    }
}
