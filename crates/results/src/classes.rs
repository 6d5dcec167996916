//! What each class of a replication got: offered, delivered and lost, by colour, with delays. `run` and `sweep` print it,
//! Python reads it as the table `classes`.
//!
//! A loss is `dropped / (dropped + delivered)`, in packets, over the class's route.
//!
//! Decision: docs/decisions/091-class-rows-show-what-is-known.md

use crate::pooled::find;
use crate::tables::classes::{ALL, Got, table};
use crate::tables::columns::Table;
use perhop_core::packet::Colour;
use perhop_scenario::contracts::data_ways;
use perhop_scenario::resolve::offered::Flowline;
use perhop_scenario::scenario::Scenario;
use std::collections::HashMap;

/// The classes of a scenario, with the ports that their data passes.
pub struct Classes {
    seconds: f64,
    /// By name.
    links: HashMap<String, u32>,
    routes: Vec<Route>,
}

/// Links of a class, in ascending order.
struct Route {
    class: String,
    /// The first ports on its way.
    entries: Vec<u32>,
    /// All of them; `None` where data and ACKs share a port, since drops are not told apart there.
    ports: Option<Vec<u32>>,
}

/// Rows of a table by class and colour.
struct Rows<'a> {
    table: &'a Table,
    of: HashMap<(&'a str, &'a str), Vec<usize>>,
}

impl Classes {
    /// Of a scenario.
    pub fn new(scenario: &Scenario) -> Self {
        let (settings, plan) = (scenario.settings(), scenario.common());
        let mut of_class = vec![Links::default(); plan.classes.len()];
        for flow in scenario.traffic() {
            of_class[usize::from(flow.offered.class)].add(flow);
        }
        let routes = plan.classes.iter().zip(of_class).map(|(class, links)| links.route(class.clone()));
        Self {
            seconds: (*settings.duration - *settings.warmup).seconds(),
            links: plan.links.iter().map(|link| link.name.clone()).zip(0..).collect(),
            routes: routes.collect(),
        }
    }

    /// The table of a replication with these tables.
    pub fn of(&self, tables: &[Table]) -> Table {
        self.over(self.seconds, tables)
    }

    /// The table of a part of a replication, so many seconds long, with these tables.
    pub fn over(&self, seconds: f64, tables: &[Table]) -> Table {
        let [arrivals, ports, traffic] = ["arrivals", "summary", "traffic"].map(|name| Rows::new(find(tables, name)));
        let hops: Vec<_> =
            ports.table.texts("hop").iter().map(|hop| self.links.get(hop.as_deref()?).copied()).collect();
        let of = |route| One { route, arrivals: &arrivals, ports: &ports, hops: &hops, seconds };
        let rows = self.routes.iter().flat_map(|route| of(route).rows(&traffic));
        table(&rows.collect::<Vec<_>>()).table
    }
}

/// Links of a class as its traffic has them.
#[derive(Clone, Default)]
struct Links {
    entries: Vec<u32>,
    forward: Vec<u32>,
    backward: Vec<u32>,
}

impl Links {
    fn add(&mut self, flow: &Flowline) {
        self.entries.extend(data_ways(flow).filter_map(|way| way.first()));
        self.forward.extend(flow.forward.iter());
        self.backward.extend(flow.backward.iter());
    }

    fn route(self, class: String) -> Route {
        let [entries, forward] = [self.entries, self.forward].map(|mut links| {
            links.sort_unstable();
            links.dedup();
            links
        });
        let is_shared = self.backward.iter().any(|link| forward.binary_search(link).is_ok());
        Route { class, entries, ports: (!is_shared).then_some(forward) }
    }
}

impl<'a> Rows<'a> {
    fn new(table: &'a Table) -> Self {
        let mut of = HashMap::<_, Vec<_>>::new();
        let has_colours = table.columns.iter().any(|column| column.0 == "colour");
        let colours = has_colours.then(|| table.texts("colour"));
        for (row, class) in table.texts("class").iter().enumerate() {
            let colour = colours.and_then(|colours| colours[row].as_deref()).unwrap_or(ALL);
            of.entry((class.as_deref().unwrap_or_default(), colour)).or_default().push(row);
        }
        Self { table, of }
    }

    /// Rows of a class, of one colour or all.
    fn of<'b>(&'b self, class: &'b str, colour: &str) -> impl Iterator<Item = usize> + use<'a, 'b> {
        let all = Colour::ALL.iter().map(|colour| colour.name()).chain([ALL]);
        let colours: Vec<_> = all.filter(|of| colour == ALL || *of == colour).collect();
        colours.into_iter().flat_map(move |colour| self.of.get(&(class, colour)).into_iter().flatten().copied())
    }

    fn sum(&self, class: &str, colour: &str, column: &str) -> f64 {
        let values = self.table.integers(column);
        self.of(class, colour).filter_map(|row| values[row]).sum::<i64>() as f64
    }
}

/// A class of a replication.
struct One<'a> {
    route: &'a Route,
    arrivals: &'a Rows<'a>,
    ports: &'a Rows<'a>,
    /// The link of each of these.
    hops: &'a [Option<u32>],
    seconds: f64,
}

impl One<'_> {
    fn rows(&self, traffic: &Rows<'_>) -> Vec<Got> {
        let offered = self.sum_at(&self.route.entries, ALL, "arrived_bytes");
        let goodputs = traffic.table.reals("goodput_bit_s");
        let goodputs: Option<Vec<f64>> = traffic.of(&self.route.class, ALL).map(|row| goodputs[row]).collect();
        let goodput = goodputs.filter(|all| !all.is_empty()).map(|all| all.iter().sum());
        let whole = Got { offered: Some(self.bit_s(offered)), goodput, ..self.got(ALL) };
        let colours = Colour::ALL.into_iter().map(|colour| colour.name());
        [whole].into_iter().chain(colours.filter_map(|colour| self.colour(colour))).collect()
    }

    /// What of it had a colour, if anything arrived or was dropped with it.
    fn colour(&self, colour: &str) -> Option<Got> {
        let got = self.got(colour);
        let Some(row) = self.arrivals.of(&self.route.class, colour).next() else {
            return Some(got).filter(|got| got.loss.is_some());
        };
        let delay = ["delay_p50_ms", "delay_p99_ms"].map(|column| self.arrivals.table.reals(column)[row]);
        Some(Got { delay, ..got })
    }

    fn got(&self, colour: &str) -> Got {
        let delivered = self.arrivals.sum(&self.route.class, colour, "delivered_bytes");
        let (class, colour, delivered) = (self.route.class.clone(), colour.to_owned(), self.bit_s(delivered));
        Got { loss: self.loss(&colour), class, colour, delivered, ..Got::default() }
    }

    /// `None` where nothing was lost or delivered, and where it is not known.
    fn loss(&self, colour: &str) -> Option<f64> {
        let ports = self.route.ports.as_ref()?;
        let lost = self.sum_at(ports, colour, "dropped_packets");
        let ended = lost + self.arrivals.sum(&self.route.class, colour, "delivered_packets");
        (ended > 0.0).then(|| 100.0 * lost / ended)
    }

    /// What was counted of it at some ports.
    fn sum_at(&self, ports: &[u32], colour: &str, column: &str) -> f64 {
        let values = self.ports.table.integers(column);
        let is_there = |row: &usize| self.hops[*row].is_some_and(|link| ports.binary_search(&link).is_ok());
        self.ports.of(&self.route.class, colour).filter(is_there).filter_map(|row| values[row]).sum::<i64>() as f64
    }

    fn bit_s(&self, bytes: f64) -> f64 {
        bytes * 8.0 / self.seconds
    }
}
