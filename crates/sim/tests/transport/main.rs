//! The TCP of perhop-sim against ns-2, against slow versions of itself, and against closed forms.

mod ns2;
mod path;
mod reference;
