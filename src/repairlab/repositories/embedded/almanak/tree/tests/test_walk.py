import unittest

from almanak.syntax.expressions import parse_expression
from almanak.syntax.nodes import Literal, Name
from almanak.syntax.unparse import unparse_expression
from almanak.syntax.walk import calls, names, transform, walk

TREE = parse_expression("not f(a, [b, 1]) and -c < a")


class WalkTest(unittest.TestCase):
    def test_outermost_first(self):
        shown = [unparse_expression(node) for node in walk(parse_expression("a + f(b)"))]
        self.assertEqual(shown, ["a + f(b)", "a", "f(b)", "b"])

    def test_names(self):
        self.assertEqual(names(TREE), ("a", "b", "c"))

    def test_calls(self):
        self.assertEqual(calls(TREE), ("f",))

    def test_transform_leaves_the_tree_alone(self):
        self.assertEqual(transform(TREE, lambda node: node), TREE)

    def test_transform_changes_parts(self):
        changed = transform(TREE, lambda node: Literal(0) if node == Name("a") else node)
        self.assertEqual(unparse_expression(changed), "not f(0, [b, 1]) and -c < 0")
