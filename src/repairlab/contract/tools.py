"""The tools that agents are offered, as data: one place serves the prompt, the schema and the parser."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from repairlab.contract.canonical import Json
from repairlab.contract.strict import StrictModel


class Argument(StrictModel):
    """One argument of a tool."""

    name: str = Field(pattern=r"^[a-z][a-z_]{0,30}$")
    type: Literal["string", "integer"]
    description: str
    required: bool = True
    choices: tuple[str, ...] = ()
    """The only values allowed; empty means any."""


class Tool(StrictModel):
    """One tool: the text the model reads and the shape its arguments must have."""

    description: str
    arguments: tuple[Argument, ...] = ()
    exposed: str = Field(default="", pattern=r"^([a-z][a-z_]{0,30})?$")
    """The name that the model calls; empty for the entry's own. So two treatments can differ in one tool."""

    @model_validator(mode="after")
    def _distinct(self) -> Tool:
        names = [argument.name for argument in self.arguments]
        if len(set(names)) != len(names):
            raise ValueError("two arguments have the same name")
        return self

    def function_schema(self, name: str) -> Json:
        """The tool as an entry of ``tools`` in a chat completion request.

        `name` is the entry's own; an exposed name goes before it.
        Only ``type``, ``properties``, ``required`` and ``enum`` are used: hosts have refused more.
        """
        properties: dict[str, Json] = {}
        for argument in self.arguments:
            one: dict[str, Json] = {"type": argument.type, "description": argument.description}
            if argument.choices:
                one["enum"] = list(argument.choices)
            properties[argument.name] = one
        return {
            "type": "function",
            "function": {
                "name": self.exposed or name,
                "description": self.description,
                "parameters": {
                    "type": "object",
                    "properties": properties,
                    "required": [argument.name for argument in self.arguments if argument.required],
                },
            },
        }
