//! What each class of a replication got: offered, delivered and lost, by colour, with delays. `run` and `sweep` print it,
//! Python reads it as the table `classes`.
//!
//! A loss is `dropped / (dropped + delivered)`, in packets, over the class's route.

use super::columns::Table;
use super::pooled::find;
use super::tables::classes::{ALL, Got, table};
use perhop_core::packet::Colour;
use perhop_scenario::contracts::passed;
use perhop_scenario::scenario::Scenario;
use std::collections::{BTreeSet, HashMap};

/// The classes of a scenario, with the ports that their data passes.
pub struct Classes {
    seconds: f64,
    routes: Vec<Route>,
}

struct Route {
    class: String,
    /// The first ports on its way.
    entries: BTreeSet<String>,
    /// All of them; `None` where data and ACKs share a port, since drops are not told apart there.
    ports: Option<BTreeSet<String>>,
}

/// Rows of a table by class and colour.
struct Rows<'a> {
    table: &'a Table,
    of: HashMap<(&'a str, &'a str), Vec<usize>>,
}

impl Classes {
    /// Of a scenario.
    pub fn new(scenario: &Scenario) -> Self {
        let settings = scenario.settings();
        let seconds = (*settings.duration - *settings.warmup).seconds();
        let names = &scenario.common().classes;
        let mut routes: Vec<_> = names.iter().map(|class| Route::new(scenario, class)).collect();
        for passed in passed(scenario).into_iter().filter(|passed| passed.entry) {
            let route = routes.iter_mut().find(|route| route.class == passed.class);
            route.into_iter().for_each(|route| _ = route.entries.insert(passed.hop.clone()));
        }
        Self { seconds, routes }
    }

    /// The table of a replication with these tables.
    pub fn of(&self, tables: &[Table]) -> Table {
        let [arrivals, ports, traffic] = ["arrivals", "summary", "traffic"].map(|name| Rows::new(find(tables, name)));
        let of = |route| One { route, arrivals: &arrivals, ports: &ports, seconds: self.seconds };
        let rows = self.routes.iter().flat_map(|route| of(route).rows(&traffic));
        table(&rows.collect::<Vec<_>>()).table
    }
}

impl Route {
    fn new(scenario: &Scenario, class: &str) -> Self {
        let plan = scenario.common();
        let of_class = |flow: &&_| plan.classes[usize::from(class_of(flow))] == class;
        let lines: Vec<_> = scenario.traffic().iter().filter(of_class).collect();
        let forward: BTreeSet<u32> = lines.iter().flat_map(|flow| flow.forward.iter().copied()).collect();
        let is_shared = lines.iter().any(|flow| flow.backward.iter().any(|link| forward.contains(link)));
        let ports = forward.iter().map(|&link| plan.links[link as usize].name.clone()).collect();
        Self { class: class.to_owned(), entries: BTreeSet::new(), ports: (!is_shared).then_some(ports) }
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

    /// At some ports.
    fn sum_at(&self, class: &str, colour: &str, of: (&str, &BTreeSet<String>)) -> f64 {
        let (hops, values) = (self.table.texts("hop"), self.table.integers(of.0));
        let here = self.of(class, colour).filter(|&row| hops[row].as_deref().is_some_and(|hop| of.1.contains(hop)));
        here.filter_map(|row| values[row]).sum::<i64>() as f64
    }
}

/// A class of a replication.
struct One<'a> {
    route: &'a Route,
    arrivals: &'a Rows<'a>,
    ports: &'a Rows<'a>,
    seconds: f64,
}

impl One<'_> {
    fn rows(&self, traffic: &Rows<'_>) -> Vec<Got> {
        let offered = self.ports.sum_at(&self.route.class, ALL, ("arrived_bytes", &self.route.entries));
        let goodputs = traffic.table.reals("goodput_bit_s");
        let goodputs: Option<Vec<f64>> = traffic.of(&self.route.class, ALL).map(|row| goodputs[row]).collect();
        let goodput = goodputs.filter(|all| !all.is_empty()).map(|all| all.iter().sum());
        let whole = Got { offered: Some(self.bit_s(offered)), goodput, ..self.got(ALL) };
        let colours = Colour::ALL.into_iter().map(|colour| colour.name());
        [whole].into_iter().chain(colours.filter_map(|colour| self.colour(colour))).collect()
    }

    /// What of it arrived with a colour, if anything did.
    fn colour(&self, colour: &str) -> Option<Got> {
        let row = self.arrivals.of(&self.route.class, colour).next()?;
        let delay = ["delay_p50_ms", "delay_p99_ms"].map(|column| self.arrivals.table.reals(column)[row]);
        Some(Got { delay, ..self.got(colour) })
    }

    fn got(&self, colour: &str) -> Got {
        let delivered = self.arrivals.sum(&self.route.class, colour, "delivered_bytes");
        let (class, colour, delivered) = (self.route.class.clone(), colour.to_owned(), self.bit_s(delivered));
        Got { loss: self.loss(&colour), class, colour, delivered, ..Got::default() }
    }

    /// `None` where nothing was lost or delivered, and where it is not known.
    fn loss(&self, colour: &str) -> Option<f64> {
        let ports = self.route.ports.as_ref()?;
        let lost = self.ports.sum_at(&self.route.class, colour, ("dropped_packets", ports));
        let ended = lost + self.arrivals.sum(&self.route.class, colour, "delivered_packets");
        (ended > 0.0).then(|| 100.0 * lost / ended)
    }

    fn bit_s(&self, bytes: f64) -> f64 {
        bytes * 8.0 / self.seconds
    }
}

fn class_of(flow: &perhop_scenario::resolve::offered::Flowline) -> u16 {
    flow.offered.class
}
