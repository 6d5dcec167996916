//! The weight of an average, written as a number (`wq = 0.002`) or as an exponent (`weight = 9`: wq = 2^-9).

use crate::params::{Field, Kind, Literal, Node, ParamError, Params, Problems, Reader, Tree, Value};

/// Largest exponent: 2^-32, over which any run is short.
const LARGEST: u32 = 32;
const DEFAULT: f64 = 0.002;

/// wq in (0, 1].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weight(pub f64);

impl Default for Weight {
    /// 0.002, as the paper and ns-2.
    fn default() -> Self {
        Self(DEFAULT)
    }
}

impl Weight {
    /// The number.
    ///
    /// # Errors
    /// E201 unless it is in (0, 1].
    pub fn checked(self) -> Result<f64, ParamError> {
        if self.0 > 0.0 && self.0 <= 1.0 {
            return Ok(self.0);
        }
        Err(ParamError::new("wq", "E201", format!("`wq` is {}", self.0)).help("must be above 0 and at most 1"))
    }

    fn from_exponent(node: &Node, problems: &mut Problems) -> Option<Self> {
        let exponent = u32::read(node, problems)?;
        if exponent > LARGEST {
            let message = format!("`weight` is {exponent}");
            return problems.error("E201", node.place, message).help("must be between 0 and 32: wq = 2^-weight").none();
        }
        Some(Self(1.0 / (1u64 << exponent) as f64))
    }

    fn twice(node: &Node, problems: &mut Problems) -> Option<Self> {
        let message = "`wq` and `weight` both set the weight of the average";
        problems
            .error("E217", node.place, message)
            .help("`weight = 9` means `wq = 0.001953125` (2^-9): keep one")
            .none()
    }
}

impl Params for Weight {
    const FIELDS: &'static [Field] = &[
        Field {
            name: "wq",
            doc: "Weight of one arrival in the average, in (0, 1].",
            kind: Kind::Number,
            default: Some(Literal::Float(DEFAULT)),
            optional: false,
        },
        Field {
            name: "weight",
            doc: "Instead of `wq`: its exponent, wq = 2^-weight.",
            kind: Kind::Integer,
            default: None,
            optional: true,
        },
    ];

    fn read(reader: &mut Reader<'_>) -> Option<Self> {
        match (reader.take("wq"), reader.take("weight")) {
            (Some(_), Some(weight)) => Self::twice(weight, reader.problems),
            (Some(wq), None) => f64::read(wq, reader.problems).map(Self),
            (None, Some(weight)) => Self::from_exponent(weight, reader.problems),
            (None, None) => Some(Self::default()),
        }
    }

    fn show(&self, out: &mut Vec<(&'static str, Tree)>) {
        out.push(("wq", Tree::Float(self.0)));
    }
}
