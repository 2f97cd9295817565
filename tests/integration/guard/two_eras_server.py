"""A server of the official library, which speaks both revisions: on pipes, or on a port."""

import sys
from typing import Annotated

import anyio
from mcp.server.mcpserver import Context, Elicit, Image, MCPServer, Resolve
from pydantic import BaseModel


class Colour(BaseModel):
    colour: str


async def ask_colour() -> Elicit[Colour]:
    return Elicit("Which colour has the note?", Colour)


server = MCPServer("two-eras")


@server.tool()
def read_note(path: str) -> str:
    """Read a note."""
    return f"the note at {path}"


@server.tool()
def read_picture(path: str) -> Image:
    """Read a picture."""
    return Image(data=b"picture", format="png")


@server.tool()
def read_badly(path: str) -> str:
    """Read a note that is not there."""
    raise ValueError(f"no note at {path}")


@server.tool()
def read_coloured(path: str, colour: Annotated[Colour, Resolve(ask_colour)]) -> str:
    """Read the notes of a colour."""
    return f"{colour.colour} notes at {path}"


@server.tool()
async def read_slowly(path: str, context: Context) -> str:
    """Read a note, part by part."""
    for part in range(3):
        await context.report_progress(part, 3, f"part {part}")
    return f"all of {path}"


@server.tool()
async def read_for_ever(path: str, context: Context) -> str:
    """Read a note that has no end."""
    await context.report_progress(1, 2, "begun")
    await anyio.sleep_forever()
    return path


@server.tool()
def delete_note(path: str) -> str:
    """Delete a note for ever."""
    return f"deleted {path}"


@server.resource("note://first")
def first() -> str:
    return "the first note"


@server.prompt()
def greet(name: str) -> str:
    return f"Greet {name}"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run("streamable-http", port=int(sys.argv[1]))
    else:
        server.run()
