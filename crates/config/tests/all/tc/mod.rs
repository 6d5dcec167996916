//! The reader of tc.

mod bounds;
mod course;
mod exported;
mod forms;
mod kernel;
mod misread;
mod robust;
mod statements;

use perhop_config::account::Verdict;
use perhop_config::dialect::Read;
use perhop_config::import_options::ImportOptions;
use perhop_config::model::{Class, Port, Queue};
use perhop_config::tc::DIALECT;
use perhop_config::text::Text;
use perhop_config::value::Settings;

/// What is read of a text.
fn read(text: &str) -> Read {
    (DIALECT.read)(&Text::new(text.as_bytes()), &ImportOptions::default())
        .unwrap_or_else(|fault| panic!("{fault:?}\n{text}"))
}

/// The only port of a text.
fn port(text: &str) -> Port {
    let read = read(text);
    let [port] = &read.device.ports[..] else { panic!("{:#?}\n{text}", read.device) };
    port.clone()
}

/// The queue of the only port of a text.
fn queue(text: &str) -> Queue {
    port(text).queue.unwrap_or_else(|| panic!("no queue\n{text}"))
}

/// The class of a name.
fn class<'a>(queue: &'a Queue, name: &str) -> &'a Class {
    queue.classes.iter().find(|class| class.name.is == name).unwrap_or_else(|| panic!("no {name}: {queue:#?}"))
}

/// The value of a key, as a scenario has it; empty: there is none.
fn value(settings: &Settings, key: &str) -> String {
    settings.get(key).map(|said| said.is.tree().to_string().replace('"', "")).unwrap_or_default()
}

/// What became of each line.
fn verdicts(read: &Read) -> Vec<(usize, Verdict)> {
    read.account.lines.iter().map(|(line, entry)| (*line, entry.verdict.clone())).collect()
}

/// The codes of what was found.
fn codes(read: &Read) -> Vec<&'static str> {
    read.findings.iter().map(|it| it.code).collect()
}
