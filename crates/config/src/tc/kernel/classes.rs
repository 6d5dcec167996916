//! Classes: made, altered, removed.

use super::head::{Head, head};
use super::{Class, Interface, Qdisc};
use crate::tc::handles::{ROOT, own};
use crate::tc::options::{self, Classes, Discipline, Options};
use crate::tc::table::discipline;
use crate::tc::units::shown;
use crate::tc::words::{Form, Refusal, Statement, Taken, Token, Verb};
use crate::tc::{bands, htb, table};

impl<'a> Interface<'a> {
    /// Does what a statement says of one.
    ///
    /// # Errors
    /// tc or the kernel would refuse it.
    pub(super) fn class(&mut self, statement: &Statement<'a>) -> Taken<()> {
        let head = head(statement)?;
        let [id, parent] = self.numbers(&head)?;
        if statement.verb == Verb::Delete {
            return self.without_class(id);
        }
        if statement.verb == Verb::Shown && self.by_handle(id).is_none() {
            self.imply(id, head.kind.as_ref(), statement);
        }
        let Some(above) = self.by_handle(id) else {
            let handle = shown(id & 0xffff_0000);
            let refusal = Refusal::of(format!("there is no queueing discipline {handle}"));
            let kind = head.kind.as_ref().and_then(|it| discipline(&it.text)).map_or("htb", |it| it.name);
            return Err(refusal.instead(format!("tc qdisc add dev .. root handle {handle} {kind}, before it")));
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

    /// Of a class and what is above it.
    fn numbers(&self, head: &Head<'a>) -> Taken<[u32; 2]> {
        let id = head.handle.ok_or_else(|| Refusal::of("it has no `classid`"))?;
        let root = || self.qdiscs.get(&ROOT).map_or(0, |it| it.handle);
        let above = head.parent.filter(|it| *it != ROOT && *it >> 16 != 0).unwrap_or_else(root) & 0xffff_0000;
        let id = if id >> 16 == 0 { above | id } else { id };
        let parent = head.parent.filter(|it| *it != ROOT).unwrap_or(id & 0xffff_0000);
        let parent = if parent >> 16 == 0 { id & 0xffff_0000 | parent } else { parent };
        if parent & 0xffff_0000 != id & 0xffff_0000 {
            return Err(Refusal::of(format!("class {} cannot be below {}", shown(id), shown(parent))));
        }
        Ok([id, parent])
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
            let above = shown(id & 0xffff_0000);
            let message = format!("{above} is `{}`, whose classes are no `{}`", known.name, kind.text);
            return Err(Refusal::at(kind, message));
        }
        let missing = typed && parent & 0xffff != 0 && parent != id && !self.classes.contains_key(&parent);
        if missing && known.name == "hfsc" {
            return Err(Refusal::of(format!("there is no class {}", shown(parent))));
        }
        let options = options::read(known.class_rows, known.name, &head.options, statement.form())?;
        if typed {
            htb::fits(known.name, &options)?;
        }
        if let Some(above) = self.by_handle(id).filter(|_| typed) {
            bands::fits(above, id, &options)?;
        }
        if missing && known.name == "htb" && !self.classes.contains_key(&id) {
            self.orphans.entry(id & 0xffff_0000).or_default().push((id, parent, statement.place));
        }
        let parent = if missing || known.classes != Classes::Tree { id & 0xffff_0000 } else { parent };
        self.keep([id, parent], options, statement, known)
    }

    fn keep(
        &mut self,
        [id, parent]: [u32; 2],
        options: Options<'a>,
        statement: &Statement<'a>,
        known: &Discipline,
    ) -> Taken<()> {
        let typed = statement.form() == Form::Typed;
        match self.classes.get_mut(&id) {
            Some(_) if statement.verb == Verb::Add => {
                let refusal = Refusal::of(format!("class {} is there already", shown(id)));
                return Err(refusal.instead("replace in place of add"));
            }
            Some(old) => {
                if known.keeps[1] && typed {
                    old.options.extend(options);
                } else {
                    (old.options, old.place) = (options, statement.place);
                }
                if !typed && old.parent != parent {
                    self.below.remove(&(old.parent, id));
                    self.below.insert((parent, id));
                    old.parent = parent;
                }
                old.lines.extend(&statement.lines);
            }
            None => {
                let class = Class { parent, options, place: statement.place, lines: statement.lines.clone() };
                self.classes.insert(id, class);
                self.below.insert((parent, id));
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

    /// Whether classes are below a class.
    pub(super) fn is_parent(&self, id: u32) -> bool {
        self.below.range((id, 0)..=(id, u32::MAX)).any(|it| it.1 != id)
    }

    fn without_class(&mut self, id: u32) -> Taken<()> {
        if self.is_parent(id) {
            return Err(Refusal::of(format!("class {} has classes below it", shown(id))));
        }
        let own = own(id & 0xffff_0000);
        if self.aimed.range((id, *own.start())..=(id, *own.end())).next().is_some() {
            return Err(Refusal::of(format!("a filter sends packets to class {}", shown(id))));
        }
        let none = || Refusal::of(format!("there is no class {}", shown(id)));
        let class = self.classes.remove(&id).ok_or_else(none)?;
        self.below.remove(&(class.parent, id));
        _ = self.remove(id, None);
        self.without_filters(id);
        Ok(())
    }
}
