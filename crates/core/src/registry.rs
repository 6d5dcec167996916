//! The one macro of this crate: a list of algorithms becomes modules, enums, dispatch and names.
//!
//! A line `"pam" => pam::{Params, Pam},` declares the module `pam`, the variant `Pam` of the enum of
//! running algorithms and of the enum of their parameters, and an entry of the list with the file's
//! head (its page) and its fields. What the enums do is declared once, in a trait with `#[forward]`. `cargo fmt` does not follow modules declared here: `make lint`
//! formats the files directly.
//!
//! Decision: docs/decisions/002-one-list-for-each-kind.md

use crate::params::{Field, Kind, Problems};

pub use perhop_derive::forward;

/// One algorithm, as `perhop list`, the schema, the docs and the test generators see it.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name in files.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Its parameters.
    pub fields: &'static [Field],
    /// Its file's name; empty if it is registered.
    pub file: &'static str,
    /// The text of its file, whose head is its page; of what is registered, its page.
    source: &'static str,
}

/// An algorithm's file.
#[derive(Clone, Copy, Debug)]
pub struct Text {
    /// Its name.
    pub file: &'static str,
    /// What it says.
    pub source: &'static str,
}

impl Entry {
    /// An entry of the list.
    pub const fn new(name: &'static str, summary: &'static str, fields: &'static [Field], text: Text) -> Self {
        Self { name, summary, fields, file: text.file, source: text.source }
    }

    /// An entry that is registered while the program runs; its page is a text.
    pub const fn registered(
        name: &'static str,
        summary: &'static str,
        fields: &'static [Field],
        page: &'static str,
    ) -> Self {
        Self { name, summary, fields, file: "", source: page }
    }

    /// Its parameters by the names its page gives them: `in.min` in a table, `profiles[].min` in a list of tables.
    pub fn parameters(&self) -> Vec<(String, &'static Field)> {
        named(self.fields, "")
    }

    /// Whether it has this parameter: schedulers whose children are classes have `classes`.
    pub fn has(&self, name: &str) -> bool {
        Field::all(self.fields).iter().any(|field| field.name == name)
    }

    /// The head of the algorithm's file: source, equations, symbols, deviations, as Markdown.
    pub fn page(&self) -> String {
        if self.file.is_empty() {
            return self.source.to_owned();
        }
        let head = self.source.lines().take_while(|line| line.starts_with("//!"));
        head.map(|line| line.trim_start_matches("//!").strip_prefix(' ').unwrap_or("")).collect::<Vec<_>>().join("\n")
    }
}

fn named(fields: &'static [Field], prefix: &str) -> Vec<(String, &'static Field)> {
    let one = |field: &'static Field| {
        let name = format!("{prefix}{}", field.name);
        match field.kind {
            // Its keys are the same everywhere.
            Kind::Table(_) if field.name == "match" => vec![(name, field)],
            Kind::Table(inner) => named(inner, &format!("{name}.")),
            Kind::List(&Kind::Table(inner)) | Kind::OneOrMany(&Kind::Table(inner)) => {
                named(inner, &format!("{name}[]."))
            }
            Kind::Named(&Kind::Table(inner)) => named(inner, &format!("{name}.NAME.")),
            Kind::Either(&[.., Kind::Table(inner)]) => {
                [vec![(name.clone(), field)], named(inner, &format!("{name}."))].concat()
            }
            _ => vec![(name, field)],
        }
    };
    Field::all(fields).into_iter().flat_map(one).collect()
}

/// Reports a name that is not in a list.
pub fn unknown<T>(problems: &mut Problems, place: crate::params::Place, what: [&str; 2], names: &[&str]) -> Option<T> {
    let help = crate::params::suggest(what[1], names);
    report(problems, place, what, help)
}

/// Reports a name that is not in a list to which Python classes may be added.
pub fn unregistered<T>(
    problems: &mut Problems,
    place: crate::params::Place,
    what: [&str; 2],
    names: &[&str],
) -> Option<T> {
    let help = nearest_or_class(what[1], names);
    report(problems, place, what, help)
}

fn report<T>(problems: &mut Problems, place: crate::params::Place, [noun, name]: [&str; 2], help: String) -> Option<T> {
    problems.error("E006", place, format!("unknown {noun} `{name}`")).help(help).none()
}

/// The nearest name of a list to which Python classes may be added; where none is near, also how such a class gets there.
pub fn nearest_or_class(name: &str, names: &[&str]) -> String {
    let help = crate::params::suggest(name, names);
    match name.is_empty() || help.starts_with(crate::params::NEAREST) {
        true => help,
        false => {
            format!(
                "{help}; a Python class must be registered in this process (`perhop.register`) or offered by an installed \
                 package (entry point `perhop.algorithms`)"
            )
        }
    }
}

// An algorithm that is a folder is listed as `name/mod`: the page is in that file.
#[macro_export]
#[doc(hidden)]
macro_rules! algorithms {
    (
        $d:tt $noun:literal, $trait:ident over $Scope:ty => $running:ident, $params:ident, $dispatch:ident;
        $( #[doc = $doc:literal] $name:literal => $module:ident $( / $inner:ident )? ::{$P:ident, $State:ident}, )*
        $( _ => $omodule:ident::{$OP:ident, $OState:ident}, )?
    ) => {
        $crate::algorithms! {
            $d $noun over $Scope => $running, $params, $dispatch;
            $( #[doc = $doc] $name => $module $( / $inner )? ::{$P, $State}, )*
            $( _ => $omodule::{$OP, $OState}, )?
        }

        impl $running {
            /// Takes new parameters at `now`, keeping its state (timed contracts, SIGHUP).
            ///
            /// # Errors
            /// The offending parameter, or that they belong to another algorithm; the old ones stay in force.
            pub fn retune(
                &mut self, now: $crate::units::Time, params: &$params, scope: &$Scope,
            ) -> Result<(), $crate::params::ParamError> {
                match (self, params) {
                    $( (Self::$State(it), $params::$State(params)) => $trait::retune(it, now, params, scope), )*
                    $( (Self::$OState(it), $params::$OState(params)) => $trait::retune(it, now, params, scope), )?
                    #[allow(unreachable_patterns)]
                    _ => Err($crate::params::ParamError::other_kind()),
                }
            }
        }
    };
    (
        $d:tt $noun:literal over $Scope:ty => $running:ident, $params:ident, $dispatch:ident;
        $( #[doc = $doc:literal] $name:literal => $module:ident $( / $inner:ident )? ::{$P:ident, $State:ident}, )*
        $( _ => $omodule:ident::{$OP:ident, $OState:ident}, )?
    ) => {
        $( #[doc = $doc] pub mod $module; )*
        $( #[doc = concat!("Any ", $noun, " that is registered.")] pub mod $omodule; )?

        #[doc = concat!("Any running ", $noun, ".")]
        #[derive(Clone, Debug)]
        #[allow(clippy::large_enum_variant)]
        pub enum $running {
            $( #[doc = $doc] $State($module::$State), )*
            $( #[doc = concat!("A ", $noun, " that is registered.")] $OState($omodule::$OState), )?
        }

        #[doc = concat!("The parameters of any ", $noun, ".")]
        #[derive(Clone, Debug, PartialEq)]
        pub enum $params {
            $( #[doc = $doc] $State($module::$P), )*
            $( #[doc = concat!("A ", $noun, " that is registered.")] $OState($omodule::$OP), )?
        }

        #[doc = concat!("Every ", $noun, " that is built in, in the order of the list.")]
        pub const LIST: &[$crate::registry::Entry] = &[ $(
            $crate::registry::Entry::new(
                $name,
                $doc,
                <$module::$P as $crate::params::Params>::FIELDS,
                $crate::registry::Text {
                    file: concat!(stringify!($module), $( "/", stringify!($inner), )? ".rs"),
                    source: include_str!(concat!(stringify!($module), $( "/", stringify!($inner), )? ".rs")),
                },
            ),
        )* ];

        /// The names of the list.
        pub const NAMES: &[&str] = &[ $( $name ),* ];

        /// The list, and what is registered.
        pub fn entries() -> Vec<$crate::registry::Entry> {
            [LIST.to_vec(), $( $omodule::REGISTER.entries(), )? Vec::new()].concat()
        }

        /// The names of the list, and of what is registered.
        pub fn names() -> Vec<&'static str> {
            entries().iter().map(|entry| entry.name).collect()
        }

        impl $params {
            /// Its name in files.
            pub const fn name(&self) -> &'static str {
                match self {
                    $( Self::$State(_) => $name, )*
                    $( Self::$OState(params) => <$omodule::$OP>::name(params), )?
                }
            }

            /// Reads the parameters of the algorithm called `name` (the value at `place`).
            pub fn read(
                name: &str, place: $crate::params::Place, reader: &mut $crate::params::Reader<'_>,
            ) -> Option<Self> {
                match name {
                    $( $name => <$module::$P as $crate::params::Params>::read(reader).map(Self::$State), )*
                    _ => {
                        $( if let Some(found) = $omodule::REGISTER.read(name, reader) {
                            return found.map(Self::$OState);
                        } )?
                        let registers: &[&str] = &[$( stringify!($omodule) )?];
                        let report =
                            if registers.is_empty() { $crate::registry::unknown } else { $crate::registry::unregistered };
                        report(reader.problems, place, [$noun, name], &names())
                    }
                }
            }

            /// All effective values.
            pub fn show(&self, out: &mut Vec<(&'static str, $crate::params::Tree)>) {
                match self {
                    $( Self::$State(params) => $crate::params::Params::show(params, out), )*
                    $( Self::$OState(params) => params.show(out), )?
                }
            }

            /// Checks the parameters and makes the running algorithm.
            ///
            /// # Errors
            /// The offending parameter, with its bound.
            pub fn build(&self, scope: &$Scope) -> Result<$running, $crate::params::ParamError> {
                match self {
                    $( Self::$State(params) => params.clone().build(scope).map($running::$State), )*
                    $( Self::$OState(params) => {
                        params.make(scope).map($omodule::$OState::from).map($running::$OState)
                    } )?
                }
            }
        }

        macro_rules! $dispatch {
            ($d any:ident, $d it:expr, $d x:ident => $d body:expr) => {
                match $d it {
                    $( $d any::$State($d x) => $d body, )*
                    $( $d any::$OState($d x) => $d body, )?
                }
            };
        }
    };
}

#[cfg(test)]
mod tests {
    use super::nearest_or_class;

    #[test]
    fn how_a_class_is_known_is_said_where_no_name_is_near() {
        let help = |name| nearest_or_class(name, &["codel", "red"]);
        assert_eq!(help("codle"), "did you mean `codel`?");
        assert_eq!(help(""), "valid names: codel, red");
        let said = help("my-own-queue");
        assert!(
            said.starts_with("valid names: codel, red; a Python class must be registered in this process"),
            "{said}"
        );
    }
}
