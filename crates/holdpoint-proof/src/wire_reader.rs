//! The one way ssh writes things down: a length in four bytes, and so many bytes.

/// Reads what is left of a blob; every step says whether it was there.
pub(crate) struct WireReader<'a> {
    left: &'a [u8],
}

impl<'a> WireReader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { left: bytes }
    }

    pub(crate) fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, left) = self.left.split_at_checked(length)?;
        self.left = left;
        Some(taken)
    }

    pub(crate) fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    pub(crate) fn number(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    /// A string: its length may not exceed what is there, so nothing is ever set aside for a lie.
    pub(crate) fn string(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        self.take(length)
    }

    pub(crate) fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.string()?).ok()
    }

    /// Whether everything was read: what stands behind the end belongs to nobody.
    pub(crate) fn is_over(&self) -> bool {
        self.left.is_empty()
    }
}

/// A string as ssh writes it.
pub(crate) fn put(out: &mut Vec<u8>, bytes: &[u8]) {
    // Nothing here is longer than a statement, far below what four bytes can say.
    out.extend(u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_be_bytes());
    out.extend(bytes);
}
