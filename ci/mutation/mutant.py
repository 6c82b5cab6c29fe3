"""A mutant is one replacement of a stretch of one file.

It has two texts: `plain`, the faulty code alone, and `switched`, which holds the original and the faulty code and asks
gdelta_mutants::is(number) which of them to run.
"""
import dataclasses


@dataclasses.dataclass(frozen=True, order=True)
class Mutant:
    file: str      # relative to the tree
    begin: int     # bytes of the file
    end: int
    kind: str      # what was done, in a few words
    plain: str
    switched: str  # with '@' in place of the number

    def edit(self, number=None):
        """The text that replaces the stretch; with a number, the switched one."""
        return self.plain if number is None else self.switched.replace('@', f'gdelta_mutants::is({number})')
