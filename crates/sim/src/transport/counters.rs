//! What a sender counts.

/// Counters that add up and are taken from one another field by field.
macro_rules! counters {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name { $($(#[$doc])* pub $field: $type,)* }

        impl std::ops::AddAssign for $name {
            fn add_assign(&mut self, other: Self) {
                $(self.$field += other.$field;)*
            }
        }

        impl std::ops::Sub for $name {
            type Output = Self;
            fn sub(self, earlier: Self) -> Self {
                Self { $($field: self.$field - earlier.$field,)* }
            }
        }
    };
}

counters! {
    /// What a sender has done since it was made.
    Counters {
        /// Segments sent, SYN and repeats included.
        segments: u64,
        /// Segments sent again, after fast retransmit, partial ACK or time-out.
        retransmitted: u64,
        /// Expiries of the retransmission timer with data (or the SYN) outstanding.
        timeouts: u32,
        /// Loss signals by three duplicate ACKs that were acted on.
        fast_retransmits: u32,
        /// Cuts of the congestion window, whatever the reason.
        cuts: u32,
        /// Of these, answers to an ECN echo.
        echo_cuts: u32,
    }
}
