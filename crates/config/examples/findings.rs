//! What is found in texts: `findings --from tc FILE ..` prints a line for each finding: file, line, code, the text's line, the
//! message, what to write instead; and one for each text that cannot be read.

use perhop_config::import::DIALECTS as ALL;
use perhop_config::import_options::ImportOptions;
use perhop_config::rules::findings;
use perhop_config::text::Text;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [flag, from, files @ ..] = arguments.as_slice() else { panic!("findings --from NAME FILE ..") };
    assert_eq!(flag, "--from");
    let dialect = ALL.iter().find(|dialect| dialect.name == *from).expect("a dialect");
    for file in files {
        let text = Text::new(&std::fs::read(file).expect("a file"));
        match (dialect.read)(&text, &ImportOptions::default()) {
            Ok(read) => {
                let lines: Vec<_> = text.lines().collect();
                for found in findings(&read, &text, &ImportOptions::default()) {
                    let number = lines.partition_point(|line| line.start <= found.place.start);
                    let words = lines[number - 1].text.trim();
                    println!("{file}\t{number}\t{}\t{words}\t{}\t{}", found.code, found.message, found.instead);
                }
            }
            Err(fault) => println!("{file}\t-\t{}\t-\t{}\t{}", fault.code, fault.message, fault.help),
        }
    }
}
