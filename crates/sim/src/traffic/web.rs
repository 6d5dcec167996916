//! Web: HTTP/1.0 users, who request pages and read each before the next.
//!
//! Source: ns-2's `PagePool/WebTraf` (A. Feldmann, A. Gilbert, P. Huang, W. Willinger, "Dynamics of IP Traffic", SIGCOMM
//! 1999), with HTTP/1.0's one connection for each object.
//!
//! A session is a number of pages, and a page is a number of objects on one server, drawn for each page from the
//! nodes in `from`. The user, at `to`, requests the objects of a page one `object-gap` apart, without waiting for
//! their arrival. The page ends when all of its objects have arrived, and the next page begins one `page-gap` later.
//! Each object has its own TCP connection: handshake and request from the user to the server, then the object, which
//! the server sends as soon as it has the whole request.
//!
//! | symbol | field           | unit | default |
//! |--------|-----------------|------|---------|
//! | -      | `pages`         | -    | -       |
//! | -      | `page-gap`      | s    | -       |
//! | -      | `objects`       | -    | -       |
//! | -      | `object-gap`    | s    | -       |
//! | -      | `size`          | B    | -       |
//! | -      | `whole-packets` | -    | true    |
//! | -      | `request`       | p    | 1p      |
//! | -      | `session-gap`   | s    | -       |
//!
//! There are `flows` users, who begin within `spread`. Each has one session, as in ns-2's example, or with
//! `session-gap` one after the other. ns-2 begins sessions at exponential gaps; n of them within n mean gaps are n
//! uniform draws, so `spread` is n times the gap.
//!
//! Deviations: ns-2 has two one-way connections for an object; the answer waits for the ACK of the request and has a
//! separate handshake. Here request and answer share one connection with one handshake. The answer is sent when the
//! request is complete, and its time-out starts from the round trip that the handshake measured. The server
//! acknowledges a request with a separate packet and not with the first of the answer. There is no FIN, and no limit
//! on parallel connections. An object of more than 2^32 - 3 segments, which exceeds TCP's sequence numbers, is
//! truncated there.
//!
//! Decision: docs/decisions/035-web-objects-in-two-halves.md

use super::law::{Drawn, Sampler};
use super::{Carrier, Carry, Offer, Page, Request, Step, Traffic, TrafficModel, TrafficScope};
use perhop_core::params::{ParamError, Params as Declared};
use perhop_core::rng::Rng;
use perhop_core::units::{Bytes, NS_PER_S, Packets, Span, Time};

/// Most segments of an object.
const MOST_SEGMENTS: u64 = u32::MAX as u64 - 2;

/// What a scenario states. Laws are large and stand apart: other models are held in the same room.
#[derive(Declared, Clone, Debug, PartialEq)]
pub struct Params {
    /// Pages of a session.
    pub pages: Box<Drawn<u32>>,
    /// Pause from the end of a page to the first request of the next.
    pub page_gap: Box<Drawn<Span>>,
    /// Objects of a page.
    pub objects: Box<Drawn<u32>>,
    /// Gap between two requests of a page.
    pub object_gap: Box<Drawn<Span>>,
    /// Payload of an object.
    pub size: Box<Drawn<Bytes>>,
    /// Whether an object's size is rounded up to full segments.
    #[param(default = true)]
    pub whole_packets: bool,
    /// Full segments of a request.
    #[param(default = "1p")]
    pub request: Packets,
    /// Pause between two sessions of a user; default: one session per user.
    pub session_gap: Option<Box<Drawn<Span>>>,
}

#[derive(Clone, Copy, Debug)]
struct Samplers {
    pages: Sampler,
    page_gap: Sampler,
    objects: Sampler,
    object_gap: Sampler,
    size: Sampler,
    session_gap: Option<Sampler>,
}

/// One user.
#[derive(Clone, Debug)]
pub struct Web {
    params: Box<Params>,
    draw: Box<Samplers>,
    scope: TrafficScope,
    /// The page being requested; an unused number before the first one.
    page: Page,
    server: u32,
    /// Pages of the session that have not ended.
    pages_left: u32,
    /// Objects of the page not yet requested.
    to_ask: u32,
    /// Objects requested and not yet complete.
    awaited: u32,
    carry: Carry,
}

impl Params {
    /// # Errors
    /// Invalid laws; `pages` or `objects` that may be 0; `size` or `request` 0.
    pub fn build(self, scope: &TrafficScope) -> Result<Web, ParamError> {
        if let Drawn::Constant(size) = *self.size {
            ParamError::above_zero("size", size)?;
        }
        ParamError::above_zero("request", self.request)?;
        let draw = Box::new(Samplers {
            pages: self.pages.counter("pages")?,
            page_gap: self.page_gap.sampler("page-gap")?,
            objects: self.objects.counter("objects")?,
            object_gap: self.object_gap.sampler("object-gap")?,
            size: self.size.sampler("size")?,
            session_gap: self.session_gap.as_ref().map(|law| law.sampler("session-gap")).transpose()?,
        });
        let page = Page { session: u32::MAX, page: u32::MAX, objects: 0 };
        let (scope, carry) = (*scope, Carry::default());
        Ok(Web { params: Box::new(self), draw, scope, page, server: 0, pages_left: 0, to_ask: 0, awaited: 0, carry })
    }
}

impl Web {
    fn begin_page(&mut self, rng: &mut Rng) {
        if self.pages_left == 0 {
            self.pages_left = self.draw.pages.count(rng);
            self.page.session = self.page.session.wrapping_add(1);
        }
        self.server = (rng.uniform() * f64::from(self.scope.senders)) as u32;
        self.page.page = self.page.page.wrapping_add(1);
        self.page.objects = self.draw.objects.count(rng);
        self.to_ask = self.page.objects;
    }

    /// Mean gap before a page: one of a session's comes after the gap between sessions.
    fn mean_gap_ns(&self) -> Option<f64> {
        let Samplers { pages, page_gap, session_gap, .. } = &*self.draw;
        let (pages, within) = (pages.mean_up(1.0)?, page_gap.mean()?);
        Some(match session_gap {
            Some(between) => within + (between.mean()? - within) / pages,
            None => within,
        })
    }

    /// Payload of an object.
    fn size(&self, rng: &mut Rng) -> u64 {
        let (drawn, segment) = (self.draw.size.draw(rng).ceil() as u64, self.scope.segment.get());
        let bytes = drawn.clamp(1, MOST_SEGMENTS * segment);
        if self.params.whole_packets { bytes.div_ceil(segment) * segment } else { bytes }
    }
}

impl TrafficModel for Params {
    fn carrier(&self) -> Carrier {
        Carrier::Responses
    }

    fn is_endless(&self) -> bool {
        false
    }

    fn rate(&self) -> Option<f64> {
        None
    }
}

impl Traffic for Web {
    type Params = Params;

    fn load(&self) -> Option<f64> {
        let Samplers { objects, size, object_gap, .. } = &*self.draw;
        let step = if self.params.whole_packets { self.scope.segment.get() as f64 } else { 1.0 };
        let objects = objects.mean_up(1.0)?;
        let ns = self.mean_gap_ns()? + (objects - 1.0) * object_gap.mean()?;
        (ns > 0.0).then_some(objects * size.mean_up(step)? * 8.0 * NS_PER_S as f64 / ns)
    }

    fn transfers(&self, time: Span, trip: Span) -> Option<f64> {
        let Samplers { pages, objects, object_gap, session_gap, .. } = &*self.draw;
        let (pages, objects) = (pages.mean_up(1.0)?, objects.mean_up(1.0)?);
        let page_ns = self.mean_gap_ns()? + (objects - 1.0) * object_gap.mean()? + trip.ns() as f64;
        let begun = 1.0 + time.ns() as f64 / page_ns.max(1.0);
        Some(objects * if session_gap.is_some() { begun } else { begun.min(pages) })
    }

    fn warnings(&self) -> Vec<ParamError> {
        let Params { pages, objects, page_gap, object_gap, size, session_gap, .. } = &*self.params;
        let warnings = [
            pages.warning("pages"),
            page_gap.warning("page-gap"),
            objects.warning("objects"),
            object_gap.warning("object-gap"),
            size.warning("size"),
            session_gap.as_ref().and_then(|law| law.warning("session-gap")),
        ];
        warnings.into_iter().flatten().collect()
    }

    fn wake(&mut self, now: Time, rng: &mut Rng) -> Step {
        if self.to_ask == 0 {
            self.begin_page(rng);
        }
        self.to_ask -= 1;
        self.awaited += 1;
        let bytes = u64::from(self.params.request.get()) * self.scope.segment.get();
        let (server, page) = (self.server, self.page);
        let offer = Offer::Request(Request { server, bytes, object: self.size(rng), page });
        let next = (self.to_ask > 0).then(|| self.carry.after(now, self.draw.object_gap.draw(rng)));
        Step { offer, next }
    }

    fn on_complete(&mut self, now: Time, rng: &mut Rng) -> Option<Time> {
        self.awaited -= 1;
        if self.to_ask > 0 || self.awaited > 0 {
            return None;
        }
        self.pages_left -= 1;
        let gap = if self.pages_left > 0 { self.draw.page_gap } else { self.draw.session_gap? };
        Some(self.carry.after(now, gap.draw(rng)))
    }

    fn retune(&mut self, _now: Time, params: &Params, scope: &TrafficScope) -> Result<(), ParamError> {
        let Web { params, draw, .. } = params.clone().build(scope)?;
        (self.params, self.draw) = (params, draw);
        Ok(())
    }
}
