//! The account of a text on standard input: what became of its lines. With `--json` as JSON; with `--model` what it says, line by line.

use perhop_config::account::Account;
use perhop_config::dialect::Read;
use perhop_config::given::Given;
use perhop_config::model::{Conditioner, Filter, Port, Queue};
use perhop_config::tc;
use perhop_config::text::Text;
use perhop_config::value::Settings;
use perhop_core::params::show_table;
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};

fn main() -> std::io::Result<()> {
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes)?;
    let text = Text::new(&bytes);
    let options: Vec<_> = std::env::args().skip(1).collect();
    let has = |name: &str| options.iter().any(|option| option == name);
    let out = match (tc::DIALECT.read)(&text, &Given::default()) {
        Err(fault) if has("--json") => {
            json!({ "fault": fault.code, "message": fault.message, "help": fault.help }).to_string()
        }
        Err(fault) => format!("error[{}] {}\n   help: {}", fault.code, fault.message, fault.help),
        Ok(read) if has("--json") => whole(&text, &read).to_string(),
        Ok(read) if has("--model") => model(&read).join("\n"),
        Ok(read) => format!("{}{}", read.account.shown(&text), findings(&text, &read)),
    };
    writeln!(std::io::stdout(), "{out}")
}

fn findings(text: &Text, read: &Read) -> String {
    let line = |it: &perhop_config::finding::Finding| {
        format!("{} line {}: {}\n   instead: {}\n", it.code, text.line_of(it.place), it.message, it.instead)
    };
    read.findings.iter().map(line).collect()
}

fn whole(text: &Text, read: &Read) -> Value {
    let finding = |it: &perhop_config::finding::Finding| json!({ "code": it.code, "line": text.line_of(it.place), "message": it.message, "instead": it.instead });
    let counters = |it: &perhop_config::evidence::Counters| json!({ "of": it.of, "kind": it.kind, "interface": it.interface, "counts": it.counts });
    json!({
        "account": account(&read.account),
        "findings": read.findings.iter().map(finding).collect::<Vec<_>>(),
        "evidence": read.evidence.iter().map(counters).collect::<Vec<_>>(),
        "model": model(read),
    })
}

fn account(account: &Account) -> Value {
    let line = |(number, entry): (&usize, &perhop_config::account::Entry)| json!({ "line": number, "verdict": entry.verdict.name(), "notes": entry.notes });
    account.lines.iter().map(line).collect()
}

/// A line for each value.
fn model(read: &Read) -> Vec<String> {
    let mut lines = Vec::new();
    read.device.ports.iter().for_each(|it| port(it, &mut lines));
    lines
}

fn port(it: &Port, lines: &mut Vec<String>) {
    let at = format!("{} {}", it.interface.is, it.way.name());
    lines.extend(it.accounting.iter().map(|said| format!("{at} accounting = {}", said.is)));
    settings(&format!("{at} link"), &it.link, lines);
    it.conditioners.iter().for_each(|it| conditioner(&at, it, lines));
    it.queue.iter().for_each(|it| queue(&format!("{at} queue"), it, lines));
}

fn settings(at: &str, it: &Settings, lines: &mut Vec<String>) {
    let mut own: Vec<_> = it.iter().map(|(key, said)| format!("{at}.{key} = {}", said.is.tree())).collect();
    own.sort();
    lines.append(&mut own);
}

fn takes(at: &str, list: &[Filter], lines: &mut Vec<String>) {
    lines.extend(list.iter().map(|it| format!("{at} takes {} {}", it.order, show_table(&it.matches.is))));
}

fn conditioner(at: &str, it: &Conditioner, lines: &mut Vec<String>) {
    let at = format!("{at} conditioner {} {}", it.name.is, it.kind);
    lines.push(at.clone());
    takes(&at, &it.takes, lines);
    settings(&at, &it.settings, lines);
    lines.extend(it.actions.iter().map(|(colour, acts)| format!("{at} {} {:?}", colour.name(), acts.is)));
}

fn queue(at: &str, it: &Queue, lines: &mut Vec<String>) {
    lines.push(format!("{at} {} {:?}", it.name.is, it.kind));
    settings(&format!("{at} shape"), &it.shape, lines);
    settings(at, &it.settings, lines);
    for class in &it.classes {
        let at = format!("{at} class {}", class.name.is);
        let above = class.parent.and_then(|parent| it.classes.get(parent)).map(|it| it.name.is.as_str());
        let rest = if class.rest { " rest" } else { "" };
        lines.push(format!("{at} below {}{rest}", above.unwrap_or("none")));
        takes(&at, &class.takes, lines);
        settings(&at, &class.settings, lines);
        class.queue.iter().for_each(|it| queue(&at, it, lines));
    }
}
