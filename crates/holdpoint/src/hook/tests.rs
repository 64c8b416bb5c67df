//! Every adapter at once.
