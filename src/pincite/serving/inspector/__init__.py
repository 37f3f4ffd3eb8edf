"""The inspector: a page to ask a question, see its evidence, and how that was found."""
