//! The calls that are listed: in which order, which of them, and on which the cursor stands.

use holdpoint_broker::Request;

/// Calls in a list, and a cursor.
#[derive(Debug, Default)]
pub(super) struct Rows {
    requests: Vec<Request>,
    /// The call under the cursor, by its name: rows come and go around it.
    cursor: Option<String>,
    /// Where it stands, for when it goes.
    place: usize,
}

impl Rows {
    pub(super) fn requests(&self) -> &[Request] {
        &self.requests
    }

    pub(super) fn find(&self, id: &str) -> Option<&Request> {
        self.requests.iter().find(|request| request.id == id)
    }

    /// Those with a text in them.
    pub(super) fn visible(&self, filter: &str) -> Vec<&Request> {
        let filter = filter.trim().to_lowercase();
        self.requests
            .iter()
            .filter(|request| filter.is_empty() || has(request, &filter))
            .collect()
    }

    /// Takes others in place of those that are here.
    pub(super) fn replace(&mut self, requests: Vec<Request>) {
        self.requests = requests;
    }

    /// Takes one, in place of an older version of it.
    pub(super) fn put(&mut self, request: Request) {
        match self.requests.iter_mut().find(|one| one.id == request.id) {
            Some(old) if old.version > request.version => {}
            Some(old) => *old = request,
            None => self.requests.push(request),
        }
    }

    pub(super) fn remove(&mut self, id: &str) {
        self.requests.retain(|request| request.id != id);
    }

    /// What expires first stands first; what never does, last.
    pub(super) fn sort_by_expiry(&mut self) {
        self.requests.sort_by(|one, other| {
            let order = |request: &Request| (request.expires.is_none(), request.expires);
            (order(one), one.opened, &one.id).cmp(&(order(other), other.opened, &other.id))
        });
    }

    /// What was settled last stands first.
    pub(super) fn sort_by_answer(&mut self) {
        self.requests.sort_by_key(|request| {
            let at = request.settled.as_ref().map(|settled| settled.at);
            (std::cmp::Reverse(at), request.id.clone())
        });
    }

    /// Keeps only the first ones.
    pub(super) fn shorten(&mut self, most: usize) {
        self.requests.truncate(most);
    }

    /// The call under the cursor, and its row.
    pub(super) fn current(&self, filter: &str) -> Option<(usize, &Request)> {
        let visible = self.visible(filter);
        let kept = self
            .cursor
            .as_deref()
            .and_then(|id| visible.iter().position(|request| request.id == id));
        let row = kept.unwrap_or_else(|| self.place.min(visible.len().saturating_sub(1)));
        visible.get(row).map(|request| (row, *request))
    }

    /// Notes where the cursor stands, so that it stays there.
    pub(super) fn settle(&mut self, filter: &str) {
        let found = self.current(filter).map(|(row, one)| (row, one.id.clone()));
        if let Some((row, id)) = found {
            self.place = row;
            self.cursor = Some(id);
        }
    }

    /// Moves the cursor to a row, or as far as there are any.
    pub(super) fn go(&mut self, row: usize, filter: &str) {
        self.place = row;
        self.cursor = None;
        self.settle(filter);
    }
}

fn has(request: &Request, text: &str) -> bool {
    let asked = &request.asked;
    [
        &request.id,
        &asked.tool,
        &asked.agent,
        &asked.session,
        &asked.directory,
        &request.display.summary,
        &request.display.details,
        &request.decision.reason,
    ]
    .iter()
    .any(|part| part.to_lowercase().contains(text))
}
