//! The reader of IOS: what it makes of lines as they are typed and printed.

mod account;
mod assumed;
mod car;
mod classes;
mod findings;
mod hand;
mod metamorphic;
mod misread;
mod police;
mod published;
mod queues;
mod robust;
mod show_output;
