"""Finds places where a fault can be planted in C++ sources, by their syntax tree (libclang, package python3-clang).

"""
import os
import re
import subprocess

from clang import cindex
from clang.cindex import CursorKind as Kind, TypeKind

from mutant import Mutant

SWAPS = {'<': '<=', '<=': '<', '>': '>=', '>=': '>', '==': '!=', '!=': '==', '+': '-', '-': '+', '*': '+', '/': '*',
         '%': '+', '<<': '>>', '>>': '<<', '&': '|', '|': '&', '^': '|', '&&': '||', '||': '&&'}
ASSIGNMENT_SWAPS = {'+=': '-=', '-=': '+=', '*=': '+=', '<<=': '>>=', '>>=': '<<=', '&=': '|=', '|=': '&=', '^=': '|='}
LIMITS = {'std::min': 'std::max', 'std::max': 'std::min'}
# What is decided while compiling cannot be switched at run time.
CONSTANT = {Kind.STATIC_ASSERT, Kind.ENUM_CONSTANT_DECL, Kind.TEMPLATE_NON_TYPE_PARAMETER,
            Kind.CXX_UNARY_EXPR}  # the last one is sizeof
INITIALISERS = {Kind.INIT_LIST_EXPR, Kind.CALL_EXPR, Kind.UNEXPOSED_EXPR}  # of an array
# These wrap an expression without a text of their own.
TRANSPARENT = {Kind.UNEXPOSED_EXPR}
DELETABLE = {Kind.CALL_EXPR, Kind.BINARY_OPERATOR, Kind.COMPOUND_ASSIGNMENT_OPERATOR, Kind.UNARY_OPERATOR,
             Kind.UNEXPOSED_EXPR}


class _Finder:
    def __init__(self, tree, wanted):
        self.tree = tree
        self.wanted = wanted      # is a relative path one to plant faults in?
        self.contents = {}
        self.found = set()

    def text(self, file, extent):
        if file not in self.contents:
            with open(os.path.join(self.tree, file), 'rb') as source:
                self.contents[file] = source.read()
        return self.contents[file][extent.start.offset:extent.end.offset].decode('utf-8', 'replace')

    def file_of(self, cursor):
        location = cursor.location.file
        if location is None:
            return None
        name = os.path.relpath(os.path.realpath(location.name), self.tree)
        return name if self.wanted(name) else None

    def add(self, file, extent, kind, mutated, template):
        """`template` has {old} and {new}; both copies are put on one line, the line breaks follow behind."""
        old = self.text(file, extent)
        if not old or '//' in old or '#' in old or '@' in old or '"' in old and '\n' in old:
            return
        breaks = '\n' * old.count('\n')
        one_line = ' '.join(old.split('\n'))
        new = ' '.join(mutated(one_line).split('\n'))
        self.found.add(Mutant(file, extent.start.offset, extent.end.offset, kind, new + breaks,
                              template.format(old=one_line, new=new) + breaks))

    # ---- One kind of node each

    def binary_operator(self, file, cursor):
        children = list(cursor.get_children())
        if len(children) != 2:
            return
        left, right = children[0].extent, children[1].extent
        if not cursor.extent.start.offset <= left.end.offset <= right.start.offset <= cursor.extent.end.offset:
            return  # from a macro
        whole = self.text(file, cursor.extent)
        base = cursor.extent.start.offset
        before, after = left.end.offset - base, right.start.offset - base
        raw = whole.encode()
        between = raw[before:after].decode('utf-8', 'replace')
        operator = between.strip()
        lhs, rhs = raw[:before].decode(), raw[after:].decode()
        either = '(@ ? {new} : ({old}))'
        if operator in SWAPS:
            new = f'({lhs} {SWAPS[operator]} {rhs})'
            self.add(file, cursor.extent, f'{operator} becomes {SWAPS[operator]}', lambda _: new, either)
        if operator in ('&&', '||'):
            self.add(file, cursor.extent, f'what is left of {operator} dropped', lambda _: f'bool({rhs})', either)
            self.add(file, cursor.extent, f'what is right of {operator} dropped', lambda _: f'bool({lhs})', either)

    def assignment(self, file, cursor):
        for operator, other in ASSIGNMENT_SWAPS.items():
            children = list(cursor.get_children())
            if len(children) != 2:
                return
            raw = self.text(file, cursor.extent).encode()
            base = cursor.extent.start.offset
            before, after = children[0].extent.end.offset - base, children[1].extent.start.offset - base
            if not 0 <= before <= after or raw[before:after].decode('utf-8', 'replace').strip() != operator:
                continue
            lhs, rhs = raw[:before].decode(), raw[after:].decode()
            self.add(file, cursor.extent, f'{operator} becomes {other}', lambda _: f'{lhs} {other} {rhs}',
                     '(@ ? ({new}) : ({old}))')

    def condition(self, file, extent, what):
        self.add(file, extent, f'{what} negated', lambda old: f'!({old})', '(@ != bool({old}))')
        self.add(file, extent, f'{what} always true', lambda old: 'true', '(@ || ({old}))')
        self.add(file, extent, f'{what} never true', lambda old: 'false', '(!@ && ({old}))')

    def integer(self, file, cursor):
        text = self.text(file, cursor.extent)
        match = re.fullmatch(r"([0-9']+)([uUlLzZ]*)", text)
        if not match:
            return
        value, suffix = int(match[1].replace("'", '')), match[2]
        self.add(file, cursor.extent, f'{text} becomes {value + 1}', lambda _: f'{value + 1}{suffix}',
                 '(@ ? {new} : {old})')
        if value > 1:
            self.add(file, cursor.extent, f'{text} becomes {value - 1}', lambda _: f'{value - 1}{suffix}',
                     '(@ ? {new} : {old})')

    def deletion(self, file, cursor):
        if self.text(file, cursor.extent).startswith(('co_', 'throw', 'delete')):
            return
        self.add(file, cursor.extent, 'statement left out', lambda old: '', 'if (!@) {old}')

    def jump(self, file, cursor):
        self.add(file, cursor.extent, 'jump left out', lambda old: '', 'if (!@) {old}')

    def limit(self, file, cursor):
        old = self.text(file, cursor.extent)
        for name, other in LIMITS.items():
            if old.startswith(name) and old[len(name):len(name) + 1] in ('(', '<'):
                self.add(file, cursor.extent, f'{name} becomes {other}', lambda text: other + text[len(name):],
                         '(@ ? {new} : {old})')

    # ---- The walk

    def visit(self, cursor, parent_kind, in_body):
        kind = cursor.kind
        if kind in CONSTANT:
            return
        file = self.file_of(cursor)
        if kind == Kind.VAR_DECL and 'constexpr' in [t.spelling for t, _ in zip(cursor.get_tokens(), range(8))]:
            return
        children = list(cursor.get_children())
        if kind == Kind.VAR_DECL and cursor.type.kind == TypeKind.CONSTANTARRAY:  # the size is no code
            children = [child for child in children if child.kind in INITIALISERS]
        if file and in_body:
            if kind == Kind.BINARY_OPERATOR:
                self.binary_operator(file, cursor)
            elif kind == Kind.COMPOUND_ASSIGNMENT_OPERATOR:
                self.assignment(file, cursor)
            elif kind == Kind.INTEGER_LITERAL:
                self.integer(file, cursor)
            elif kind == Kind.CALL_EXPR:
                self.limit(file, cursor)
            elif kind == Kind.IF_STMT:
                tokens = [t.spelling for t, _ in zip(cursor.get_tokens(), range(2))]
                if tokens[1:] == ['constexpr']:
                    children = children[1:]  # decided while compiling
                elif children and children[0].kind not in (Kind.DECL_STMT, Kind.VAR_DECL):
                    self.condition(file, children[0].extent, 'condition')
            elif kind == Kind.CONDITIONAL_OPERATOR and children:
                self.condition(file, children[0].extent, 'choice')
            elif kind in (Kind.BREAK_STMT, Kind.CONTINUE_STMT) and parent_kind == Kind.COMPOUND_STMT:
                self.jump(file, cursor)
            if parent_kind == Kind.COMPOUND_STMT and kind in DELETABLE:
                self.deletion(file, cursor)
        in_body = in_body or kind == Kind.COMPOUND_STMT
        if kind == Kind.CASE_STMT:
            children = children[1:]
        for child in children:
            self.visit(child, kind, in_body)


def _arguments(entry):
    """What libclang has to be told to parse a file as the build compiles it."""
    words = entry['command'].split()
    kept, skip = [], 0
    for word in words[1:]:
        if skip:
            skip -= 1
        elif word in ('-o', '-c', '-MF', '-MT', '-MQ'):
            skip = 1
        elif word.startswith(('-W', '-O', '-g', '-M')):
            pass
        else:
            kept.append(word.replace('\\"', '"'))
    return [word for word in kept if word != entry['file']]


def find(tree, entries, wanted):
    """Mutants of every file for which wanted(path) holds, seen from the compile commands `entries`; sorted."""
    tree = os.path.realpath(tree)
    resources = subprocess.run(['clang', '-print-resource-dir'], capture_output=True, text=True).stdout.strip()
    finder = _Finder(tree, wanted)
    index = cindex.Index.create()
    for entry in entries:
        arguments = _arguments(entry) + (['-resource-dir', resources] if resources else [])
        unit = index.parse(entry['file'], args=arguments)
        for cursor in unit.cursor.get_children():
            if finder.file_of(cursor):
                finder.visit(cursor, None, False)
    return sorted(finder.found)
