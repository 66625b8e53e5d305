"""The tables of the plan, from gated outcomes: values first, then texts for a terminal or a page."""
