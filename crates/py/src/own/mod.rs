//! Algorithms that are Python classes: registered here, called from the engine by their hooks.

/// What a hook is shown.
mod views;
/// An instance of a class, and the calls of its hooks.
mod object;
/// AQMs.
mod aqm;
/// Conditioners.
mod conditioner;
/// Threads that call hooks.
mod callers;
/// Congestion laws.
mod law;

pub use callers::ending;
use object::Class;
pub use object::is_interrupted;
use perhop_core::foreign::{Argument, Plain, Registered};
use perhop_core::params::Params as _;
use perhop_core::params::{Field, Kind, Literal, ParamError};
use perhop_core::registry::Entry;
use perhop_scenario::sections::conditioner::{Actions, Placement};
use perhop_scenario::sections::queue::{QueueCommon, Shaped, Telling};
use perhop_scenario::sections::tcp::TcpSection;
use perhop_sim::transport::congestion;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use std::sync::Arc;

/// A parameter of `__init__`: its key, its type as `perhop.own` names it, its default, the names that it may have.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Parameter {
    name: String,
    doc: String,
    kind: String,
    default: Option<Default>,
    optional: bool,
    choices: Vec<String>,
}

/// A default, as TOML would have it.
#[derive(FromPyObject)]
enum Default {
    Bool(bool),
    Integer(i64),
    Number(f64),
    Text(String),
}

/// What is registered of a class.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Described {
    name: String,
    summary: String,
    page: String,
    origin: String,
    source: String,
    parameters: Vec<Parameter>,
    hooks: Vec<String>,
}

/// What Python needs of this module.
pub fn add_to(m: &Bound<'_, PyModule>) -> PyResult<()> {
    views::add_to(m)?;
    law::add_to(m)?;
    m.add_function(wrap_pyfunction!(register, m)?)?;
    m.add_function(wrap_pyfunction!(called, m)?)?;
    m.add_function(wrap_pyfunction!(unavailable, m)?)?;
    m.add_function(wrap_pyfunction!(registered, m)?)
}

/// The table of such an algorithm in files, and whether it has this key already, whatever the algorithm.
fn has_key(kind: &str, key: &str) -> (&'static str, bool) {
    let any = |tables: &[&'static [Field]]| tables.iter().flat_map(|it| Field::all(it)).any(|field| field.name == key);
    match kind {
        "aqm" => {
            let tables = [QueueCommon::FIELDS, Shaped::FIELDS, Telling::FIELDS];
            ("[queue.X]", matches!(key, "aqm" | "scheduler" | "classes") || any(&tables))
        }
        "conditioner" => {
            ("[conditioner.X]", matches!(key, "at" | "kind") || any(&[Placement::FIELDS, Actions::FIELDS]))
        }
        _ => {
            let of_laws = congestion::LIST.iter().any(|law| any(&[law.fields]));
            ("[tcp.X]", !of_laws && any(&[TcpSection::FIELDS]))
        }
    }
}

/// Registers a class as an algorithm of a kind: "aqm", "conditioner" or "law".
///
/// # Errors
/// `ValueError`: the name is taken, or a parameter's.
#[pyfunction]
pub fn register(kind: &str, class: Bound<'_, PyType>, described: Described) -> PyResult<()> {
    for Parameter { name, .. } in &described.parameters {
        if let (table, true) = has_key(kind, name) {
            let said = format!("the parameter `{name}` of `{}`: {table} has a key `{name}` already", described.name);
            return Err(PyValueError::new_err(format!(
                "{said}: call it otherwise, as in `own_{}`",
                name.replace('-', "_")
            )));
        }
    }
    let entry =
        Entry::registered(kept(&described.name), kept(&described.summary), fields(&described), kept(&described.page));
    let Described { origin, source, hooks, .. } = described;
    let class = Arc::new(Class { name: entry.name, object: class.into_any().unbind(), hooks });
    let added = match kind {
        "aqm" => {
            let make = Box::new(move |values: &[Argument], scope: &_| aqm::make(&class, values, scope));
            perhop_core::aqm::foreign::REGISTER.add(Registered { entry, origin, source, make }, perhop_core::aqm::NAMES)
        }
        "conditioner" => {
            let make = Box::new(move |values: &[Argument], scope: &_| conditioner::make(&class, values, scope));
            let registered = Registered { entry, origin, source, make };
            perhop_core::conditioner::foreign::REGISTER.add(registered, perhop_core::conditioner::NAMES)
        }
        "law" => {
            let make = Box::new(move |values: &[Argument], _: &()| law::make(&class, values));
            let registered = Registered { entry, origin, source, make };
            congestion::foreign::REGISTER.add(registered, congestion::NAMES)
        }
        other => return Err(PyTypeError::new_err(format!("no algorithms are of the kind {other}"))),
    };
    added.map_err(PyValueError::new_err)
}

/// Names and hashes of the texts of all that is registered.
#[pyfunction]
pub fn registered() -> Vec<(&'static str, String)> {
    let aqms = perhop_core::aqm::foreign::REGISTER.sources();
    [aqms, perhop_core::conditioner::foreign::REGISTER.sources(), congestion::foreign::REGISTER.sources()].concat()
}

/// Calls a function without arguments so many times from here: what the cost of a hook is held against.
#[pyfunction]
pub fn called(py: Python<'_>, function: Bound<'_, PyAny>, times: u64) -> PyResult<()> {
    let function = function.unbind();
    py.detach(|| (0..times).try_for_each(|_| Python::attach(|py| function.call0(py).map(drop))))
}

/// Has Python's part register what installed packages offer of the algorithms that a text names.
pub fn resolve(text: &str) -> PyResult<()> {
    Python::attach(|py| py.import("perhop.own")?.call_method1("resolve", (text,)).map(drop))
}

/// The same of several texts.
pub fn resolve_all(texts: impl Iterator<Item = String>) -> PyResult<()> {
    texts.into_iter().try_for_each(|text| resolve(&text))
}

/// A package offers an algorithm of this name that cannot be had: a file that names it is told why.
#[pyfunction]
pub fn unavailable(name: &str, why: &str) {
    perhop_core::foreign::set_unavailable(name, why);
}

/// A text that lives as long as the program: what is registered stays.
fn kept(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

fn fields(described: &Described) -> &'static [Field] {
    let fields: Vec<_> = described.parameters.iter().map(field).collect();
    Box::leak(fields.into_boxed_slice())
}

fn field(parameter: &Parameter) -> Field {
    let Parameter { name, doc, kind, default, optional, choices } = parameter;
    let choices = || choices.iter().map(|choice| kept(choice)).collect::<Vec<_>>();
    let kind = match kind.as_str() {
        "rate" => Kind::Rate,
        "size" => Kind::Size,
        "time" => Kind::Time,
        "packets" => Kind::Count,
        "probability" => Kind::Probability,
        "integer" => Kind::Integer,
        "number" => Kind::Number,
        "bool" => Kind::Bool,
        "choice" => Kind::Choice(Box::leak(choices().into_boxed_slice())),
        _ => Kind::Text,
    };
    let default = default.as_ref().map(|default| match default {
        Default::Bool(b) => Literal::Bool(*b),
        Default::Integer(n) => Literal::Integer(*n),
        Default::Number(x) => Literal::Float(*x),
        Default::Text(text) => Literal::Text(kept(text)),
    });
    Field { name: kept(name), doc: kept(doc), kind, default, optional: *optional }
}

/// Values as arguments of `__init__`, which has `_` where a key has `-`.
fn arguments<'py>(py: Python<'py>, values: &[Argument]) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    for Argument { name, plain, .. } in values {
        let name = name.replace('-', "_");
        match plain {
            Plain::Absent => out.set_item(name, py.None())?,
            Plain::Bool(b) => out.set_item(name, b)?,
            Plain::Integer(n) => out.set_item(name, n)?,
            Plain::Number(x) => out.set_item(name, x)?,
            Plain::Text(text) => out.set_item(name, text)?,
        }
    }
    Ok(out)
}

/// What a class refuses: at the parameter that its message names, else at the first.
fn refused(algorithm: &str, values: &[Argument], error: &PyErr) -> ParamError {
    let said = Python::attach(|py| error.value(py).to_string());
    let named = values.iter().find(|given| said.contains(given.name) || said.contains(&given.name.replace('-', "_")));
    let field = named.or(values.first()).map_or("", |given| given.name);
    ParamError::new(field, "E201", format!("`{algorithm}` refuses its parameters: {said}"))
        .help("change the value, or the class's `__init__`, which says this")
}
