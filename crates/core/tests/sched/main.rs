//! The schedulers: against their definitions, their laws, and every one of the list under random operations.

#[path = "../oracle/acks.rs"]
mod acks_oracle;
#[allow(unreachable_pub)]
#[path = "../oracle/cake.rs"]
mod cake_oracle;
#[allow(unreachable_pub)]
#[path = "../oracle/cobalt.rs"]
mod cobalt_oracle;
#[allow(dead_code, unreachable_pub)]
#[path = "../oracle/codel_linux.rs"]
mod codel_linux_oracle;
#[allow(dead_code, unreachable_pub)]
#[path = "../oracle/codel.rs"]
mod codel_oracle;
#[allow(unreachable_pub)]
#[path = "../oracle/dualpi2.rs"]
mod dualpi2_oracle;
#[allow(unreachable_pub)]
#[path = "../oracle/fq_codel.rs"]
mod fq_codel_oracle;
#[allow(unreachable_pub)]
#[path = "../oracle/hfsc.rs"]
mod hfsc_oracle;
#[allow(unreachable_pub)]
#[path = "../oracle/fq.rs"]
mod fq_oracle;
#[allow(unreachable_pub)]
#[path = "../oracle/fq_pie.rs"]
mod fq_pie_oracle;
#[allow(dead_code, unreachable_pub)]
#[path = "../oracle/pie_linux.rs"]
mod pie_linux_oracle;
#[allow(dead_code, unreachable_pub)]
#[path = "../oracle/pie.rs"]
mod pie_oracle;
#[allow(unreachable_pub)]
#[path = "../oracle/sfq.rs"]
mod sfq_oracle;

mod acks;
mod cake;
mod contract;
mod driven;
mod drr;
mod dualpi2;
mod ets;
mod flow_contract;
mod flow_line;
#[path = "../common/frames.rs"]
#[allow(unreachable_pub)]
mod frames;
mod fq;
mod fq_codel;
mod hfsc;
mod hfsc_laws;
mod hfsc_settings;
mod fq_pie;
mod htb;
mod htb_plain;
mod htb_settings;
mod kernel;
mod kernel_htb;
mod kernel_rounds;
mod levels;
mod line;
mod linux_rounds;
mod policed;
mod settings;
mod sfq;
mod through_port;
mod wrr;
