//! What a key's value can be: quantities, numbers, names, lists.

use super::{Kind, Node, Problems, Tree, Value};
use crate::units::{BitRate, Burst, Bytes, Length, MeterRate, Packets, Probability, SignedBytes, Span, TicketRate};

macro_rules! quantities {
    ($($type:ty => $kind:expr, $base:expr;)*) => { $(
        impl Value for $type {
            const KIND: Kind = $kind;
            fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
                match &node.tree {
                    Tree::Text(text) => text.parse().map_or_else(|e| problems.unit(node, e), Some),
                    bare @ (Tree::Integer(_) | Tree::Float(_)) => {
                        let error = bare.to_string().parse::<Self>().err()?;
                        problems.unit::<()>(node, error);
                        // Reading continues in the base unit, so that other mistakes are found in the same pass.
                        format!("{bare}{}", $base?).parse().ok()
                    }
                    _ => problems.wrong_type(node, &$kind),
                }
            }
            fn tree(&self) -> Option<Tree> {
                Some(Tree::Text(self.to_string()))
            }
        }
    )* };
}

quantities! {
    BitRate => Kind::Rate, Some("bit/s");
    Bytes => Kind::Size, Some("B");
    SignedBytes => Kind::SignedSize, Some("B");
    MeterRate => Kind::MeterRate, Some("bit/s");
    Burst => Kind::Burst, Some("B");
    Span => Kind::Time, None::<&str>;
    Packets => Kind::Count, Some("p");
    TicketRate => Kind::Tickets, Some("t/s");
    Length => Kind::Length, None::<&str>;
}

impl Value for f64 {
    const KIND: Kind = Kind::Number;
    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        match node.tree {
            Tree::Float(x) if x.is_finite() => Some(x),
            Tree::Integer(n) => Some(n as f64),
            _ => problems.wrong_type(node, &Kind::Number),
        }
    }
    fn tree(&self) -> Option<Tree> {
        Some(Tree::Float(*self))
    }
}

impl Value for Probability {
    const KIND: Kind = Kind::Probability;
    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        let x = match node.tree {
            Tree::Float(x) => x,
            Tree::Integer(n) => n as f64,
            _ => return problems.wrong_type(node, &Kind::Probability),
        };
        Probability::new(x).or_else(|| {
            let message = format!("probability {x} is outside [0, 1]");
            problems.error("E216", node.place, message).help("write a number between 0 and 1 (2 % is 0.02)").none()
        })
    }
    fn tree(&self) -> Option<Tree> {
        Some(Tree::Float(self.get()))
    }
}

macro_rules! integers {
    ($($type:ty),*) => { $(
        impl Value for $type {
            const KIND: Kind = Kind::Integer;
            fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
                let Tree::Integer(n) = node.tree else { return problems.wrong_type(node, &Kind::Integer) };
                <$type>::try_from(n).ok().or_else(|| {
                    let message = format!("{n} is out of range");
                    problems.error("E201", node.place, message).help(format!("must be between 0 and {}", <$type>::MAX)).none()
                })
            }
            fn tree(&self) -> Option<Tree> {
                Some(Tree::Integer(*self as i64))
            }
        }
    )* };
}

integers!(u16, u32, u64);

impl Value for bool {
    const KIND: Kind = Kind::Bool;
    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        match node.tree {
            Tree::Bool(b) => Some(b),
            _ => problems.wrong_type(node, &Kind::Bool),
        }
    }
    fn tree(&self) -> Option<Tree> {
        Some(Tree::Bool(*self))
    }
}

impl Value for String {
    const KIND: Kind = Kind::Text;
    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        match &node.tree {
            Tree::Text(text) => Some(text.clone()),
            _ => problems.wrong_type(node, &Kind::Text),
        }
    }
    fn tree(&self) -> Option<Tree> {
        Some(Tree::Text(self.clone()))
    }
}

impl<T: Value> Value for Box<T> {
    const KIND: Kind = T::KIND;
    const OPTIONAL: bool = T::OPTIONAL;
    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        T::read(node, problems).map(Self::new)
    }
    fn absent() -> Option<Self> {
        T::absent().map(Self::new)
    }
    fn tree(&self) -> Option<Tree> {
        T::tree(self)
    }
}

impl<T: Value> Value for Option<T> {
    const KIND: Kind = T::KIND;
    const OPTIONAL: bool = true;
    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        T::read(node, problems).map(Some)
    }
    fn absent() -> Option<Self> {
        Some(None)
    }
    fn tree(&self) -> Option<Tree> {
        self.as_ref()?.tree()
    }
}

impl<T: Value> Value for Vec<T> {
    const KIND: Kind = Kind::OneOrMany(&T::KIND);
    const OPTIONAL: bool = true;
    /// A list, or one value alone. An empty list is refused: to omit the key is the way to say nothing.
    fn read(node: &Node, problems: &mut Problems) -> Option<Self> {
        let Tree::List(items) = &node.tree else { return T::read(node, problems).map(|one| vec![one]) };
        if items.is_empty() {
            let help = "write at least one item, or remove the key";
            return problems.error("E201", node.place, "an empty list").help(help).none();
        }
        let read: Vec<_> = items.iter().map(|n| T::read(n, problems)).collect();
        read.into_iter().collect()
    }
    fn absent() -> Option<Self> {
        Some(Vec::new())
    }
    fn tree(&self) -> Option<Tree> {
        match self.as_slice() {
            [] => None,
            items => Some(Tree::List(items.iter().filter_map(Value::tree).map(Node::from).collect())),
        }
    }
}
