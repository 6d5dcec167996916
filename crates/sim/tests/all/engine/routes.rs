//! Routes against Floyd and Warshall, and by the packets that take them.

use crate::common::net::{Net, cbr};
use perhop_core::units::{BitRate, Span};
use perhop_sim::net::Router;
use perhop_sim::plan::Link;
use perhop_sim::{EngineOptions, PlanError, Simulation};
use proptest::prelude::*;

/// Hops, then delay in ms; `None`: no way.
type Cost = Option<(u32, u64)>;

fn cost(link: &Link) -> (u32, u64) {
    (1, link.delay.ns() / 1_000_000)
}

fn sum(a: Cost, b: Cost) -> Cost {
    let ((a, da), (b, db)) = (a?, b?);
    Some((a + b, da + db))
}

fn least(a: Cost, b: Cost) -> Cost {
    a.into_iter().chain(b).min()
}

/// All pairs, slowly.
fn all_pairs(links: &[Link], nodes: usize) -> Vec<Vec<Cost>> {
    let mut best = vec![vec![None; nodes]; nodes];
    (0..nodes).for_each(|n| best[n][n] = Some((0, 0)));
    for link in links {
        best[link.from][link.to] = least(best[link.from][link.to], Some(cost(link)));
    }
    for k in 0..nodes {
        for i in 0..nodes {
            for j in 0..nodes {
                best[i][j] = least(best[i][j], sum(best[i][k], best[k][j]));
            }
        }
    }
    best
}

/// Cost of a route, which must lead from one node to the other.
fn walked(links: &[Link], route: Option<Vec<u32>>, (from, to): (usize, usize)) -> Cost {
    let mut at = (from, (0, 0));
    for link in route?.into_iter().map(|l| &links[l as usize]) {
        assert_eq!(link.from, at.0);
        at = (link.to, (at.1.0 + cost(link).0, at.1.1 + cost(link).1));
    }
    assert_eq!(at.0, to);
    Some(at.1)
}

/// Links as (from, to, delay in ms), a node not linked to itself; some are parallel.
fn any_links(nodes: usize) -> impl Strategy<Value = Vec<(usize, usize, u64)>> {
    let link = (0..nodes, 1..nodes, 0u64..4).prop_map(move |(from, step, ms)| (from, (from + step) % nodes, ms));
    prop::collection::vec(link, 0..30)
}

fn network(nodes: usize, links: &[(usize, usize, u64)]) -> Net {
    let mut net = Net::new(nodes, Span::from_s(1));
    links.iter().for_each(|&(from, to, ms)| {
        net.link([from, to], BitRate::mbps(10), Span::from_ms(ms));
    });
    net
}

proptest! {
    #[test]
    fn routes_are_the_shortest(links in any_links(8)) {
        let links = network(8, &links).plan.links;
        let (best, router) = (all_pairs(&links, 8), Router::new(&links, 8));
        for (from, to) in (0..64).map(|pair| (pair / 8, pair % 8)) {
            prop_assert_eq!(walked(&links, router.route(from, to), (from, to)), best[from][to], "{} to {}", from, to);
        }
    }

    /// A plan is refused exactly if there is no route there or no route back.
    #[test]
    fn what_cannot_be_reached_is_refused(links in any_links(5)) {
        let mut net = network(5, &links);
        net.traffic([0, 4], cbr(BitRate::mbps(1), 1000)).name = "lost".into();
        let best = all_pairs(&net.plan.links, 5);
        let refused = |node: &str| Some(PlanError::Unreachable { traffic: "lost".into(), node: node.into() });
        let expected = match (best[0][4], best[4][0]) {
            (None, _) => refused("n4"),
            (_, None) => refused("n0"),
            _ => None,
        };
        prop_assert_eq!(Simulation::new(net.plan, EngineOptions::default()).err(), expected);
    }
}

/// Of equal links between two nodes the first of the file.
#[test]
fn of_parallel_links_the_first_is_taken() {
    let links = network(2, &[(1, 0, 1), (0, 1, 2), (0, 1, 1), (0, 1, 1)]).plan.links;
    assert_eq!(Router::new(&links, 2).route(0, 1), Some(vec![2]));
}

/// Packets take the route that the router says: five links in a ring, three hops one way, two the other.
#[test]
fn packets_take_the_shorter_way_round() {
    let mut net = Net::new(5, Span::from_s(1));
    for n in 0..5 {
        net.duplex([n, (n + 1) % 5], BitRate::mbps(10), Span::from_ms(if n < 2 { 1 } else { 10 }));
    }
    net.traffic([0, 3], cbr(BitRate::mbps(1), 1000));
    let outcome = net.run();
    let mut used: Vec<&str> = outcome.ports.hops.iter().map(|h| &*net.plan.links[h.link].name).collect();
    used.sort_unstable();
    assert_eq!(used, ["0 -> 4 (9)", "4 -> 3 (7)"]);
}
