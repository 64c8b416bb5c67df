"""A scripted model: asks for the tool calls it is given, one after the other, then says it is done.

Speaks the Anthropic messages dialect on loopback, so that a real agent runs without a network and
without a model. What the agent reports back for each call is kept in `told`.
"""
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

USAGE = {
    "input_tokens": 1,
    "output_tokens": 1,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
}


class Model:
    """Serves on a free port from `with` to its end."""

    def __init__(self, calls):
        self.calls = calls
        self.told = {}
        # Everything the model was ever told, as the agent wrote it.
        self.heard = ""

    def __enter__(self):
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                self.answer("application/json", b'{"data":[]}')

            do_HEAD = do_GET

            def do_POST(self):
                length = int(self.headers.get("content-length") or 0)
                body = json.loads(self.rfile.read(length) or b"{}")
                if not self.path.split("?")[0].endswith("/v1/messages"):
                    return self.answer("application/json", b'{"input_tokens":1}')
                message = model.next(body)
                if body.get("stream"):
                    self.answer("text/event-stream", streamed(message))
                else:
                    self.answer("application/json", json.dumps(message).encode())

            def answer(self, kind, data):
                self.send_response(200)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = "http://127.0.0.1:%d" % self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def next(self, body):
        """The next call nobody has answered yet, if the agent offers its tool."""
        self.heard += json.dumps(body.get("messages", []), ensure_ascii=False)
        for message in body.get("messages", []):
            content = message.get("content")
            for part in content if isinstance(content, list) else []:
                if part.get("type") == "tool_result":
                    self.told[part["tool_use_id"]] = text_of(part.get("content"))
        offered = [tool.get("name") for tool in body.get("tools", [])]
        block, reason = {"type": "text", "text": "all done"}, "end_turn"
        for number, (tool, arguments) in enumerate(self.calls):
            name = "toolu_%02d" % number
            if name not in self.told and tool in offered:
                block = {"type": "tool_use", "id": name, "name": tool, "input": arguments}
                reason = "tool_use"
                break
        return {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": body.get("model"),
            "usage": USAGE,
            "content": [block],
            "stop_reason": reason,
            "stop_sequence": None,
        }

    def told_about(self, number):
        return self.told.get("toolu_%02d" % number, "")


def text_of(content):
    if isinstance(content, list):
        return "\n".join(part.get("text", "") for part in content)
    return content or ""


def streamed(message):
    (block,) = message["content"]
    if block["type"] == "tool_use":
        start = dict(block, input={})
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    else:
        start = dict(block, text="")
        delta = {"type": "text_delta", "text": block["text"]}
    opened = dict(message, content=[], stop_reason=None)
    closed = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    events = [
        {"type": "message_start", "message": opened},
        {"type": "content_block_start", "index": 0, "content_block": start},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": closed, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]
    lines = ["event: %s\ndata: %s\n\n" % (event["type"], json.dumps(event)) for event in events]
    return "".join(lines).encode()
