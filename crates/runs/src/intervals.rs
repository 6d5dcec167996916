//! A replication part by part of its time: what each class got within each, and where the most packets wait at its end.

use super::run::RunError;
use perhop_core::fault;
use perhop_core::units::Span;
use perhop_results::classes::Classes;
use perhop_results::filter::Where;
use perhop_results::listing::show;
use perhop_results::rows::{Measure, OF_CLASSES, OF_CLASSES_BY, Row, of_tables, usual_measures};
use perhop_results::stats::Estimate;
use perhop_results::summary::NONE;
use perhop_results::tables::columns::Table;
use perhop_results::tables::tables;
use perhop_results::unit::Unit;
use perhop_scenario::Diagnostic;
use perhop_scenario::simulation::simulation;
use perhop_scenario::sweep::Point;
use perhop_sim::engine::Part;
use perhop_sim::plan::Plan;
use serde_json::{Map, Value, json};

/// Parts of a run, at most: rows to read.
const MOST: u64 = 1_000_000;

/// What is shown of a replication part by part.
#[derive(Clone, Debug)]
pub struct Intervals<'a> {
    point: &'a Point,
    every: Span,
    filter: &'a Where,
    measures: Vec<Measure>,
    plan: Plan,
}

/// A part of it.
#[derive(Clone, Debug)]
pub struct Interval {
    /// Seconds since the start of the run at which it begins and ends.
    pub seconds: [f64; 2],
    /// It begins before the end of the warm-up, so the results leave it out.
    pub warmup: bool,
    /// What each class got.
    pub rows: Vec<Row>,
    /// The port at which the most packets wait at its end, with their number.
    pub queue: Option<(String, u32)>,
}

impl<'a> Intervals<'a> {
    /// Of the first replication of a point.
    ///
    /// # Errors
    /// E201: the parts are too short, or longer than the run.
    pub fn new(point: &'a Point, every: Span, filter: &'a Where) -> Result<Self, Diagnostic> {
        let settings = point.scenario.settings();
        let (duration, least) = (*settings.duration, settings.duration.ns().div_ceil(MOST).max(1));
        let refused = |help: String| Diagnostic::error("E201", format!("`--every {every}`"), help);
        match every.ns() {
            short if short < least => Err(refused(format!("at least {}: {MOST} rows at most", Span::from_ns(least)))),
            long if long > duration.ns() => Err(refused(format!("at most the duration of the run, {duration}"))),
            _ => {
                let plan = Plan { sampling: None, ..point.scenario.plan(settings.seed, 0) };
                Ok(Self { point, every, filter, measures: usual_measures(), plan })
            }
        }
    }

    /// Simulates it; `each` gets every part when it is over, and stops with `false`.
    ///
    /// # Errors
    /// The plan could not be built, or an algorithm could not go on.
    pub fn run(&self, mut each: impl FnMut(&Interval) -> bool) -> Result<(), RunError> {
        let simulation = simulation(self.plan.clone()).map_err(|error| RunError::Plan(Box::new(error)))?;
        let classes = Classes::new(&self.point.scenario);
        simulation.run_in_parts(self.every, |part| each(&self.interval(&part, &classes)));
        let point = || format!("{} {}, replication 0", self.point.scenario.name(), self.point.name);
        fault::take().map_or(Ok(()), |fault| Err(RunError::Algorithm { point: point(), fault }))
    }

    fn interval(&self, part: &Part, classes: &Classes) -> Interval {
        let made: Vec<Table> = tables(&self.plan, &part.outcome);
        let rows = of_tables(0, &[classes.over(part.outcome.measured.seconds(), &made)]);
        let rows = if self.by_colour() { rows } else { self.whole(rows, part) };
        let fullest = part.backlogs.iter().enumerate().rev().max_by_key(|(_, backlog)| backlog.packets);
        let queue = fullest.filter(|(_, backlog)| backlog.packets > 0);
        Interval {
            seconds: [part.from, part.to].map(|time| time.seconds()),
            warmup: part.from.ns() < self.plan.warmup.ns(),
            rows: self.filter.keep_rows(&OF_CLASSES_BY, rows),
            queue: queue.map(|(link, backlog)| (self.plan.links[link].name.clone(), backlog.packets)),
        }
    }

    /// Classes have a row for each colour where some are chosen, else one.
    fn by_colour(&self) -> bool {
        self.filter.names("colour")
    }

    /// A row for each class, with the delays of all its colours together.
    fn whole(&self, mut rows: Vec<Row>, part: &Part) -> Vec<Row> {
        rows.dedup_by(|later, first| later.names[0] == first.names[0]);
        for (row, delay) in rows.iter_mut().zip(&part.delays) {
            let delays = [("delay_p50_ms", delay.map(|it| it.p50)), ("delay_p99_ms", delay.map(|it| it.p99))];
            for (column, ns) in delays {
                let at = OF_CLASSES.iter().position(|of| *of == column).expect("a measure of classes");
                row.values[at] = ns.map(|ns| Estimate::new(ns as f64 / 1e6, None));
            }
        }
        rows
    }

    /// The heads of the columns of [`Intervals::lines`].
    pub fn heads(&self) -> String {
        let heads = self.measured().map(|(head, width)| format!("  {head:>width$}")).collect::<String>();
        self.names(["s", "class", "colour"]) + &heads + "  longest queue at the end"
    }

    /// Heads of the measures, and the widths of their columns.
    fn measured(&self) -> impl Iterator<Item = (String, usize)> {
        let unit = Unit::of([&self.point.scenario]);
        self.measures.iter().map(move |measure| unit.heading(&measure.column)).map(|head| {
            let width = head.chars().count().max(NUMBER);
            (head, width)
        })
    }

    /// A line for each row of a part.
    pub fn lines(&self, part: &Interval) -> String {
        let [from, to] = part.seconds;
        let line = |(i, row): (usize, &Row)| {
            let [class, colour] = [0, 1].map(|at| row.names[at].as_deref().unwrap_or(NONE));
            let mut line = self.names([&format!("{from}-{to}"), class, colour]);
            for ((measure, value), (_, width)) in self.measures.iter().zip(&row.values).zip(self.measured()) {
                line += &format!("  {:>width$}", show(measure, *value));
            }
            let queue = part.queue.as_ref().filter(|_| i == 0).map(|(port, packets)| format!("{packets}p at {port}"));
            let notes = [queue, part.warmup.then(|| "(warm-up)".to_owned())];
            notes.into_iter().flatten().for_each(|note| line += &format!("  {note}"));
            line
        };
        part.rows.iter().enumerate().map(line).collect::<Vec<_>>().join("\n")
    }

    /// What a row is called, in columns as wide as they need.
    fn names(&self, [time, class, colour]: [&str; 3]) -> String {
        let ends = [self.plan.duration.seconds(), self.every.seconds()].map(|s| s.to_string().len());
        let times = 2 * ends[0].max(ends[1]) + 1;
        let classes = self.plan.classes.iter().map(|class| class.chars().count()).max().unwrap_or(0).max(5);
        let colour = if self.by_colour() { format!("  {colour:8}") } else { String::new() };
        format!("{time:times$}  {class:classes$}{colour}")
    }

    /// An object for each row of a part.
    pub fn json(&self, part: &Interval) -> Vec<Value> {
        let [from, to] = part.seconds;
        let queue = part.queue.as_ref();
        let object = |row: &Row| {
            let mut object = Map::from_iter([
                ("from_s".to_owned(), json!(from)),
                ("to_s".to_owned(), json!(to)),
                ("warmup".to_owned(), json!(part.warmup)),
            ]);
            let keys = OF_CLASSES_BY.iter().zip(&row.names).take(if self.by_colour() { 2 } else { 1 });
            object.extend(keys.map(|(key, name)| ((*key).to_owned(), json!(name.as_deref()))));
            let values = self.measures.iter().zip(&row.values);
            object.extend(values.map(|(measure, value)| (measure.name.clone(), json!(value.map(|it| it.mean)))));
            object.insert("queue_hop".to_owned(), json!(queue.map(|it| &it.0)));
            object.insert("queue_packets".to_owned(), json!(queue.map_or(0, |it| it.1)));
            Value::Object(object)
        };
        part.rows.iter().map(object).collect()
    }
}

/// Characters of a number, at least.
const NUMBER: usize = 9;
