"""Write docs/json.md from docs/json-schema.json: ``python -m tests.docs.json_page``."""

import json
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
SCHEMA = DOCS / "json-schema.json"
PAGE = DOCS / "json.md"
#: Parts that several commands share.
SHARED = ("team", "member", "score", "table", "people")

HEAD = """# JSON for scripts

`--json` prints the result of any command as JSON to stdout, and nothing else goes there:
`twoheads show team.json --json | jq .classes` works. Messages stay on stderr; `--quiet` drops them. An error is one
sentence on stderr with the [exit code](command-line.md#exit-codes), and stdout is then empty. Numbers are strict JSON:
one that is not finite, or that cannot be known, is `null`.

What the commands print is tested against the fields below. [json-schema.json](json-schema.json) has them as JSON
Schema: the output of `twoheads fit --json` is valid against its `#/$defs/fit`, and so on. A later version may add
fields; these keep their names and meanings.
"""


def page(schema: dict) -> str:
    """The page: a table of fields for each command, then for each shared part."""
    parts = schema["$defs"]
    names = [*(name for name in parts if name not in SHARED), *SHARED]
    titles = {name: f"A {name}" if name in SHARED else f"`twoheads {name}`" for name in names} | {"people": "People"}
    return HEAD + "".join(f"\n## {titles[name]}\n\n{section(parts[name])}" for name in names)


def section(part: dict) -> str:
    """What a part is, and its fields."""
    more = [each["$ref"].rpartition("/")[2] for each in (part, *part.get("oneOf", ())) if "$ref" in each]
    text = part["description"].rstrip(".") + "."
    text += "".join(f" The fields are those of a [{name}](#a-{name})" for name in more)
    properties = part.get("properties", {}) | {
        name: field for each in part.get("oneOf", ()) for name, field in each.get("properties", {}).items()
    }
    text += (", and:" if more and properties else "." if more else "") + "\n"
    if not properties:
        return text
    rows = [f"| `{name}` | {kind(field)} | {field['description']} |" for name, field in properties.items()]
    return "\n".join([text, "| field | type | holds |", "|---|---|---|", *rows, ""])


def kind(field: dict) -> str:
    """The type of a field, in words."""
    if "$ref" in field:
        return field["$ref"].rpartition("/")[2]
    if "anyOf" in field:
        return " or ".join(map(kind, field["anyOf"]))
    named = field["type"] if isinstance(field["type"], list) else [field["type"]]
    return " or ".join(named)


if __name__ == "__main__":
    PAGE.write_text(page(json.loads(SCHEMA.read_text(encoding="utf-8"))), encoding="utf-8")
