//! Texts in the three notations.
