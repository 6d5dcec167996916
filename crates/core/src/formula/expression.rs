//! From words to an expression.
//!
//! ```text
//! or > and > not > comparison > sum > product > minus > power > number, name, f(a, b), (a)
//! ```

use super::fault::{Fault, Stretch};
use super::text::{Token, Word, words};

/// Deepest nesting of parentheses, functions and signs.
const DEEPEST: u32 = 40;

/// An expression, with places in its text.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    /// What it is made of.
    pub form: Form,
    /// From its first to its last character.
    pub at: Stretch,
}

/// What an expression is made of.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// Digits and unit.
    Number(String, String),
    /// A name.
    Name(String),
    /// `-a` or `not a`.
    One(&'static str, Box<Expression>),
    /// `a + b`, `a and b`.
    Two(&'static str, Box<[Expression; 2]>),
    /// `max(a, b)`
    Call(String, Vec<Expression>),
}

impl Expression {
    /// Reads a whole text.
    ///
    /// # Errors
    /// Where it stops to be an expression, and why.
    pub fn read(text: &str) -> Result<Self, Fault> {
        let mut reader = Reader { words: words(text)?, next: 0, end: text.trim_end().len(), depth: 0 };
        let whole = reader.level(0)?;
        match reader.words.get(reader.next) {
            None => Ok(whole),
            Some(word) => Err(reader.unexpected(word.at)),
        }
    }

    fn of_two(sign: &'static str, a: Self, b: Self) -> Self {
        let at = Stretch { start: a.at.start, end: b.at.end };
        Self { form: Form::Two(sign, Box::new([a, b])), at }
    }
}

struct Reader {
    words: Vec<Word>,
    next: usize,
    end: usize,
    depth: u32,
}

/// Operators between two expressions, from those that bind least.
const LEVELS: [&[&str]; 5] = [&["or"], &["and"], &["<", "<=", ">", ">=", "==", "!="], &["+", "-"], &["*", "/"]];

/// Before this level of [`LEVELS`] stands `not`.
const COMPARISON: usize = 2;

impl Reader {
    /// The sign or word of these that is next.
    fn take(&mut self, any: &[&'static str]) -> Option<&'static str> {
        let found = match &self.words.get(self.next)?.token {
            Token::Sign(sign) => any.iter().find(|it| *it == sign),
            Token::Name(name) => any.iter().find(|it| *it == name),
            Token::Number(..) => None,
        };
        self.next += usize::from(found.is_some());
        found.copied()
    }

    fn unexpected(&self, at: Stretch) -> Fault {
        let help = "between two values stands one of + - * / ^ < <= > >= == != `and` `or`";
        match self.words.get(self.next).map(|word| &word.token) {
            Some(Token::Sign("=")) => Fault::syntax(at, "one `=`").help("equality is =="),
            Some(Token::Sign(sign)) => Fault::syntax(at, format!("unexpected `{sign}`")).help(help),
            Some(Token::Name(name)) => Fault::syntax(at, format!("unexpected `{name}`")).help(help),
            Some(Token::Number(number, unit)) => Fault::syntax(at, format!("unexpected `{number}{unit}`")).help(help),
            None => {
                Fault::syntax(at, "the formula ends too early").help("a number, a name, a function or `(` is missing")
            }
        }
    }

    fn here(&self) -> Stretch {
        self.words.get(self.next).map_or(Stretch { start: self.end, end: self.end }, |word| word.at)
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Fault>) -> Result<T, Fault> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let fault = Fault::syntax(self.here(), format!("nested more than {DEEPEST} deep"));
            return Err(fault.help("write it in parts: `state` has names"));
        }
        let out = read(self);
        self.depth -= 1;
        out
    }

    fn level(&mut self, level: usize) -> Result<Expression, Fault> {
        let Some(signs) = LEVELS.get(level) else { return self.signed() };
        if level == COMPARISON
            && let Some(word) = self.words.get(self.next).filter(|_| self.is_next("not"))
        {
            let start = word.at.start;
            self.next += 1;
            let inner = self.deeper(|reader| reader.level(COMPARISON))?;
            let at = Stretch { start, end: inner.at.end };
            return Ok(Expression { form: Form::One("not", Box::new(inner)), at });
        }
        let mut left = self.level(level + 1)?;
        while let Some(sign) = self.take(signs) {
            left = Expression::of_two(sign, left, self.level(level + 1)?);
            if level == COMPARISON && LEVELS[COMPARISON].iter().any(|sign| self.is_next(sign)) {
                let fault = Fault::syntax(self.here(), "a comparison of a comparison");
                return Err(fault.help("write a < b and b < c"));
            }
        }
        Ok(left)
    }

    fn is_next(&self, sign: &str) -> bool {
        match self.words.get(self.next).map(|word| &word.token) {
            Some(Token::Sign(next)) => *next == sign,
            Some(Token::Name(next)) => next == sign,
            _ => false,
        }
    }

    fn signed(&mut self) -> Result<Expression, Fault> {
        let start = self.here().start;
        if self.take(&["-"]).is_none() {
            return self.power();
        }
        let inner = self.deeper(Self::signed)?;
        let at = Stretch { start, end: inner.at.end };
        Ok(Expression { form: Form::One("-", Box::new(inner)), at })
    }

    fn power(&mut self) -> Result<Expression, Fault> {
        let base = self.single()?;
        match self.take(&["^"]) {
            Some(sign) => Ok(Expression::of_two(sign, base, self.deeper(Self::signed)?)),
            None => Ok(base),
        }
    }

    fn single(&mut self) -> Result<Expression, Fault> {
        let at = self.here();
        let Some(word) = self.words.get(self.next).cloned() else { return Err(self.unexpected(at)) };
        self.next += 1;
        let form = match word.token {
            Token::Number(digits, unit) => Form::Number(digits, unit),
            Token::Name(name) if matches!(&*name, "and" | "or" | "not") => {
                self.next -= 1;
                return Err(self.unexpected(at));
            }
            Token::Name(name) if self.take(&["("]).is_some() => {
                let (arguments, end) = self.deeper(Self::arguments)?;
                return Ok(Expression { form: Form::Call(name, arguments), at: Stretch { start: at.start, end } });
            }
            Token::Name(name) => Form::Name(name),
            Token::Sign("(") => {
                let inner = self.deeper(|reader| reader.level(0))?;
                let end = self.close()?;
                return Ok(Expression { at: Stretch { start: at.start, end }, ..inner });
            }
            Token::Sign(_) => {
                self.next -= 1;
                return Err(self.unexpected(at));
            }
        };
        Ok(Expression { form, at })
    }

    /// Up to and with the closing parenthesis, whose end is returned.
    fn arguments(&mut self) -> Result<(Vec<Expression>, usize), Fault> {
        let mut all = Vec::new();
        if self.is_next(")") {
            return Ok((all, self.close()?));
        }
        loop {
            all.push(self.level(0)?);
            if self.take(&[","]).is_none() {
                return Ok((all, self.close()?));
            }
        }
    }

    fn close(&mut self) -> Result<usize, Fault> {
        let at = self.here();
        match self.take(&[")"]) {
            Some(_) => Ok(at.end),
            None if self.next == self.words.len() => {
                Err(Fault::syntax(at, "a `)` is missing").help("close what is open"))
            }
            None => Err(self.unexpected(at)),
        }
    }
}
