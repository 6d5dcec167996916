//! Queueing disciplines: put, altered, removed.

use super::head::{Head, head};
use super::{Interface, Qdisc};
use crate::tc::handles::{INGRESS, OWN_HANDLES, ROOT, own};
use crate::tc::options::{self, Classes, Options};
use crate::tc::table;
use crate::tc::units::shown;
use crate::tc::words::{Form, Refusal, Statement, Taken, Verb};

impl<'a> Interface<'a> {
    /// The queueing discipline with this handle.
    pub(in crate::tc) fn by_handle(&self, id: u32) -> Option<&Qdisc<'a>> {
        self.qdiscs.get(&self.handles.get(id & 0xffff_0000)?)
    }

    /// Does what a statement says of one.
    ///
    /// # Errors
    /// tc or the kernel would refuse it.
    pub(super) fn qdisc(&mut self, statement: &Statement<'a>) -> Taken<()> {
        let head = head(statement)?;
        let typed = statement.form() == Form::Typed;
        let parent = match head.parent.or_else(|| head.handle.and_then(|it| self.handles.get(it))) {
            Some(parent) => parent,
            None if !typed => ROOT,
            None => return Err(Refusal::of("it says neither `root` nor `parent`")),
        };
        let single = self.by_handle(parent).is_some_and(|it| it.classes() == Classes::One);
        let parent = if single { parent & 0xffff_0000 | 1 } else { parent };
        if statement.verb == Verb::Delete {
            return self.remove(parent, head.handle);
        }
        if typed {
            self.takes_child(parent)?;
        }
        self.put(parent, head, statement)
    }

    fn put(&mut self, parent: u32, head: Head<'a>, statement: &Statement<'a>) -> Taken<()> {
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
            (Verb::Change, Some(old), None) => {
                let is = format!("it is `{}` {} there", old.name.text, shown(old.handle));
                Err(Refusal::of(format!("{is}, which `change` does not replace")))
            }
            (Verb::Change | Verb::Replace | Verb::Shown, Some(_), Some(_)) => self.alter(parent, head, statement),
            _ => self.graft(parent, head, statement),
        }
    }

    /// A new one, in place of one that may be there.
    fn graft(&mut self, parent: u32, mut head: Head<'a>, statement: &Statement<'a>) -> Taken<()> {
        let handle = head.handle.unwrap_or_else(|| self.own_handle());
        head.handle = Some(handle);
        let taken = self.handles.get(handle).is_some_and(|at| at != parent) && handle != 0;
        if taken && statement.form() == Form::Typed {
            return Err(Refusal::of(format!("the handle {} is taken", shown(handle))));
        }
        let made = made(head, statement)?;
        _ = self.remove(parent, None);
        self.handles.insert(made.handle, parent);
        self.qdiscs.insert(parent, made);
        Ok(())
    }

    fn own_handle(&mut self) -> u32 {
        self.given += 0x1_0000;
        OWN_HANDLES - 0x1_0000 + self.given
    }

    /// New options for one that is there.
    fn alter(&mut self, parent: u32, head: Head<'a>, statement: &Statement<'a>) -> Taken<()> {
        let Some(old) = self.qdiscs.get_mut(&parent) else { return Ok(()) };
        let Some(known) = old.known else {
            old.lines.extend(&statement.lines);
            return Ok(());
        };
        if known.fixed && statement.form() == Form::Typed {
            let refusal = Refusal::of(format!("the kernel does not change `{}` that is there", known.name));
            return Err(refusal.instead("tc qdisc del .. root before it"));
        }
        let options = options::read(known.rows, known.name, &head.options, statement.form())?;
        if known.keeps[0] && statement.verb != Verb::Shown {
            old.options.extend(options);
        } else {
            old.options = options;
        }
        old.lines.extend(&statement.lines);
        if statement.verb == Verb::Shown {
            (old.form, old.place) = (Form::Shown, statement.place);
        }
        if !head.stab.list.is_empty() {
            old.stab = head.stab;
        }
        Ok(())
    }

    /// One goes, with all below it.
    ///
    /// # Errors
    /// None is there.
    pub(super) fn remove(&mut self, parent: u32, handle: Option<u32>) -> Taken<()> {
        let fits = |it: &Qdisc<'_>| handle.is_none_or(|handle| handle == it.handle);
        if !self.qdiscs.get(&parent).is_some_and(fits) {
            return Err(Refusal::of("there is nothing to be removed"));
        }
        let mut gone = vec![parent];
        while let Some(parent) = gone.pop() {
            let Some(it) = self.qdiscs.remove(&parent) else { continue };
            self.handles.parents.remove(&it.handle);
            let own = own(it.handle);
            gone.extend(self.qdiscs.range(own.clone()).map(|it| *it.0));
            let classes: Vec<_> = self.classes.range(own.clone()).map(|(id, class)| (class.parent, *id)).collect();
            for place in classes {
                self.classes.remove(&place.1);
                self.below.remove(&place);
            }
            let filters: Vec<_> = self.filters.range(own).map(|it| *it.0).collect();
            filters.into_iter().for_each(|at| self.without_filters(at));
            if parent == INGRESS {
                let at_edges: Vec<_> = self.filters.range(INGRESS..).map(|it| *it.0).collect();
                at_edges.into_iter().for_each(|at| self.without_filters(at));
            }
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
        if above.known.is_some() && !self.has_class(above, parent) {
            let (name, handle) = (&above.name.text, shown(above.handle));
            return Err(Refusal::of(format!("`{name}` {handle} has no class {}", shown(parent))));
        }
        if self.is_parent(parent) {
            return Err(Refusal::of(format!("class {} has classes below it, and so no queue", shown(parent))));
        }
        Ok(())
    }

    /// Whether a queueing discipline has this class.
    pub(super) fn has_class(&self, above: &Qdisc<'a>, id: u32) -> bool {
        match table::own_classes(above) {
            Some(many) => (1..=many).contains(&(id & 0xffff)),
            None => self.classes.contains_key(&id),
        }
    }
}

fn made<'a>(head: Head<'a>, statement: &Statement<'a>) -> Taken<Qdisc<'a>> {
    let Some(name) = head.kind else { return Err(Refusal::of("it names no queueing discipline")) };
    if name.unset {
        return Err(Refusal::at(&name, format!("`{}` is a shell variable that this text does not set", name.text)));
    }
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
