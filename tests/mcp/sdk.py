"""What the official SDK's client hears of a server, directly and through the proxy."""

import asyncio
import json
import os
import pathlib
import sys
import tempfile

from mcp import Client, StdioServerParameters

SERVER = [sys.executable, "-m", "mcp_server_time"]
CALL = {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Europe/Paris"}
MODES = ["legacy", "auto", "2026-07-28"]


def plain(result):
    """Everything a client has read, without what Holdpoint says beside it."""
    read = result.model_dump(mode="json", by_alias=True)
    read.pop("_permission", None)
    return read


async def heard(home, command, mode):
    around = {"HOME": home, "PATH": os.environ["PATH"]}
    server = StdioServerParameters(command=command[0], args=command[1:], env=around, cwd=home)
    async with Client(server, mode=mode) as client:
        tools = await client.list_tools()
        good = await client.call_tool("convert_time", CALL)
        bad = await client.call_tool("convert_time", {**CALL, "source_timezone": "Nowhere"})
        return [plain(result) for result in (tools, good, bad)]


def policy(home, text):
    place = pathlib.Path(home, ".config/holdpoint")
    place.mkdir(parents=True, exist_ok=True)
    (place / "permissions.json").write_text(json.dumps(text))


async def main(program):
    proxied = [program, "mcp", "proxy", "--name", "time", "--", *SERVER]
    for mode in MODES:
        with tempfile.TemporaryDirectory() as home:
            policy(home, {"defaultPolicy": "allow"})
            direct = await heard(home, SERVER, mode)
            through = await heard(home, proxied, mode)
            assert direct == through, f"{mode}: {direct}\n{through}"
            policy(home, {"defaultPolicy": "allow", "deny": {"tools": ["mcp__time__convert_time"]}})
            tools, good, _ = await heard(home, proxied, mode)
            names = [tool["name"] for tool in tools["tools"]]
            assert "convert_time" not in names and names, names
            assert good["isError"], good
            assert good["content"][0]["text"].startswith("Permission denied: "), good
        print(f"mcp: {mode}: the same, and what is denied is")


asyncio.run(main(sys.argv[1]))
