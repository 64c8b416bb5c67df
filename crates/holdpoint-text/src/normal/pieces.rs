//! The way back from offsets in a view to offsets in the text it was made of.

use std::ops::Range;
use std::sync::Arc;

use super::{Disguise, Disguises};

/// How a piece of a view came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Made {
    /// It is the text itself, byte for byte.
    Same,
    /// It is another spelling of the same thing, which hides nothing.
    Folded,
    /// It was under a disguise.
    Undone(Disguise),
}

/// A part of a view and the part of the text below it stands for.
#[derive(Clone, Copy, Debug)]
struct Piece {
    start: u32,
    end: u32,
    from: u32,
    to: u32,
    made: Made,
}

impl Piece {
    /// The place below that a place in this piece stands for.
    fn point(&self, at: u32) -> u32 {
        match self.made {
            Made::Same => self.below(&(at..at)).start,
            Made::Folded | Made::Undone(_) if at >= self.end => self.to,
            Made::Folded | Made::Undone(_) => self.from,
        }
    }

    /// What the bytes of this piece that are in `part` stand for.
    fn below(&self, part: &Range<u32>) -> Range<u32> {
        if self.made != Made::Same {
            return self.from..self.to;
        }
        let start = part.start.clamp(self.start, self.end) - self.start;
        let end = part.end.clamp(self.start, self.end) - self.start;
        self.from.saturating_add(start)..self.from.saturating_add(end)
    }
}

/// The pieces of a view, in its order, over a text or over another view.
#[derive(Debug)]
pub(super) struct Pieces {
    list: Vec<Piece>,
    /// Whether they stand in the order of the text below.
    ordered: bool,
    below: Option<Arc<Pieces>>,
}

impl Pieces {
    /// Where a part of the view stands in the text at the bottom.
    pub(super) fn original(&self, part: Range<usize>) -> Range<usize> {
        let part = offset(part.start)..offset(part.end.max(part.start));
        let touched = self.touched(&part);
        if part.is_empty() {
            let at = touched.first().map_or(0, |piece| piece.point(part.start)) as usize;
            return match &self.below {
                Some(below) => below.original(at..at),
                None => at..at,
            };
        }
        let span = match (touched.first(), touched.last()) {
            (Some(first), Some(last)) if self.ordered => {
                first.below(&part).start..last.below(&part).end
            }
            _ => touched
                .iter()
                .map(|piece| piece.below(&part))
                .reduce(|one, other| one.start.min(other.start)..one.end.max(other.end))
                .unwrap_or(0..0),
        };
        let span = span.start as usize..span.end.max(span.start) as usize;
        match &self.below {
            Some(below) => below.original(span),
            None => span,
        }
    }

    /// The disguises that were taken off a part of the view.
    pub(super) fn disguises(&self, part: Range<usize>) -> Disguises {
        let bounds = offset(part.start)..offset(part.end.max(part.start));
        let mut found = Disguises::default();
        for piece in self.touched(&bounds) {
            if let Made::Undone(disguise) = piece.made {
                found = found.with(disguise);
            }
            if let Some(below) = &self.below {
                let span = piece.below(&bounds);
                found = found.and(below.disguises(span.start as usize..span.end as usize));
            }
        }
        found
    }

    /// The pieces that have bytes in `part`, or, where it is empty, the one it stands in.
    fn touched(&self, part: &Range<u32>) -> &[Piece] {
        let first = self.list.partition_point(|piece| piece.end <= part.start);
        let first = first.min(self.list.len().saturating_sub(1));
        let last = self.list.partition_point(|piece| piece.start < part.end);
        self.list.get(first..last.max(first + 1)).unwrap_or(&[])
    }
}

/// A view in the making.
#[derive(Debug)]
pub(super) struct Draft<'t> {
    source: &'t str,
    text: String,
    list: Vec<Piece>,
    /// Up to where the source was copied or replaced.
    done: usize,
    ordered: bool,
    /// How long the view may become.
    room: usize,
    segments: Vec<Range<usize>>,
    told: Vec<Range<usize>>,
}

impl<'t> Draft<'t> {
    /// An empty view over a text.
    pub(super) fn new(source: &'t str, room: usize) -> Self {
        Self {
            source,
            text: String::new(),
            list: Vec::new(),
            done: 0,
            ordered: true,
            room,
            segments: Vec::new(),
            told: Vec::new(),
        }
    }

    /// Keeps the text up to `range` as it is and puts `with` in the place of that part.
    pub(super) fn replace(&mut self, range: Range<usize>, with: &str, made: Made) {
        if range.start > self.done {
            self.copy(self.done..range.start);
        }
        self.done = range.end;
        self.add(range, with, made);
    }

    /// Where the part of the source that was not looked at yet begins.
    pub(super) fn done(&self) -> usize {
        self.done
    }

    /// The whole source with its replacements; nothing if there are none.
    pub(super) fn replaced(mut self) -> Option<Self> {
        if self.done == 0 {
            return None;
        }
        self.copy(self.done..self.source.len());
        Some(self)
    }

    /// Adds a part of the source as it is.
    pub(super) fn copy(&mut self, range: Range<usize>) {
        let source = self.source;
        if let Some(text) = source.get(range.clone()) {
            self.add(range, text, Made::Same);
        }
    }

    /// Adds what a part of the source says.
    pub(super) fn add(&mut self, range: Range<usize>, says: &str, made: Made) {
        if self.text.len() + says.len() > self.room {
            self.room = 0;
            return;
        }
        let piece = Piece {
            start: offset(self.text.len()),
            end: offset(self.text.len() + says.len()),
            from: offset(range.start),
            to: offset(range.end),
            made,
        };
        self.text.push_str(says);
        match self.list.last_mut() {
            // What is left out or stands as it is goes on; anything else is told piece by piece.
            Some(last)
                if last.made == made
                    && last.to == piece.from
                    && (made == Made::Same
                        || (last.start == last.end && piece.start == piece.end)) =>
            {
                last.to = piece.to;
                last.end = piece.end;
            }
            Some(last) => {
                self.ordered &= last.to <= piece.from;
                self.list.push(piece);
            }
            None => self.list.push(piece),
        }
    }

    /// Adds a character a part of the source stands for.
    pub(super) fn add_char(&mut self, range: Range<usize>, c: char, made: Made) {
        self.add(range, c.encode_utf8(&mut [0; 4]), made);
    }

    /// Ends a segment: what comes next is no continuation of what stands there.
    pub(super) fn end_segment(&mut self) {
        let start = self.segments.last().map_or(0, |last| last.end + 1);
        if self.text.len() > start {
            self.segments.push(start..self.text.len());
            let at = self.list.last().map_or(0, |last| last.to as usize);
            self.add(at..at, "\n", Made::Folded);
        }
    }

    /// Ends a segment that nobody writes like this without meaning to hide it.
    pub(super) fn end_telling_segment(&mut self) {
        let before = self.segments.len();
        self.end_segment();
        self.told.extend(self.segments.get(before).cloned());
    }

    /// Takes back what was added since a segment ended.
    pub(super) fn drop_segment(&mut self) {
        let start = self.segments.last().map_or(0, |last| last.end + 1);
        self.text.truncate(start);
        let start = offset(start);
        let kept = self.list.partition_point(|piece| piece.start < start);
        self.list.truncate(kept);
    }

    /// What was added since a segment ended.
    pub(super) fn segment(&self) -> &str {
        let start = self.segments.last().map_or(0, |last| last.end + 1);
        self.text.get(start..).unwrap_or_default()
    }

    /// How long it is.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// Whether nothing was added.
    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Whether there is no room for more.
    pub(super) fn is_full(&self) -> bool {
        self.text.len() >= self.room
    }

    /// The text and its segments, with the way back through `below`.
    pub(super) fn finish(self, below: Option<Arc<Pieces>>) -> Finished {
        Finished {
            text: self.text,
            told: self.told,
            pieces: Arc::new(Pieces {
                list: self.list,
                ordered: self.ordered,
                below,
            }),
        }
    }
}

/// A view that is made.
pub(super) struct Finished {
    pub(super) text: String,
    /// The segments that are worth a mark.
    pub(super) told: Vec<Range<usize>>,
    pub(super) pieces: Arc<Pieces>,
}

/// Blocks of a text are far smaller than this.
fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
