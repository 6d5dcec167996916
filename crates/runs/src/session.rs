//! A replication in a user's hands: stepped, looked at, changed, copied, and finished. What only looks changes no results.
//!
//! Decision: docs/decisions/121-a-session-is-the-engine-itself.md

use super::disk::{Effort, Entry};
use super::run::{RunError, check};
use perhop_core::fault::{self, Fault};
use perhop_core::units::{Span, Time};
use perhop_results::Replication;
use perhop_results::hash::hash;
use perhop_results::tables::columns::Table;
use perhop_results::tables::{snapshot, tables};
use perhop_scenario::knobs::{Goal, Knobs};
use perhop_scenario::simulation::alterable;
use perhop_scenario::{Diagnostics, Options, Point, Sweep};
use perhop_sim::Simulation;
use perhop_sim::engine::{FlowsAsked, PortAsked};
use perhop_sim::plan::Plan;
use perhop_sim::record::Sample;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How often a long step asks whether it is to go on, within a run.
const LOOKS: u64 = 1000;

/// What became of a session whose run failed.
const FAILED: &str = "has ended with an error";

/// Why a session did not do what it was asked for.
#[derive(Debug)]
pub enum SessionError {
    /// What was given is wrong; the session is as before.
    Said(Diagnostics),
    /// The same in one line.
    Asked(String),
    /// Nothing can be asked any more.
    Over(String),
    /// The run failed.
    Run(Box<RunError>),
}

/// A session of replication 0 of one point.
#[derive(Debug)]
pub struct Session {
    begun: Arc<Begun>,
    /// `None` once it is over.
    running: Option<Box<Running>>,
    /// Why it is.
    over: &'static str,
}

/// A copy of a session as it was.
#[derive(Debug)]
pub struct Snapshot {
    begun: Arc<Begun>,
    running: Box<Running>,
}

/// What a session and its snapshots share.
#[derive(Debug)]
struct Begun {
    point: Point,
    plan: Plan,
    /// The file that it was read from, and how.
    text: String,
    options: Options,
}

/// What goes on.
#[derive(Debug)]
struct Running {
    simulation: Simulation,
    /// Once something was set.
    knobs: Option<Knobs>,
    /// By link and table.
    ports: BTreeMap<(usize, String), PortAsked>,
    flows: FlowsAsked,
}

impl Session {
    /// At time zero, of a sweep that has one point and was read from `text` with `options`.
    ///
    /// # Errors
    /// It has several points, or its plan cannot be built.
    pub fn begin(sweep: &Sweep, text: &str, options: &Options) -> Result<Self, SessionError> {
        let mut points = sweep.points();
        if points.len() > 1 {
            let help = "give the swept keys one value each";
            let message =
                format!("a session runs one point, and this scenario sweeps {}\n   help: {help}", points.len());
            return Err(SessionError::Asked(message));
        }
        let point = points.remove(0);
        let plan = point.scenario.plan(point.scenario.settings().seed, 0);
        let simulation = alterable(plan.clone()).map_err(|error| RunError::Plan(Box::new(error)))?;
        let running = Running { simulation, knobs: None, ports: BTreeMap::new(), flows: FlowsAsked::default() };
        Ok(Self {
            begun: Arc::new(Begun { point, plan, text: text.to_owned(), options: options.clone() }),
            running: Some(Box::new(running)),
            over: "",
        })
    }

    /// The time it has reached.
    ///
    /// # Errors
    /// It is over.
    pub fn now(&self) -> Result<Span, SessionError> {
        Ok(self.running()?.now())
    }

    /// The length of its run.
    pub fn duration(&self) -> Span {
        self.begun.plan.duration
    }

    /// The names of its ports.
    pub fn ports(&self) -> Vec<&str> {
        self.begun.plan.links.iter().map(|link| link.name.as_str()).collect()
    }

    /// When a goal is.
    ///
    /// # Errors
    /// It is no time, has passed, or is beyond the end.
    pub fn goal(&self, goal: Goal<'_>) -> Result<Span, SessionError> {
        let now = self.now()?;
        goal.reached(now, self.duration()).map_err(SessionError::Said)
    }

    /// Runs until a goal, to where a `[[change]]` of that time would be made; `go_on` is asked about a thousand times a run. Whether the goal is reached: else it has stopped
    /// between two events, and may go on.
    ///
    /// # Errors
    /// It is over, or an algorithm cannot continue: then it is over from now on.
    pub fn advance(&mut self, goal: Span, mut go_on: impl FnMut() -> bool) -> Result<bool, SessionError> {
        let every = Span::from_ns((self.duration().ns() / LOOKS).max(1));
        self.with(|running, _| {
            loop {
                let next = goal.min(Span::from_ns(running.now().ns().saturating_add(every.ns())));
                running.simulation.pause_at(Time::ZERO + next);
                if next == goal || fault::is_raised() || !go_on() {
                    return next == goal;
                }
            }
        })
    }

    /// What a port counted since this table of it was last asked for, since the start at first.
    ///
    /// # Errors
    /// There is no such table, or it is over.
    pub fn port_counters(&mut self, port: usize, table: &str) -> Result<Table, SessionError> {
        self.running()?;
        if !snapshot::OF_PORT.contains(&table) {
            let message = format!("a port has no counters `{table}`: there are {}", snapshot::OF_PORT.join(", "));
            return Err(SessionError::Asked(message));
        }
        self.with(|running, begun| {
            let since = running.ports.entry((port, table.to_owned())).or_default();
            let outcome = running.simulation.port_since(port, since);
            snapshot::port(table, &begun.plan, &outcome).expect("the table is known")
        })
    }

    /// What a sample sees of a port now.
    ///
    /// # Errors
    /// It is over.
    pub fn port_gauges(&mut self, port: usize) -> Result<Table, SessionError> {
        self.with(|running, begun| snapshot::port_gauges(&begun.plan, running.simulation.port_gauges(port)))
    }

    /// One of these of the port or of a conditioner, without a table: loops ask after each step. `None` where there is none,
    /// and of a scheduler's queues, which the table names.
    ///
    /// # Errors
    /// It is over.
    pub fn port_gauge(
        &mut self,
        port: usize,
        quantity: &str,
        conditioner: Option<&str>,
    ) -> Result<Option<f64>, SessionError> {
        let seen = self.with(|running, _| running.simulation.port_gauges(port))?;
        let whose = |it: &Sample| it.queue.is_none() && it.conditioner.as_deref() == conditioner;
        Ok(seen.iter().find(|it| it.quantity == quantity && whose(it)).map(|it| it.value))
    }

    /// What the long-lived flows counted since they were last asked for.
    ///
    /// # Errors
    /// It is over.
    pub fn flow_counters(&mut self) -> Result<Table, SessionError> {
        self.with(|running, begun| snapshot::flows(&begun.plan, &running.simulation.flows_since(&mut running.flows)))
    }

    /// What a sample sees of the long-lived flows now.
    ///
    /// # Errors
    /// It is over.
    pub fn flow_gauges(&mut self) -> Result<Table, SessionError> {
        self.with(|running, begun| snapshot::flow_gauges(&begun.plan, running.simulation.flow_gauges()))
    }

    /// Has the change `KEY=VALUE` made now, as a `[[change]]` of this time, as soon as it runs on; its warnings.
    ///
    /// # Errors
    /// All that is wrong with it; nothing is then changed.
    pub fn set(&mut self, text: &str) -> Result<Diagnostics, SessionError> {
        let set = self.with(|running, begun| {
            let (now, Begun { text: file, options, .. }) = (running.now(), begun);
            let knobs = running.knobs.get_or_insert_with(|| Knobs::new(&begun.point.scenario, file, options));
            let (changes, warnings) = knobs.set(now, text)?;
            running.simulation.alter(changes);
            Ok(warnings)
        })?;
        set.map_err(SessionError::Said)
    }

    /// A copy as it is now.
    ///
    /// # Errors
    /// A transport or an algorithm that cannot be copied, or it is over.
    pub fn snapshot(&self) -> Result<Snapshot, SessionError> {
        Ok(Snapshot { begun: self.begun.clone(), running: self.copy(self.running()?)? })
    }

    /// Continues from a copy, also after the end.
    ///
    /// # Errors
    /// The copy is another session's.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<(), SessionError> {
        if !Arc::ptr_eq(&self.begun, &snapshot.begun) {
            return Err(SessionError::Asked("the snapshot is of another session".into()));
        }
        self.running = Some(self.copy(&snapshot.running)?);
        Ok(())
    }

    /// Runs what is left, and gives what a run gives: its point, with all that was changed, and its results.
    ///
    /// # Errors
    /// The run failed, or it is over.
    pub fn finish(&mut self) -> Result<(Point, Replication), SessionError> {
        self.running()?;
        let running = self.running.take().expect("it is not over");
        let Running { simulation, knobs, .. } = *running;
        self.over = FAILED;
        let Begun { point, plan, .. } = &*self.begun;
        let outcome = simulation.end();
        check(point, 0, &outcome)?;
        let (tables, effort) = (tables(plan, &outcome), outcome.work.packet_hops);
        let effort = Effort { packet_hops: effort, wall_s: 0.0 };
        let entry = Entry { replication: 0, result_hash: hash(&tables), effort, ef: Vec::new() };
        self.over = "is finished";
        let point = match knobs {
            Some(knobs) => point.clone().running(knobs.scenario()),
            None => point.clone(),
        };
        Ok((point, entry.with_tables(tables)))
    }

    fn running(&self) -> Result<&Running, SessionError> {
        self.running.as_deref().ok_or_else(|| ended(self.over))
    }

    /// Works with what goes on. An algorithm from outside that fails meanwhile ends the session.
    fn with<T>(&mut self, work: impl FnOnce(&mut Running, &Begun) -> T) -> Result<T, SessionError> {
        fault::take(); // what another run on this thread left is not ours
        let running = self.running.as_deref_mut().ok_or_else(|| ended(self.over))?;
        let made = work(running, &self.begun);
        fault::take().map_or(Ok(made), |fault| Err(self.failed(fault)))
    }

    fn copy(&self, running: &Running) -> Result<Box<Running>, SessionError> {
        fault::take();
        let copy = running.copy().map_err(|table| self.fixed(table))?;
        fault::take().map_or(Ok(copy), |fault| Err(uncopied(&fault)))
    }

    fn failed(&mut self, fault: Fault) -> SessionError {
        (self.running, self.over) = (None, FAILED);
        let Point { scenario, name, .. } = &self.begun.point;
        RunError::Algorithm { point: format!("{} {name}, replication 0", scenario.name()), fault }.into()
    }

    fn fixed(&self, table: usize) -> SessionError {
        let traffic = &self.begun.plan.traffic[table];
        SessionError::Asked(format!(
            "the session cannot be copied: traffic `{}` has model \"{}\", whose connections cannot",
            traffic.name,
            traffic.model.name()
        ))
    }
}

/// In one line, which is the last of an exception's.
fn uncopied(fault: &Fault) -> SessionError {
    let why = fault.what.lines().next_back().unwrap_or_default();
    let help = "give its class a method __deepcopy__";
    SessionError::Asked(format!("the session cannot be copied: `{}` cannot: {why}: {help}", fault.algorithm))
}

fn ended(over: &str) -> SessionError {
    SessionError::Over(format!("the session {over}: begin another one, or restore a snapshot"))
}

impl Running {
    fn now(&self) -> Span {
        self.simulation.now() - Time::ZERO
    }

    fn copy(&self) -> Result<Box<Self>, usize> {
        let Self { simulation, knobs, ports, flows } = self;
        let simulation = simulation.copy()?;
        Ok(Box::new(Self { simulation, knobs: knobs.clone(), ports: ports.clone(), flows: flows.clone() }))
    }
}

impl From<RunError> for SessionError {
    fn from(error: RunError) -> Self {
        Self::Run(Box::new(error))
    }
}
