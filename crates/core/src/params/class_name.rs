//! The class that a problem is about.

use super::escaped;
use std::borrow::Cow;
use std::fmt;

/// What stands for the class in the sentence of a problem that has one, until [`sentence`] puts its name there.
pub const CLASS: &str = "⟨the class⟩";

/// A class that a problem is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ClassName {
    /// An entry of a list of classes.
    Listed {
        /// Its number in the list, from 1.
        number: usize,
        /// The name that the list gives it.
        name: Option<String>,
        /// Which classes of a template.
        part: Option<Part>,
    },
    /// A class of a device's configuration, as the device calls it.
    Device(String),
}

/// Some of the classes that a template stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// Those of a plan: its number, from 1.
    Plan(usize),
    /// That of all addresses that find no slot.
    Others,
}

impl ClassName {
    /// The entry of this number, from 1.
    pub fn listed(number: usize) -> Self {
        Self::Listed { number, name: None, part: None }
    }

    /// With its own name; a device's class has no other.
    #[must_use]
    pub fn named(mut self, own: Option<&str>) -> Self {
        if let Self::Listed { name, .. } = &mut self {
            *name = own.map(str::to_owned);
        }
        self
    }
}

/// ``class 2``, ``class 2 (`voice`)``, ``class 3, plan 1``, ``class `1:10` ``
impl fmt::Display for ClassName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, name, part) = match self {
            Self::Device(name) => return write!(f, "class `{}`", escaped(name)),
            Self::Listed { number, name, part } => (number, name, part),
        };
        write!(f, "class {number}")?;
        match part {
            None => {}
            Some(Part::Plan(plan)) => write!(f, ", plan {plan}")?,
            Some(Part::Others) => f.write_str(", all other addresses")?,
        }
        name.as_ref().map_or(Ok(()), |name| write!(f, " (`{}`)", escaped(name)))
    }
}

/// What a problem says, with the class that it is about in place of [`CLASS`].
pub fn sentence<'a>(message: &'a str, class: Option<&ClassName>) -> Cow<'a, str> {
    class.map_or(Cow::Borrowed(message), |class| Cow::Owned(message.replace(CLASS, &class.to_string())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_has_its_number_and_what_else_tells_it_from_others() {
        let part = |part| ClassName::Listed { number: 3, name: None, part: Some(part) };
        assert_eq!(ClassName::listed(2).to_string(), "class 2");
        assert_eq!(ClassName::listed(2).named(Some("a\u{1b}")).to_string(), "class 2 (`a\\u001b`)");
        assert_eq!(
            [part(Part::Plan(1)), part(Part::Others)].map(|it| it.to_string()),
            ["class 3, plan 1", "class 3, all other addresses"]
        );
        assert_eq!(ClassName::Device("1:10".into()).to_string(), "class `1:10`");
    }

    #[test]
    fn its_name_stands_where_it_is_marked() {
        let message = format!("no packet reaches {CLASS}: class 1 takes all");
        let named = sentence(&message, Some(&ClassName::listed(4)));
        assert_eq!(named, "no packet reaches class 4: class 1 takes all");
        assert_eq!(sentence("`class 1` is a name", Some(&ClassName::listed(4))), "`class 1` is a name");
    }
}
