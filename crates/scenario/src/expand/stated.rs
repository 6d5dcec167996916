//! A file as written: its tree, with the overrides of the command line.

use super::selector;
use crate::sections::kind::Kind;
use crate::text::diagnostics::Findings;
use crate::text::input::Input;
use crate::text::options::Options;
use crate::text::toml;
use perhop_core::params::Node;

/// The tree of a file with its overrides, if the file is what is wanted.
pub fn read(input: Input<'_>, options: &Options, wanted: Kind, findings: &mut Findings) -> Option<Node> {
    let mut root = root(input, options, findings)?;
    let Findings { sources, problems } = findings;
    wanted.check(&root, problems)?;
    for over in &options.overrides {
        let base = sources.add(&over.flag, &over.text);
        selector::apply(&mut root, &over.text, base, problems);
    }
    Some(root)
}

/// The tree of what is given, without overrides.
fn root(input: Input<'_>, options: &Options, findings: &mut Findings) -> Option<Node> {
    let Findings { sources, problems } = findings;
    let text = match input {
        Input::Text(text) => text,
        Input::Made(made) => {
            sources.add_made(&options.file_name, made);
            return Some(made.root.clone());
        }
    };
    let base = sources.add(&options.file_name, text);
    sources.keyed(&options.keys);
    if text.trim().is_empty() {
        let help = "`perhop list` and examples/ show what a file contains";
        return problems.error("E009", None, "the file is empty").help(help).none();
    }
    toml::parse(text, base, problems)
}
