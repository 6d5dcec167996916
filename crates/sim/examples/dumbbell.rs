//! The speed workload of `perhop bench`: N NewReno flows through one RED bottleneck, RTT 40 ms.
//!
//! `cargo run --release --example dumbbell -p perhop-sim -- 100 100 60` : flows, Mbit/s, seconds.

use perhop_core::aqm::AqmParams;
use perhop_core::dscp::Dscp;
use perhop_core::params::{Place, Problems, Reader, Table, Tree};
use perhop_core::queue::Limit;
use perhop_core::units::{BitRate, Length, Packets, Probability, Span, Time};
use perhop_core::{Scope, aqm};
use perhop_sim::plan::{Link, Node, Offered, Plan};
use perhop_sim::traffic::TrafficParams;
use perhop_sim::{EngineOptions, Simulation, transport};

fn table(entries: Vec<(&str, Tree)>) -> Table {
    let Tree::Table(table) = Tree::table(entries) else { unreachable!() };
    table
}

fn aqm(name: &str, entries: Vec<(&str, Tree)>) -> AqmParams {
    let (table, mut problems) = (table(entries), Problems::default());
    let read = aqm::AqmParams::read(name, Place::default(), &mut Reader::new(&table, Place::default(), &mut problems));
    read.unwrap_or_else(|| panic!("{problems:?}"))
}

fn link(from: usize, to: usize, rate: BitRate, delay: Span) -> Link {
    Link {
        name: format!("{from} -> {to}"),
        from,
        to,
        rate,
        delay,
        loss: Probability::ZERO,
        aqm: aqm("drop-tail", vec![]),
        limit: Limit::Packets(100_000),
        scope: Scope::default(),
        edge: vec![],
    }
}

fn plan(n: usize, mbps: u64, seconds: u64) -> Plan {
    let bdp = (mbps as f64 * 1e6 * 0.040 / 8.0 / 1000.0) as u32;
    let nodes: Vec<_> = (0..2 * n + 2)
        .map(|i| Node {
            name: format!("n{i}"),
            address: std::net::Ipv4Addr::new(10, 0, (i / 250) as u8, (i % 250) as u8),
        })
        .collect();
    let (r1, r2) = (2 * n, 2 * n + 1);
    let mut bottleneck = link(r1, r2, BitRate::mbps(mbps), Span::from_ms(18));
    bottleneck.limit = Limit::Packets(bdp);
    bottleneck.scope = Scope {
        link_rate: Some(BitRate::mbps(mbps)),
        limit: Some(Length::Packets(Packets::new(bdp))),
        ..Scope::default()
    };
    bottleneck.aqm = aqm(
        "red",
        vec![
            ("min", Tree::Text(format!("{}p", bdp / 10))),
            ("max", Tree::Text(format!("{}p", bdp * 3 / 10))),
            ("max-p", Tree::Float(0.1)),
            ("wq", Tree::Float(0.002)),
            ("beyond", Tree::Text("gentle".into())),
            ("spacing", Tree::Text("wait".into())),
        ],
    );
    let mut links = vec![bottleneck, link(r2, r1, BitRate::mbps(mbps), Span::from_ms(18))];
    let mut traffic = Vec::new();
    for i in 0..n {
        let (s, d, fast, ms) = (i, n + i, BitRate::mbps(10 * mbps), Span::from_ms(1));
        links.extend([link(s, r1, fast, ms), link(r1, s, fast, ms), link(r2, d, fast, ms), link(d, r2, fast, ms)]);
        traffic.push(Offered {
            name: format!("f{i}"),
            class: 0,
            from: s,
            to: d,
            flows: 1,
            start: Time::from_ns(i as u64 * 1_000_000_000 / n as u64),
            spread: Span::ZERO,
            stop: None,
            model: TrafficParams::Ftp(perhop_sim::traffic::ftp::Params {}),
            tcp: transport::Config { window: 100_000, ..transport::Config::default() },
            dscp: Dscp::BE,
            ect: false,
        });
    }
    Plan {
        seed: 1,
        replication: 0,
        duration: Span::from_s(seconds),
        warmup: Span::ZERO,
        overhead: 0,
        nodes,
        links,
        classes: vec!["all".into()],
        traffic,
        sample_every: None,
        taps: vec![],
    }
}

fn main() {
    let arg = |i: usize, default: u64| std::env::args().nth(i).map_or(default, |a| a.parse().expect("a number"));
    let plan = plan(arg(1, 100) as usize, arg(2, 100), arg(3, 60));
    let simulation = Simulation::new(plan, EngineOptions::default()).expect("a valid plan");
    let cpu = cpu_time();
    let outcome = simulation.run(|_| true).expect("not interrupted");
    let spent = cpu_time() - cpu;
    let bottleneck: u64 = outcome.hops.iter().filter(|h| h.link == 0).map(|h| h.delivered.packets).sum();
    let ns = spent * 1e9 / outcome.packet_hops as f64;
    println!(
        "bottleneck {bottleneck} hops {} events {} cpu {spent:.3} s, {ns:.1} ns/hop",
        outcome.packet_hops, outcome.events
    );
    println!("{:?}", outcome.breaches.first());
}

/// CPU seconds of this process.
fn cpu_time() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux");
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    (fields[11].parse::<f64>().unwrap_or(0.0) + fields[12].parse::<f64>().unwrap_or(0.0)) / 100.0
}
