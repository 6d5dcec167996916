//! Parameters at random, from nothing but their declaration: whatever an algorithm declares is tested.

use perhop_core::Scope;
use perhop_core::conditioner::ConditionerParams;
use perhop_core::params::{Field, Gives, Kind, Node, Place, Problems, Reader, Table, Tree};
use perhop_core::registry::Entry;
use proptest::prelude::*;

/// Formulas of any host that give a number from 0 to 1.
const FORMULAS: [&str; 4] = ["0.1", "min(1, size / 1500B)", "min(1, (gap / 20ms)^2)", "if(ecn, 0.2, 1)"];

/// Colours.
const DECISIONS: [&str; 4] = [
    "if(size > 700B, red, green)",
    "if(chance(0.3), yellow, gap < 1ms and colour != red, green, red)",
    "if(ecn, colour, if(now > 10ms, yellow, unmarked))",
    "if(chance(min(1, size / 1500B)), green, yellow)",
];

fn any_of(texts: &'static [&'static str]) -> BoxedStrategy<Tree> {
    prop::sample::select(texts).prop_map(|it| text(it, "")).boxed()
}

const CONDITIONS: [&str; 2] = ["size > 500B", "colour == red and not ecn"];

/// Values whose logarithm is uniform: small ones as often as large ones.
fn log_uniform(low: f64, high: f64) -> impl Strategy<Value = f64> {
    let ratio = high / low;
    (0.0..=1.0f64).prop_map(move |u| low * perhop_core::math::pow(ratio, u))
}

fn text(value: impl ToString, unit: &str) -> Tree {
    Tree::Text(value.to_string() + unit)
}

/// A value for a field of this kind; occasionally one that may be refused there.
fn any_value(kind: &Kind) -> BoxedStrategy<Tree> {
    match *kind {
        Kind::Tickets => log_uniform(1.0, 1e6).prop_map(|x| text(x as u64, "t/s")).boxed(),
        Kind::Rate => log_uniform(1e3, 1e10).prop_map(|x| text(x as u64, "bit/s")).boxed(),
        Kind::Size => prop_oneof![
            1 => Just(text(0, "B")),
            9 => log_uniform(100.0, 1e6).prop_map(|x| text(x as u64, "B")),
        ]
        .boxed(),
        Kind::SignedSize => (-20i32..200).prop_map(|x| text(x, "B")).boxed(),
        Kind::MeterRate => {
            prop_oneof![4 => any_value(&Kind::Rate), 1 => log_uniform(1.0, 1e6).prop_map(|x| text(x as u64, "p/s"))]
                .boxed()
        }
        Kind::Burst => {
            prop_oneof![4 => any_value(&Kind::Size), 1 => any_value(&Kind::Count), 1 => any_value(&Kind::Time)].boxed()
        }
        Kind::Time => log_uniform(1e3, 1e10).prop_map(|x| text(x as u64, "ns")).boxed(),
        Kind::Count => (1u32..1000).prop_map(|x| text(x, "p")).boxed(),
        Kind::Length => prop_oneof![
            4 => (0u32..=100).prop_map(|x| text(x, "%")),
            4 => log_uniform(100.0, 1e6).prop_map(|x| text(x as u64, "B")),
            1 => (1u32..1000).prop_map(|x| text(x, "p")),
        ]
        .boxed(),
        Kind::Probability => prop_oneof![
            1 => Just(0.0),
            1 => Just(1.0),
            2 => 0.0..=1.0f64,
            2 => log_uniform(1e-4, 1.0),
        ]
        .prop_map(Tree::Float)
        .boxed(),
        Kind::Integer => (0i64..100).prop_map(Tree::Integer).boxed(),
        Kind::Number => log_uniform(1e-3, 1e3).prop_map(Tree::Float).boxed(),
        Kind::Bool => any::<bool>().prop_map(Tree::Bool).boxed(),
        Kind::Text => "[a-z]{1,8}".prop_map(Tree::Text).boxed(),
        Kind::Dscp => (0i64..64).prop_map(Tree::Integer).boxed(),
        Kind::Choice(names) => prop::sample::select(names).prop_map(|name| Tree::Text(name.into())).boxed(),
        Kind::Table(fields) | Kind::Flat(fields) => any_tree(fields),
        Kind::List(of) | Kind::OneOrMany(of) => prop::collection::vec(any_value(of), 1..5)
            .prop_map(|items| Tree::List(items.into_iter().map(Node::from).collect()))
            .boxed(),
        Kind::Either(kinds) => prop::strategy::Union::new(kinds.iter().map(any_value)).boxed(),
        Kind::Formula(Gives::Value) => any_of(&FORMULAS),
        Kind::Formula(Gives::Condition) => any_of(&CONDITIONS),
        Kind::Formula(Gives::Decision) => any_of(&DECISIONS),
        Kind::Formula(Gives::Constant) => any_value(&Kind::Number),
        Kind::Named(of) => {
            // A name has one meaning: those of each key are its own.
            let key = if let Kind::Table([first, ..]) = of { first.name } else { "it" };
            let names = ["first", "second"].map(|name| format!("{key}_{name}"));
            (any_value(of), any_value(of))
                .prop_map(move |(a, b)| Tree::table(vec![(&*names[0], a), (&*names[1], b)]))
                .boxed()
        }
        Kind::Any => Just(Tree::Bool(true)).boxed(),
    }
}

/// A table that gives each field a value, or leaves it out where it may be.
pub fn any_tree(fields: &'static [Field]) -> BoxedStrategy<Tree> {
    let entry = |field: &'static Field| {
        let value = any_value(&field.kind);
        let optional = field.default.is_some() || field.optional;
        let chosen = match field.name {
            // Who pays what a bucket does not hold stops: that has separate tests.
            "pays" => Just(None).boxed(),
            _ if optional => prop::option::of(value).boxed(),
            _ => value.prop_map(Some).boxed(),
        };
        chosen.prop_map(|tree| tree.map(|tree| (field.name, tree)))
    };
    let entries: Vec<_> = Field::all(fields).into_iter().map(entry).collect();
    entries.prop_map(|entries| Tree::table(entries.into_iter().flatten().collect())).boxed()
}

/// Reads a table as the parameters of the conditioner called `name`.
pub fn read_conditioner(name: &str, tree: &Tree) -> Result<ConditionerParams, Problems> {
    let (mut problems, empty) = (Problems::default(), Table::default());
    let table = if let Tree::Table(table) = tree { table } else { &empty };
    let mut reader = Reader::new(table, Place::default(), &mut problems);
    let params = ConditionerParams::read(name, Place::default(), &mut reader);
    reader.finish();
    params.filter(|_| problems.list.is_empty()).ok_or(problems)
}

/// The parameters of the conditioner called `name`, stated as inline TOML values.
///
/// # Panics
/// When they are not its parameters.
pub fn conditioner(name: &str, entries: &[(&'static str, Tree)]) -> ConditionerParams {
    read_conditioner(name, &Tree::table(entries.to_vec())).unwrap_or_else(|p| panic!("{name}: {:?}", p.list))
}

/// Parameters of a conditioner of the list that build in `scope`.
pub fn any_conditioner(entry: &'static Entry, scope: Scope) -> BoxedStrategy<ConditionerParams> {
    let read = move |tree: Tree| read_conditioner(entry.name, &tree).ok().filter(|p| p.build(&scope).is_ok());
    any_tree(entry.fields).prop_filter_map("does not build", read).boxed()
}

/// The text of a quantity.
pub fn quantity(text: &str) -> Tree {
    Tree::Text(text.into())
}
