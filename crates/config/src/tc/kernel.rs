//! What a kernel would hold after some commands: interfaces with queueing disciplines, classes and filters.

use super::actions;
use super::bands;
use super::filters::{self, Sorter};
use super::options::{self, Discipline, Options, Row};
use super::table;
use super::units::{class, handle, number, shown};
use super::words::{Device, Form, Object, Refusal, Statement, Taken, Token, Verb, Words};
use perhop_core::params::Place;
use std::collections::{BTreeMap, HashMap};

/// Where the first queueing discipline of an interface is.
pub(super) const ROOT: u32 = 0xffff_ffff;
/// Where `ingress` and `clsact` are.
pub(super) const INGRESS: u32 = 0xffff_fff1;
/// Filters of packets that come in.
pub(super) const AT_INGRESS: u32 = 0xffff_fff2;
/// Filters of packets that go out, before the queues.
pub(super) const AT_EGRESS: u32 = 0xffff_fff3;
/// The handle of `ingress` and `clsact`.
const INGRESS_HANDLE: u32 = 0xffff_0000;
/// The first handle that the kernel gives itself.
const OWN_HANDLES: u32 = 0x8001_0000;

/// All interfaces, in the order of the text.
#[derive(Debug, Default)]
pub(super) struct Kernel<'a> {
    pub(super) interfaces: Vec<Interface<'a>>,
    by_name: HashMap<(String, Option<String>), usize>,
    /// Actions that were made by themselves, by kind and number.
    pub(super) actions: HashMap<(String, u64), Vec<Token<'a>>>,
}

/// An interface.
#[derive(Debug, Default)]
pub(super) struct Interface<'a> {
    pub(super) device: Device<'a>,
    /// By their parent.
    pub(super) qdiscs: BTreeMap<u32, Qdisc<'a>>,
    /// The parent of each, by its handle.
    handles: HashMap<u32, u32>,
    /// By their number.
    pub(super) classes: BTreeMap<u32, Class<'a>>,
    /// By where they are.
    pub(super) filters: BTreeMap<u32, Vec<Sorter<'a>>>,
    /// Handles that the kernel has given.
    given: u32,
}

/// A queueing discipline.
#[derive(Clone, Debug)]
pub(super) struct Qdisc<'a> {
    /// Its handle.
    pub(super) handle: u32,
    /// As tc calls it.
    pub(super) name: Token<'a>,
    /// `None`: perhop has it not.
    pub(super) known: Option<&'static Discipline>,
    pub(super) options: Options<'a>,
    /// Of its size table.
    pub(super) stab: Options<'a>,
    pub(super) place: Place,
    pub(super) lines: Vec<usize>,
    pub(super) form: Form,
}

/// A class.
#[derive(Clone, Debug)]
pub(super) struct Class<'a> {
    /// The class above it, or its queueing discipline.
    pub(super) parent: u32,
    pub(super) options: Options<'a>,
    pub(super) place: Place,
    pub(super) lines: Vec<usize>,
}

/// What stands before the kind of a queueing discipline or a class.
#[derive(Debug, Default)]
struct Head<'a> {
    handle: Option<u32>,
    parent: Option<u32>,
    stab: Options<'a>,
    kind: Option<Token<'a>>,
    options: Vec<Token<'a>>,
}

impl<'a> Kernel<'a> {
    /// Does what a statement says.
    ///
    /// # Errors
    /// tc or the kernel would refuse it.
    pub(super) fn apply(&mut self, statement: &Statement<'a>) -> Taken<()> {
        if statement.object == Object::Action {
            return self.action(statement);
        }
        let place = self.place(statement)?;
        let resolved =
            (statement.object == Object::Filter && !self.actions.is_empty()).then(|| self.resolved(statement));
        let statement = resolved.as_ref().unwrap_or(statement);
        let interface = &mut self.interfaces[place];
        match statement.object {
            Object::Qdisc => interface.qdisc(statement),
            Object::Class => interface.class(statement),
            _ => interface.filter(statement),
        }
    }

    /// The interface of a statement.
    fn place(&mut self, statement: &Statement<'a>) -> Taken<usize> {
        let Device { namespace, name } = &statement.device;
        if name.is_none() && statement.verb != Verb::Shown {
            return Err(Refusal::of("it names no interface").instead("dev eth0"));
        }
        let key = (namespace.clone(), name.as_ref().map(|it| it.text.to_string()));
        let interfaces = &mut self.interfaces;
        Ok(*self.by_name.entry(key).or_insert_with(|| {
            interfaces.push(Interface { device: statement.device.clone(), ..Interface::default() });
            interfaces.len() - 1
        }))
    }

    /// `tc actions add action police .. index 1`
    fn action(&mut self, statement: &Statement<'a>) -> Taken<()> {
        for words in statement.words.split(|word| word.text == "action") {
            let Some(kind) = words.first() else { continue };
            let index = words.windows(2).find(|pair| pair[0].text == "index").and_then(|pair| number(&pair[1].text));
            let key = index.map(|index| (kind.text.to_string(), index));
            if statement.verb == Verb::Delete {
                match key {
                    Some(key) => _ = self.actions.remove(&key),
                    None => self.actions.retain(|it, _| it.0 != kind.text),
                }
                continue;
            }
            alone(words, statement.form())?;
            let Some(key) = key else { continue };
            if statement.verb == Verb::Add && self.actions.contains_key(&key) {
                let message = format!("`{}` {} is there already", key.0, key.1);
                return Err(Refusal::of(message).instead("replace in place of add"));
            }
            self.actions.insert(key, words.to_vec());
        }
        Ok(())
    }

    /// A filter with the actions that it names by their number.
    fn resolved(&self, statement: &Statement<'a>) -> Statement<'a> {
        let mut out = statement.clone();
        let mut at = 0;
        while at + 2 < out.words.len() {
            let index = if out.words[at + 1].text == "index" { number(&out.words[at + 2].text) } else { None };
            let made = index.and_then(|index| self.actions.get(&(out.words[at].text.to_string(), index)));
            if let Some(made) = made {
                // At the place where it is named, the words of the other command.
                let place = out.words[at].clone();
                let words: Vec<_> = made.iter().map(|it| Token { text: it.text.clone(), ..place.clone() }).collect();
                out.words.splice(at..at + 3, words);
                at += made.len();
            }
            at += 1;
        }
        out
    }
}

impl<'a> Interface<'a> {
    /// The queueing discipline with this handle.
    pub(super) fn by_handle(&self, id: u32) -> Option<&Qdisc<'a>> {
        self.qdiscs.get(self.handles.get(&(id & 0xffff_0000))?)
    }

    fn qdisc(&mut self, statement: &Statement<'a>) -> Taken<()> {
        let mut head = head(statement)?;
        let typed = statement.form() == Form::Typed;
        let parent = match head.parent.or_else(|| head.handle.and_then(|it| self.handles.get(&it).copied())) {
            Some(parent) => parent,
            None if !typed => ROOT,
            None => return Err(Refusal::of("it says neither `root` nor `parent`")),
        };
        if statement.verb == Verb::Delete {
            return self.remove(parent, head.handle);
        }
        if typed {
            self.takes_child(parent)?;
        }
        let old = self.qdiscs.get(&parent);
        let same = old.filter(|old| {
            let kind = head.kind.as_ref().is_none_or(|kind| kind.text == old.name.text);
            kind && head.handle.is_none_or(|handle| handle == old.handle)
        });
        match (statement.verb, old, same) {
            (Verb::Add, Some(old), _) if old.form == Form::Typed => {
                let message = format!("`{}` is there already; the kernel adds no second one", old.name.text);
                Err(Refusal::of(message).instead("replace in place of add, or delete it first"))
            }
            (Verb::Change, None, _) => Err(Refusal::of("there is none to be changed")),
            (Verb::Change, Some(old), None) => Err(Refusal::of(format!(
                "it is `{}` {} there, which `change` does not replace",
                old.name.text,
                shown(old.handle)
            ))),
            (Verb::Change | Verb::Replace | Verb::Shown, Some(_), Some(_)) => self.alter(parent, head, statement),
            _ => {
                let handle = head.handle.unwrap_or_else(|| self.own_handle());
                head.handle = Some(handle);
                if typed && self.handles.get(&handle).is_some_and(|at| *at != parent) && handle != 0 {
                    return Err(Refusal::of(format!("the handle {} is taken", shown(handle))));
                }
                let made = made(head, statement)?;
                _ = self.remove(parent, None);
                self.handles.insert(made.handle, parent);
                self.qdiscs.insert(parent, made);
                Ok(())
            }
        }
    }

    fn own_handle(&mut self) -> u32 {
        self.given += 0x1_0000;
        OWN_HANDLES - 0x1_0000 + self.given
    }

    /// New options for one that is there.
    fn alter(&mut self, parent: u32, head: Head<'a>, statement: &Statement<'a>) -> Taken<()> {
        let Some(old) = self.qdiscs.get_mut(&parent) else { return Ok(()) };
        let Some(known) = old.known else { return Ok(()) };
        let options = options::read(known.rows, known.name, &head.options, statement.form())?;
        if known.keeps[0] && statement.verb != Verb::Shown {
            old.options.extend(options);
        } else {
            old.options = options;
        }
        old.lines.extend(&statement.lines);
        if !head.stab.list.is_empty() {
            old.stab = head.stab;
        }
        Ok(())
    }

    /// A queueing discipline goes, with all below it.
    fn remove(&mut self, parent: u32, handle: Option<u32>) -> Taken<()> {
        let fits = |it: &Qdisc<'_>| handle.is_none_or(|handle| handle == it.handle);
        if !self.qdiscs.get(&parent).is_some_and(fits) {
            return Err(Refusal::of("there is nothing to be removed"));
        }
        let mut gone = vec![parent];
        while let Some(parent) = gone.pop() {
            let Some(it) = self.qdiscs.remove(&parent) else { continue };
            self.handles.remove(&it.handle);
            let own = own(it.handle);
            gone.extend(self.qdiscs.range(own.clone()).map(|it| *it.0));
            self.classes.retain(|id, _| !own.contains(id));
            self.filters.retain(|at, _| !own.contains(at) && (parent != INGRESS || *at < INGRESS));
        }
        Ok(())
    }

    /// Whether something can be put below `parent`.
    fn takes_child(&self, parent: u32) -> Taken<()> {
        if matches!(parent, ROOT | INGRESS) {
            return Ok(());
        }
        let Some(above) = self.by_handle(parent) else {
            return Err(Refusal::of(format!("there is no queueing discipline {}", shown(parent & 0xffff_0000))));
        };
        if above.known.is_none() || self.has_class(above, parent) {
            return Ok(());
        }
        Err(Refusal::of(format!("`{}` {} has no class {}", above.name.text, shown(above.handle), shown(parent))))
    }

    /// Whether a queueing discipline has this class.
    pub(super) fn has_class(&self, above: &Qdisc<'a>, id: u32) -> bool {
        match table::own_classes(above) {
            Some(many) => (1..=many).contains(&(id & 0xffff)),
            None => self.classes.contains_key(&id),
        }
    }

    fn class(&mut self, statement: &Statement<'a>) -> Taken<()> {
        let head = head(statement)?;
        let id = head.handle.ok_or_else(|| Refusal::of("it has no `classid`"))?;
        let root = || self.qdiscs.get(&ROOT).map_or(0, |it| it.handle);
        let above = head.parent.filter(|it| *it != ROOT && *it >> 16 != 0).unwrap_or_else(root);
        let id = if id >> 16 == 0 { above & 0xffff_0000 | id } else { id };
        let parent =
            head.parent.filter(|it| *it != ROOT).map(|it| if it >> 16 == 0 { id & 0xffff_0000 | it } else { it });
        let parent = parent.unwrap_or(id & 0xffff_0000);
        if statement.verb == Verb::Delete {
            return self.without_class(id);
        }
        if statement.verb == Verb::Shown && self.by_handle(id).is_none() {
            self.imply(id, head.kind.as_ref(), statement);
        }
        let Some(above) = self.by_handle(id) else {
            return Err(Refusal::of(format!("there is no queueing discipline {}", shown(id & 0xffff_0000))));
        };
        let own = self.has_class(above, id);
        let Some(known) = above.known else {
            let (place, lines) = (statement.place, statement.lines.clone());
            self.classes.insert(id, Class { parent, options: Options::default(), place, lines });
            return Ok(());
        };
        if known.class_rows.is_empty() && statement.verb == Verb::Shown {
            return Ok(());
        }
        if statement.verb == Verb::Change && !own {
            return Err(Refusal::of(format!("there is no class {}", shown(id))));
        }
        self.makes_class([id, parent], &head, statement, known)
    }

    fn makes_class(
        &mut self,
        [id, parent]: [u32; 2],
        head: &Head<'a>,
        statement: &Statement<'a>,
        known: &'static Discipline,
    ) -> Taken<()> {
        let typed = statement.form() == Form::Typed;
        if let Some(kind) = head.kind.as_ref().filter(|kind| kind.text != known.name) {
            return Err(Refusal::at(
                kind,
                format!("{} is `{}`, whose classes are no `{}`", shown(id & 0xffff_0000), known.name, kind.text),
            ));
        }
        if typed && parent & 0xffff != 0 && !self.classes.contains_key(&parent) {
            return Err(Refusal::of(format!("there is no class {}", shown(parent))));
        }
        let options = options::read(known.class_rows, known.name, &head.options, statement.form())?;
        if let Some(above) = self.by_handle(id).filter(|_| typed) {
            bands::fits(above, id, &options)?;
        }
        match self.classes.get_mut(&id) {
            Some(_) if statement.verb == Verb::Add => {
                return Err(
                    Refusal::of(format!("class {} is there already", shown(id))).instead("replace in place of add")
                );
            }
            Some(old) if known.keeps[1] && typed => {
                old.options.extend(options);
                old.lines.extend(&statement.lines);
            }
            Some(old) => {
                (old.options, old.place) = (options, statement.place);
                old.lines.extend(&statement.lines);
            }
            None => {
                let class = Class { parent, options, place: statement.place, lines: statement.lines.clone() };
                self.classes.insert(id, class);
            }
        }
        Ok(())
    }

    /// Classes are printed whose queueing discipline is not.
    fn imply(&mut self, id: u32, kind: Option<&Token<'a>>, statement: &Statement<'a>) {
        let Some(kind) = kind else { return };
        let it = Qdisc {
            handle: id & 0xffff_0000,
            name: kind.clone(),
            known: table::discipline(&kind.text),
            options: Options::default(),
            stab: Options::default(),
            place: statement.place,
            lines: Vec::new(),
            form: Form::Shown,
        };
        let parent = if self.qdiscs.contains_key(&ROOT) { id & 0xffff_0000 | 0xffff } else { ROOT };
        self.handles.insert(it.handle, parent);
        self.qdiscs.insert(parent, it);
    }

    fn without_class(&mut self, id: u32) -> Taken<()> {
        if self.classes.values().any(|class| class.parent == id) {
            return Err(Refusal::of(format!("class {} has classes below it", shown(id))));
        }
        let used = |it: &Sorter<'_>| it.target.is_some_and(|target| target.0 == id);
        if self.filters.range(own(id & 0xffff_0000)).flat_map(|it| it.1).any(used) {
            return Err(Refusal::of(format!("a filter sends packets to class {}", shown(id))));
        }
        self.classes.remove(&id).ok_or_else(|| Refusal::of(format!("there is no class {}", shown(id))))?;
        _ = self.remove(id, None);
        self.filters.remove(&id);
        Ok(())
    }

    fn filter(&mut self, statement: &Statement<'a>) -> Taken<()> {
        let head = filters::head(statement)?;
        let root = self.qdiscs.get(&ROOT).map_or(0x1_0000, |it| it.handle);
        let at = match head.parent {
            None | Some(ROOT) if statement.form() == Form::Shown && !self.qdiscs.contains_key(&ROOT) => AT_INGRESS,
            None | Some(ROOT) => root,
            Some(INGRESS_HANDLE) => AT_INGRESS,
            Some(at) => at,
        };
        if statement.form() == Form::Typed {
            self.takes_filters(at)?;
        }
        let list = self.filters.entry(at).or_default();
        if statement.verb == Verb::Delete {
            if !head.is_whole() {
                return Err(Refusal::of("filters are removed by their prio, or all together"));
            }
            let before = list.len();
            list.retain(|it| !head.names(it));
            return if list.len() < before { Ok(()) } else { Err(Refusal::of("there is no such filter")) };
        }
        filters::put(list, head, statement)
    }

    fn takes_filters(&self, at: u32) -> Taken<()> {
        if matches!(at, AT_INGRESS | AT_EGRESS) {
            let there = self.qdiscs.get(&INGRESS).is_some_and(|it| at == AT_INGRESS || it.name.text == "clsact");
            let what = if at == AT_INGRESS { "`ingress` or `clsact`" } else { "`clsact`" };
            let refusal =
                || Refusal::of(format!("the interface has no {what}")).instead("tc qdisc add dev .. clsact, before it");
            return if there { Ok(()) } else { Err(refusal()) };
        }
        match self.by_handle(at) {
            Some(it) if at & 0xffff == 0 || it.known.is_none() || self.has_class(it, at) => Ok(()),
            Some(_) => Err(Refusal::of(format!("there is no class {}", shown(at)))),
            None => Err(Refusal::of(format!("there is no queueing discipline {}", shown(at & 0xffff_0000)))),
        }
    }
}

/// An action that is made by itself.
///
/// # Errors
/// tc or the kernel would refuse it.
fn alone<'a>(words: &[Token<'a>], form: Form) -> Taken<()> {
    let (mut rest, mut list) = (Words::new(words), Vec::new());
    actions::read(&mut list, &mut rest, form)?;
    if let Some(word) = rest.peek() {
        return Err(Refusal::at(word, format!("tc knows no `{}` of an action", word.text)));
    }
    match words.iter().find(|word| word.text == "goto") {
        Some(word) => Err(Refusal::at(word, "an action by itself has no chains to go to")),
        None => Ok(()),
    }
}

fn made<'a>(head: Head<'a>, statement: &Statement<'a>) -> Taken<Qdisc<'a>> {
    let Some(name) = head.kind else { return Err(Refusal::of("it names no queueing discipline")) };
    let known = table::discipline(&name.text);
    let options = match known {
        Some(known) => options::read(known.rows, known.name, &head.options, statement.form())?,
        None => Options::default(),
    };
    let (handle, place, lines) = (head.handle.unwrap_or_default(), statement.place, statement.lines.clone());
    let it = Qdisc { handle, name, known, options, stab: head.stab, place, lines, form: statement.form() };
    table::checked(&it)?;
    Ok(it)
}

/// Words of a size table.
const STAB: &[Row] = table::STAB;

fn head<'a>(statement: &Statement<'a>) -> Taken<Head<'a>> {
    let mut words = Words::new(&statement.words);
    let mut head = Head::default();
    while let Some(word) = words.next() {
        match &*word.text {
            "classid" => head.handle = Some(id(words.value(word)?)?),
            "handle" => head.handle = Some(qdisc_id(words.value(word)?)?),
            "parent" => head.parent = Some(id(words.value(word)?)?),
            "root" => head.parent = Some(ROOT),
            "ingress" | "clsact" => {
                (head.parent, head.handle, head.kind) = (Some(INGRESS), Some(INGRESS_HANDLE), Some(word.clone()));
                head.options = words.rest().to_vec();
                return Ok(head);
            }
            "estimator" | "est" => _ = (words.value(word)?, words.value(word)?),
            "ingress_block" | "egress_block" => _ = words.value(word)?,
            "stab" => {
                while let Some(row) = words.peek().and_then(|word| STAB.iter().find(|row| row.word == word.text)) {
                    let Some(word) = words.next() else { break };
                    head.stab.list.push(options::option(row, word, &mut words, statement.form())?);
                }
            }
            _ => {
                (head.kind, head.options) = (Some(word.clone()), words.rest().to_vec());
                return Ok(head);
            }
        }
    }
    Ok(head)
}

/// A handle or the number of a class.
///
/// # Errors
/// It is none.
pub(super) fn id(token: &Token<'_>) -> Taken<u32> {
    let named = match &*token.text {
        "root" => Some(ROOT),
        "ingress" => Some(AT_INGRESS),
        "egress" => Some(AT_EGRESS),
        "none" => Some(0),
        text => class(text),
    };
    named.ok_or_else(|| Refusal::at(token, format!("`{}` is no handle", token.text)).instead("1: or 1:10, hexadecimal"))
}

/// The handle of a queueing discipline.
fn qdisc_id(token: &Token<'_>) -> Taken<u32> {
    let found = if token.text == "none" { Some(0) } else { handle(&token.text) };
    found.ok_or_else(|| Refusal::at(token, format!("`{}` is no handle", token.text)).instead("1:, hexadecimal"))
}

/// The numbers of a queueing discipline and its classes, without those places that have a meaning of their own.
pub(super) fn own(handle: u32) -> std::ops::RangeInclusive<u32> {
    handle..=(handle | 0xffff).min(INGRESS - 1)
}
