"""Effects, rules over whole plans, and facts.

    effect = call ":=" term | call ("+="|"-=") INT | "if" cond "then" effect | "each" v "in" T "(" effect ")"
    rule   = "never" cond | "always" cond | cond "before" cond | "after" cond "within" INT "steps" cond
    fact   = call | "not" call | call (":="|"==") (OBJECT|none|true|false|unknown|INT)

An effect's conditions and values read the state before the step.
"""

from __future__ import annotations

from handrail.domain.formula import Assign, Call, Change, Const, Each, Effect, Param, Term, When
from handrail.domain.rules import Rule, RuleKind
from handrail.domain.text.parser import Parser
from handrail.domain.text.scope import a_noun
from handrail.domain.text.tokens import TokenKind
from handrail.domain.types import Kind, Parameter
from handrail.domain.values import UNKNOWN, Atom, Value


class StatementParser(Parser):
    """Reads one effect, rule or fact in one scope."""

    def effect(self) -> Effect:
        """An assignment, a change of a count, `if ... then ...` or `each ... in ... (...)`."""
        self._deeper()
        if self.accept("if"):
            condition = self.condition()
            self.expect("then", "after the condition")
            made: Effect = When(condition, self.effect())
        elif self.sees("each"):
            word = self.take()
            var, types = self._variable(word)
            outer = self.scope
            self.scope = outer.with_params(Parameter(var, types))
            self.expect("(", f"after the type of '{var}'")
            made = Each(var, " | ".join(types), self.effect())
            self.expect(")", f"to close 'each {var}'")
            self.scope = outer
        else:
            made = self._assignment()
        self.depth -= 1
        return made

    def _assignment(self) -> Effect:
        at = self.token.at
        if self.sees("not"):
            self.fail("an effect assigns; write 'fluent(...) := false'.")
        target = self.call("a fluent to assign")
        fluent = self.scope.domain.fluents.get(target.name)
        if fluent is None:
            kind = (
                "derived fluent" if target.name in self.scope.derived else self.scope.domain.kind_of_name(target.name)
            )
            self.fail(f"'{target.name}' is {a_noun(kind)}, which nothing changes; only fluents are assigned.", at)
        if self.sees("+=", "-="):
            sign = self.take()
            if fluent.kind is not Kind.COUNT:
                self.fail(f"'{sign.text}' changes counts, and '{fluent}' is none.", sign.at)
            if self.token.kind is not TokenKind.INT:
                self.fail(f"expected a count after '{sign.text}', found {self.token}.")
            amount = int(self.take().text)
            if amount == 0 or amount > fluent.high - fluent.low:
                self.fail(f"'{fluent}' can't change by {amount}.", self.tokens[self.i - 1].at)
            return Change(target, amount if sign.text == "+=" else -amount)
        if not self.sees(":="):
            hint = " '==' only tests." if self.sees("==") else ""
            self.fail(f"expected ':=', '+=' or '-=' after '{target}', found {self.token}.{hint}")
        self.take()
        at = self.token.at
        value = self.term()
        self._assignable(target, value, at)
        return Assign(target, value)

    def _assignable(self, target: Call, value: Term, at: int) -> None:
        fluent = self.scope.domain.fluents[target.name]
        kind, have = self.scope.type_of_fluent(fluent), self.scope.type_of(value)
        if isinstance(value, Call) and value.name in self.scope.derived:
            self.fail(
                f"'{value}' is a derived fluent and can't be assigned; write 'if {value} then {target} := true'.", at
            )
        if have.kind is None and not fluent.optional:
            self.fail(f"'{target}' is {kind} and can't be none; declare it with '?' if it may.", at)
        if not kind.meets(have) or (have.kind is not None and have.kind is not kind.kind):
            self.fail(f"'{target}' is {kind}, and '{value}' is {have}.", at)
        number = isinstance(value, Const) and kind.kind is Kind.COUNT
        if number and not fluent.low <= int(value.value) <= fluent.high:  # type: ignore[union-attr,arg-type]
            self.fail(f"'{target}' is {kind}, and {value} is outside.", at)

    def rule(self) -> Rule:
        """One of the four forms; see `RuleKind`."""
        if self.accept("never"):
            return Rule(RuleKind.NEVER, self.condition())
        if self.accept("always"):
            return Rule(RuleKind.ALWAYS, self.condition())
        if self.accept("after"):
            first = self.condition()
            self.expect("within", "after the condition, such as 'after a within 2 steps b'")
            if self.token.kind is not TokenKind.INT:
                self.fail(f"expected a count of steps after 'within', found {self.token}.")
            k = int(self.take().text)
            if not self.accept("steps") and not self.accept("step"):
                self.fail(f"expected 'steps' after 'within {k}', found {self.token}.")
            return Rule(RuleKind.AFTER, first, self.condition(), k)
        first = self.condition()
        if not self.accept("before"):
            self.fail(
                f"expected 'before', found {self.token}. A rule is 'never c', 'always c', 'a before b' or 'after a within k steps b'."
            )
        return Rule(RuleKind.BEFORE, first, self.condition())

    def fact(self) -> tuple[Atom, Value]:
        """A ground fluent and its value."""
        negated = self.accept("not")
        at = self.token.at
        call = self.call("a fact, such as 'open(fridge)'")
        fluent = self.scope.domain.fluents.get(call.name)
        if fluent is None:
            kind = "derived fluent" if call.name in self.scope.derived else self.scope.domain.kind_of_name(call.name)
            self.fail(f"'{call.name}' is {a_noun(kind)}; a state gives values of fluents only.", at)
        for arg in call.args:
            if not isinstance(arg, Const):
                self.fail(f"a fact is about objects, and '{arg}' is none.", at)
        atom: Atom = (call.name, *(str(a) for a in call.args))
        if negated or not self.sees(":=", "=="):
            if fluent.kind is not Kind.BOOL:
                self.fail(f"'{call}' is {self.scope.type_of_fluent(fluent)}; give its value: {call} := ...")
            return atom, not negated
        self.take()
        at = self.token.at
        if self.accept("unknown"):
            return atom, UNKNOWN
        value = self.term()
        if not isinstance(value, Const):
            self.fail(
                f"a state gives a value, and '{value}' is {'a parameter' if isinstance(value, Param) else 'none'}.", at
            )
        self._assignable(call, value, at)
        return atom, value.value
