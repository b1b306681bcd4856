"""A recursive-descent parser for conditions; names and types are checked while reading.

    cond   = conj {"or" conj}          conj = unit {"and" unit}
    unit   = "not" unit | "(" cond ")" | ("some"|"all") v "in" T "(" cond ")" | test
    test   = call | term ("=="|"!="|"<"|"<="|">"|">=") term
    term   = PARAM | OBJECT | none | true | false | INT | call         call = NAME "(" [term {"," term}] ")"

`T` is a type or several (`place | person`). `str()` of what is read gives a text that reads to the same again.
"""

from __future__ import annotations

from typing import Final, NoReturn

from handrail.domain.domain import OBJECT
from handrail.domain.formula import (
    All,
    And,
    Call,
    Condition,
    Const,
    Not,
    Or,
    Some,
    Term,
    Test,
)
from handrail.domain.text.scope import Scope, a_noun
from handrail.domain.text.source import Source
from handrail.domain.text.tokens import Token, TokenKind, is_name, tokenize
from handrail.domain.types import Kind, Parameter
from handrail.errors import did_you_mean

COMPARISONS: Final = frozenset({"==", "!=", "<", "<=", ">", ">="})
MAX_DEPTH: Final = 60
"""Parentheses, `not`s and quantifiers inside one another at most."""


class Parser:
    """Reads one string in one scope."""

    def __init__(self, source: Source, scope: Scope) -> None:
        self.source = source
        self.scope = scope
        self.tokens = tokenize(source)
        self.i = 0
        self.depth = 0

    # ---- tokens

    @property
    def token(self) -> Token:
        """The next token."""
        return self.tokens[self.i]

    def sees(self, *texts: str) -> bool:
        """Whether the next token is one of these words or signs."""
        return self.token.kind in (TokenKind.NAME, TokenKind.SIGN) and self.token.text in texts

    def take(self) -> Token:
        """The next token, consumed."""
        token = self.token
        if token.kind is not TokenKind.END:
            self.i += 1
        return token

    def accept(self, text: str) -> bool:
        """Consume the next token if it is this word or sign."""
        if self.sees(text):
            self.i += 1
            return True
        return False

    def expect(self, text: str, after: str) -> Token:
        """Consume this word or sign, or say that it was expected."""
        if not self.sees(text):
            self.fail(f"expected '{text}' {after}, found {self.token}.")
        return self.take()

    def fail(self, problem: str, at: int | None = None) -> NoReturn:
        """Raise a DomainError at a place, by default the next token's."""
        raise self.source.error(self.token.at if at is None else at, problem)

    def end(self, what: str) -> None:
        """Nothing may follow."""
        if self.token.kind is TokenKind.END:
            return
        hint = ""
        if self.sees("("):
            hint = " Only a fluent, attribute or type is called."
        elif self.sees(":="):
            hint = " ':=' assigns and belongs into `makes`; test with '=='."
        elif self.token.kind is TokenKind.NAME:
            hint = " Conditions are joined by 'and' or 'or'."
        self.fail(f"expected the end of {what}, found {self.token}.{hint}")

    def name(self, what: str) -> Token:
        """A name."""
        if self.token.kind is not TokenKind.NAME or not is_name(self.token.text):
            said = " is a word of the language and can't be" if self.token.kind is TokenKind.NAME else " is not"
            self.fail(f"expected {what}; {self.token}{said} a name.")
        return self.take()

    def type_names(self, *others: str) -> tuple[str, ...]:
        """`T` or `T | T`; `others` are further words that could have been meant, for suggestions."""
        names = [self._type_name(others)]
        while self.accept("|"):
            names.append(self._type_name(others))
        return tuple(names)

    def _type_name(self, others: tuple[str, ...]) -> str:
        token = self.name("a type")
        known = {*self.scope.domain.types, *others}
        if token.text not in known and token.text != OBJECT:
            self.fail(f"there is no type '{token.text}'.{did_you_mean(token.text, known)}", token.at)
        return token.text

    def _deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.fail(f"nested more than {MAX_DEPTH} deep; declare a derived fluent for a part of it.")

    # ---- conditions

    def condition(self) -> Condition:
        """`conj {"or" conj}`."""
        parts = [self._conjunction()]
        while self.accept("or"):
            parts.append(self._conjunction())
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def _conjunction(self) -> Condition:
        parts = [self._unit()]
        while self.accept("and"):
            parts.append(self._unit())
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _unit(self) -> Condition:
        self._deeper()
        if self.accept("not"):
            made: Condition = Not(self._unit())
        elif self.accept("("):
            made = self.condition()
            self.expect(")", "to close the parenthesis")
        elif self.sees("some", "all"):
            made = self._quantified(self.take())
        else:
            made = self._test()
        self.depth -= 1
        return made

    def _quantified(self, word: Token) -> Condition:
        var, types = self._variable(word)
        outer = self.scope
        self.scope = outer.with_params(Parameter(var, types))
        self.expect("(", f"after the type of '{var}'")
        body = self.condition()
        self.expect(")", f"to close '{word.text} {var}'")
        self.scope = outer
        return (Some if word.text == "some" else All)(var, " | ".join(types), body)

    def _variable(self, word: Token) -> tuple[str, tuple[str, ...]]:
        var = self.name(f"a variable after '{word.text}'")
        scope = self.scope
        if scope.param(var.text) is not None:
            self.fail(f"'{var.text}' is a parameter or variable already; choose another name.", var.at)
        if var.text in scope.objects or var.text in scope.domain.symbols:
            kind = "an object" if var.text in scope.objects else "a symbol"
            self.fail(f"'{var.text}' is {kind}; choose another name for the variable.", var.at)
        self.expect("in", f"and a type after '{word.text} {var.text}'")
        return var.text, self.type_names()

    def _test(self) -> Condition:
        at = self.token.at
        left = self.term()
        if self.token.kind is TokenKind.SIGN and self.token.text in COMPARISONS:
            op = self.take()
            right = self.term()
            self._comparable(left, op, right)
            if op.text in ("==", "!=") and left == Const(True) and right != Const(True):
                left, right = right, left
            return Test(left, op.text, right)
        if self.sees(":="):
            self.end("the condition")
        kind = self.scope.type_of(left)
        if kind.kind is not Kind.BOOL:
            self.fail(f"'{left}' is {kind}, not true or false; compare it, such as {left} == ...", at)
        if isinstance(left, Const):
            self.fail(f"a bare '{left}' is no condition; leave it out or compare it.", at)
        return Test(left, "==", Const(True))

    def _comparable(self, left: Term, op: Token, right: Term) -> None:
        a, b = self.scope.type_of(left), self.scope.type_of(right)
        if op.text not in ("==", "!="):
            for term, kind in ((left, a), (right, b)):
                if kind.kind is not Kind.COUNT:
                    self.fail(f"'{op.text}' compares counts, and '{term}' is {kind}.", op.at)
            return
        for call in (left, right):
            if isinstance(call, Call) and call.name in self.scope.derived and Const not in (type(left), type(right)):
                self.fail(f"'{call}' is a derived fluent: it can be compared only with true or false.", op.at)
        if not a.meets(b):
            if None in (a.kind, b.kind):
                term = right if a.kind is None else left
                self.fail(f"'{term}' is {b if a.kind is None else a} and never none.", op.at)
            self.fail(f"'{left}' is {a} and '{right}' is {b}; they are never equal.", op.at)

    # ---- terms

    def term(self) -> Term:
        """A parameter, object, symbol, `none`, truth value, count or call."""
        token = self.token
        if token.kind is TokenKind.INT:
            self.take()
            return Const(int(token.text))
        if token.kind is not TokenKind.NAME:
            self.fail(f"expected a parameter, an object, a count, 'none' or a fluent, found {token}.")
        self.take()
        if token.text in ("none", "true", "false"):
            return Const({"none": None, "true": True, "false": False}[token.text])
        if not is_name(token.text):
            self.fail(f"expected a parameter, an object or a fluent, found the word {token}.", token.at)
        if self.sees("("):
            return self._call(token)
        found = self.scope.word(token.text)
        if isinstance(found, str):
            self.fail(found, token.at)
        return found

    def call(self, what: str) -> Call:
        """`NAME "(" [term {"," term}] ")"`."""
        token = self.name(what)
        if not self.sees("("):
            self.fail(
                f"expected '(' after '{token.text}', found {self.token}; every fluent has its arguments behind it."
            )
        return self._call(token)

    def _call(self, name: Token) -> Call:
        self._deeper()
        self.take()
        args: list[tuple[Term, int]] = []
        if not self.accept(")"):
            while True:
                args.append((self.term(), self.tokens[self.i - 1].at))
                if not self.accept(","):
                    break
            self.expect(")", f"or ',' in the arguments of '{name.text}'")
        self._check_call(name, args)
        self.depth -= 1
        return Call(name.text, tuple(a for a, _ in args))

    def _check_call(self, name: Token, args: list[tuple[Term, int]]) -> None:
        scope = self.scope
        try:
            params = scope.signature(name.text)
        except KeyError:
            if name.text in scope.domain.numbers:
                self.fail(f"'{name.text}' is a number; it belongs into a cost, not here.", name.at)
            if scope.param(name.text) is not None or name.text in scope.objects:
                self.fail(f"'{name.text}' is not a fluent; a parameter or object takes no arguments.", name.at)
            known = scope.callables()
            self.fail(f"there is no fluent, attribute or type '{name.text}'.{did_you_mean(name.text, known)}", name.at)
        shown = f"{name.text}({', '.join(map(str, params))})"
        if len(args) != len(params):
            takes = f"{len(params)} argument{'' if len(params) == 1 else 's'}"
            self.fail(f"'{name.text}' takes {takes}, here it has {len(args)}; it is declared as {shown}.", name.at)
        for p, (arg, at) in zip(params, args, strict=True):
            kind = scope.type_of(arg)
            if kind.kind is not Kind.OBJECT:
                self.fail(f"'{arg}' is {kind}; '{name.text}' takes objects: {shown}.", at)
            if not kind.types & scope.closure(p.types):
                wanted = a_noun(" | ".join(p.types))
                self.fail(f"'{arg}' is {kind} and never {wanted}; '{name.text}' is declared as {shown}.", at)
