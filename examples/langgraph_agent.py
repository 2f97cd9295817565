"""A graph of LangGraph: its tool node runs a tool only when the call passed.

pip install langgraph
python examples/langgraph_agent.py         with a sidecar of its own
python examples/langgraph_agent.py NAME    as a host of `pmcl host add`, beside a running `pmcl up`
"""

import os
from pathlib import Path

from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from sidecar import sidecar
from stub_model import REQUEST, next_step

from pmcl.hosts import SyncHost


def main() -> None:
    """Have the graph do what the user asks for."""
    os.chdir(Path(__file__).parent)
    with sidecar() as config, SyncHost.connect(config) as host:

        @host.guarded(server="files", effect="inspect_local")
        def read_file(path: str) -> str:
            """Read a text file."""
            return Path(path).read_text()

        @host.guarded(server="mail", effect="communication")
        def send_mail(to: str, body: str) -> str:
            """Send a mail."""
            return f"mail sent to {to}: {body}"

        graph = StateGraph(MessagesState)
        graph.add_node("model", model)
        graph.add_node("tools", ToolNode([read_file, send_mail], handle_tool_errors=told))
        graph.add_edge(START, "model")
        graph.add_conditional_edges("model", tools_condition)
        graph.add_edge("tools", "model")
        with host.turn() as turn:
            turn.said(REQUEST)
            print("user:", REQUEST)
            messages = graph.compile().invoke({"messages": [("user", REQUEST)]})["messages"]
            print("model:", messages[-1].content)


def told(error: Exception) -> str:
    """Return what the model reads of an error; unless told, a tool's error ends the graph."""
    return str(error)  # of a held call: the reasons, and what would lift the hold


def model(state: MessagesState) -> dict[str, list[AIMessage]]:
    """Let the stub read the newest message; its next step is the node's message."""
    messages = state["messages"]
    read = messages[-1].text
    if read != REQUEST:
        print("model reads:", read)
    step = next_step(read)
    if isinstance(step, str):
        return {"messages": [AIMessage(step)]}
    print("model calls:", step.tool, step.arguments)
    call = {"name": step.tool, "args": step.arguments, "id": f"call-{len(messages)}"}
    return {"messages": [AIMessage("", tool_calls=[call])]}


if __name__ == "__main__":
    main()
