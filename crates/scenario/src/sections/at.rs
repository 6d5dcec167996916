//! `at`: the ports of a conditioner, each with the parameters that apply there.
//!
//! A port's table is laid over the section's keys, and both are read as the kind's parameters. A plain list of ports is
//! the same with empty tables.

use perhop_core::conditioner::{self, ConditionerParams};
use perhop_core::params::{Field, Kind, Located, Node, Place, Places, Problems, Reader, Spanned, Table, Tree, Value};
use perhop_core::registry::Entry;

/// A port of a conditioner.
#[derive(Clone, Debug, PartialEq)]
pub struct Port {
    /// As written in the file.
    pub name: Option<Spanned<String>>,
    /// `kind` with the parameters that apply there.
    pub params: Located<ConditionerParams>,
}

/// A port as written in the file.
#[derive(Clone)]
pub struct Stated<'a> {
    /// Its name; none in a policy.
    name: Option<Spanned<String>>,
    /// What differs there.
    own: Option<&'a Node>,
}

/// What replaces ports if there are none.
pub const NOWHERE: Stated<'_> = Stated { name: None, own: None };

/// The ports at `at`: one, a list, or a table of ports; at least one.
pub fn stated<'a>(section: &mut Reader<'a>) -> Option<Vec<Stated<'a>>> {
    let place = section.place_of("at");
    let ports: Vec<_> = match section.take("at") {
        None => Vec::new(),
        Some(Node { tree: Tree::Table(table), .. }) => {
            let port = |(name, place, own): &'a (String, Place, Node)| Stated {
                name: Some(Spanned::new(*place, name.clone())),
                own: Some(own),
            };
            table.entries.iter().map(port).collect()
        }
        Some(node) => {
            let names = Vec::<Spanned<String>>::read(node, section.problems)?;
            names.into_iter().map(|name| Stated { name: Some(name), own: None }).collect()
        }
    };
    if ports.is_empty() {
        let message = format!("missing key `at` in {}", section.problems.section());
        let help = "add the port or ports of the conditioner, as in at = \"E1 -> C\"";
        return section.problems.error("E005", place, message).help(help).none();
    }
    Some(ports)
}

/// Reads the parameters of the algorithm called `kind` (the name at `place`) for each port.
pub fn read(section: &mut Reader<'_>, kind: &Spanned<String>, stated: &[Stated<'_>]) -> Option<Vec<Port>> {
    let Some(entry) = conditioner::entries().into_iter().find(|e| e.name == **kind) else {
        return ConditionerParams::read(kind, kind.place, section).map(|_| Vec::new());
    };
    let fields = Field::all(entry.fields);
    fields.iter().for_each(|field| _ = section.take(field.name));
    let own: Vec<_> = stated.iter().map(|port| port.table(&entry, section.problems)).collect();
    let below = section.entries().iter().filter(|e| fields.iter().any(|field| field.name == e.0)).collect();
    let layers = Layers { kind, below, at: section.place, needed: needed(&entry, &own) };
    layers.read_overridden(&own, section.problems);
    let ports = stated.iter().zip(&own).map(|(port, own)| layers.read(port, own.as_ref()?, section.problems));
    ports.collect::<Vec<_>>().into_iter().collect()
}

/// The keys without default that some port sets itself.
fn needed(entry: &Entry, own: &[Option<Table>]) -> Vec<&'static str> {
    let needed = Field::all(entry.fields).into_iter().filter(|f| f.default.is_none() && !f.optional).map(|f| f.name);
    needed.filter(|name| own.iter().flatten().any(|table| table.get(name).is_some())).collect()
}

impl Stated<'_> {
    /// Reads something in `[conditioner.X.at.PORT]`.
    fn within<T>(&self, problems: &mut Problems, read: impl FnOnce(&mut Problems) -> T) -> T {
        let name = self.name.as_ref().map_or("", |name| name.as_str());
        problems.within("at", |problems| problems.within(name, read))
    }

    /// Its table, which holds parameters of the algorithm and nothing else.
    fn table(&self, entry: &Entry, problems: &mut Problems) -> Option<Table> {
        let Some(node) = self.own else { return Some(Table::default()) };
        let Tree::Table(table) = &node.tree else { return problems.wrong_type(node, &Kind::Table(entry.fields)) };
        self.within(problems, |problems| {
            let mut reader = Reader::new(table, node.place, problems);
            Field::all(entry.fields).iter().for_each(|field| _ = reader.take(field.name));
            reader.finish();
        });
        Some(table.clone())
    }
}

struct Layers<'a> {
    kind: &'a Spanned<String>,
    /// The parameters that the section sets, and its place.
    below: Vec<&'a (String, Place, Node)>,
    at: Place,
    needed: Vec<&'static str>,
}

impl Layers<'_> {
    /// Faults of the section's values that every port overrides: nothing else reads them.
    fn read_overridden(&self, own: &[Option<Table>], problems: &mut Problems) {
        let everywhere = |name: &str| own.iter().flatten().all(|table| table.get(name).is_some());
        let overridden: Vec<_> = self.below.iter().filter(|e| everywhere(&e.0)).copied().cloned().collect();
        let Some(Some(port)) = own.first().filter(|_| !overridden.is_empty()) else { return };
        let others = port.entries.iter().filter(|e| overridden.iter().all(|own| own.0 != e.0)).cloned();
        let table = Table { entries: overridden.iter().cloned().chain(others).collect() };
        let mut found = Problems { path: problems.path.clone(), ..Problems::default() };
        ConditionerParams::read(self.kind, self.kind.place, &mut Reader::new(&table, self.at, &mut found));
        let here =
            |place: Place| overridden.iter().any(|e| e.2.place.start <= place.start && place.end <= e.2.place.end);
        problems.list.extend(found.list.into_iter().filter(|problem| problem.place.is_some_and(here)));
    }

    /// What no port sets is missing in the section; what other ports set is missing at this one.
    fn read(&self, port: &Stated<'_>, own: &Table, problems: &mut Problems) -> Option<Port> {
        let below = self.below.iter().filter(|e| own.get(&e.0).is_none());
        let both = Table { entries: below.copied().chain(&own.entries).cloned().collect() };
        let places = Places::of_table(self.at, &both);
        let read = |at: Place, problems: &mut Problems| {
            ConditionerParams::read(self.kind, self.kind.place, &mut Reader::new(&both, at, problems))
        };
        let lacking = port.own.filter(|_| self.needed.iter().any(|name| both.get(name).is_none()));
        let params = match lacking {
            Some(own) => port.within(problems, |problems| read(own.place, problems)),
            None => read(self.at, problems),
        };
        Some(Port { name: port.name.clone(), params: Located { value: params?, places } })
    }
}

/// The parameters at each port, `common` to all or its `own`.
pub struct EffectiveParams {
    /// What applies at every port.
    pub common: Vec<(&'static str, Tree)>,
    /// What differs, port by port.
    pub own: Vec<Vec<(&'static str, Tree)>>,
}

impl EffectiveParams {
    /// All effective values.
    pub fn new(ports: &[Port]) -> Self {
        let values = |port: &Port| {
            let mut out = Vec::new();
            port.params.show(&mut out);
            out
        };
        let all: Vec<_> = ports.iter().map(values).collect();
        let everywhere = |entry: &(&str, Tree)| all.iter().all(|port| port.contains(entry));
        let common: Vec<_> = all.first().into_iter().flatten().filter(|e| everywhere(e)).cloned().collect();
        let own = all.iter().map(|port| port.iter().filter(|e| !common.contains(e)).cloned().collect()).collect();
        Self { common, own }
    }

    /// `at`: a list if nothing differs, else a table; nothing in a policy.
    pub fn at(&self, ports: &[Port]) -> Option<Tree> {
        let names = ports.iter().filter_map(|port| Some(port.name.as_ref()?.as_str()));
        if self.own.iter().all(Vec::is_empty) {
            return names.map(str::to_owned).collect::<Vec<_>>().tree();
        }
        Some(Tree::table(names.zip(&self.own).map(|(name, own)| (name, Tree::table(own.clone()))).collect()))
    }
}
