"""A scripted model: asks for the tool calls it is given, one after the other, then says it is done.

Serves on loopback in every form agents speak (`wire.py`), so that a real agent runs without a
network and without a model. What the agent reports back for each call is kept in `told`.
"""
import gzip
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from wire import FORMS, call_name


class Model:
    """Serves on a free port from `with` to its end."""

    def __init__(self, calls):
        self.calls = calls
        # The calls it has asked for.
        self.made = set()
        self.told = {}
        # Everything the model was ever told, as the agent wrote it.
        self.heard = ""
        # What tools it was offered, for those who wonder why a call was not made.
        self.offered = set()

    def __enter__(self):
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                self.answer('{"data":[],"models":[]}')

            do_HEAD = do_GET

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                if self.headers.get("content-encoding") == "gzip":
                    body = gzip.decompress(body)
                path = self.path.split("?")[0]
                for form in FORMS:
                    if form.takes(path):
                        return self.answer(model.next(form, json.loads(body), path))
                self.answer('{"input_tokens":1,"totalTokens":1}')

            def answer(self, text):
                data = text.encode()
                streamed = text.startswith(("data:", "event:"))
                self.send_response(200)
                kind = "text/event-stream" if streamed else "application/json"
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

    def next(self, form, body, path):
        """The next call nobody has answered yet, if the agent offers its tool."""
        self.heard += json.dumps(form.conversation(body), ensure_ascii=False)
        self.told.update(form.told(body))
        offered = form.tools(body)
        self.offered.update(offered)
        for number, (tool, arguments) in enumerate(self.calls):
            name = call_name(number)
            if name not in self.told and tool in offered:
                self.made.add(name)
                return form.say(body, path, (name, tool, arguments))
        return form.say(body, path, None)

    def told_about(self, number):
        return self.told.get(call_name(number), "")
