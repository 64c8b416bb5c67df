"""How a model speaks to agents: the four forms in which they send what was said and read what comes.

Each form says which requests are its own (`takes`), what was said so far (`conversation`) and in it
what the agent reports of each call (`told`), which tools it has (`tools`), and how the next call, or
the end, is put (`say`): as one document for those that want one, else as a stream of events.
"""
import json

DONE = "all done"


def text_of(content):
    """The text in what an agent reports, whichever way it is wrapped."""
    if isinstance(content, list):
        return "\n".join(part.get("text", "") for part in content if isinstance(part, dict))
    if isinstance(content, dict):
        return json.dumps(content, ensure_ascii=False)
    return content or ""


def stream(events, named):
    """Server-sent events; some agents want each to bear its type as its name."""
    lines = []
    for event in events:
        if named:
            lines.append("event: %s\n" % event["type"])
        lines.append("data: %s\n\n" % (event if isinstance(event, str) else json.dumps(event)))
    return "".join(lines)


class Messages:
    """Anthropic's: Claude Code."""

    @staticmethod
    def takes(path):
        return path.endswith("/v1/messages")

    @staticmethod
    def conversation(body):
        return body.get("messages", [])

    @staticmethod
    def tools(body):
        return [tool.get("name") for tool in body.get("tools", [])]

    @staticmethod
    def told(body):
        told = {}
        for message in Messages.conversation(body):
            content = message.get("content")
            for part in content if isinstance(content, list) else []:
                if part.get("type") == "tool_result":
                    told[part["tool_use_id"]] = text_of(part.get("content"))
        return told

    @staticmethod
    def say(body, _path, call):
        if call:
            name, tool, arguments = call
            block = {"type": "tool_use", "id": name, "name": tool, "input": arguments}
            start = dict(block, input={})
            delta = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}
        else:
            block = {"type": "text", "text": DONE}
            start = dict(block, text="")
            delta = {"type": "text_delta", "text": DONE}
        end = {"stop_reason": "tool_use" if call else "end_turn", "stop_sequence": None}
        message = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": body.get("model"),
            "usage": {
                "input_tokens": 1,
                "output_tokens": 1,
                "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 0,
            },
        }
        if not body.get("stream"):
            return json.dumps({**message, "content": [block], **end})
        opened = {**message, "content": [], "stop_reason": None, "stop_sequence": None}
        events = [
            {"type": "message_start", "message": opened},
            {"type": "content_block_start", "index": 0, "content_block": start},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": end, "usage": {"output_tokens": 1}},
            {"type": "message_stop"},
        ]
        return stream(events, named=True)


class Responses:
    """OpenAI's newer one: Codex. Arguments that are a text are those of a tool without a schema."""

    @staticmethod
    def takes(path):
        return path.endswith("/responses")

    @staticmethod
    def conversation(body):
        return body.get("input", [])

    @staticmethod
    def tools(body):
        return [tool.get("name") for tool in body.get("tools", [])]

    @staticmethod
    def told(body):
        results = ("function_call_output", "custom_tool_call_output")
        return {
            item["call_id"]: text_of(item.get("output"))
            for item in Responses.conversation(body)
            if item.get("type") in results
        }

    @staticmethod
    def say(_body, _path, call):
        if call:
            name, tool, arguments = call
            item = {"id": "item_" + name, "call_id": name, "name": tool}
            if isinstance(arguments, str):
                item.update(type="custom_tool_call", input=arguments)
            else:
                item.update(type="function_call", arguments=json.dumps(arguments))
        else:
            content = [{"type": "output_text", "text": DONE}]
            item = {"type": "message", "id": "item_end", "role": "assistant", "content": content}
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        events = [
            {"type": "response.created", "response": {"id": "response_1"}},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": {"id": "response_1", "usage": usage}},
        ]
        return stream(events, named=True)


class Chat:
    """OpenAI's older one: Copilot CLI and Qwen Code."""

    @staticmethod
    def takes(path):
        return path.endswith("/chat/completions")

    @staticmethod
    def conversation(body):
        return body.get("messages", [])

    @staticmethod
    def tools(body):
        return [tool.get("function", {}).get("name") for tool in body.get("tools") or []]

    @staticmethod
    def told(body):
        return {
            message["tool_call_id"]: text_of(message.get("content"))
            for message in Chat.conversation(body)
            if message.get("role") == "tool"
        }

    @staticmethod
    def say(body, _path, call):
        said = {"role": "assistant", "content": None if call else DONE}
        if call:
            name, tool, arguments = call
            function = {"name": tool, "arguments": json.dumps(arguments)}
            said["tool_calls"] = [{"index": 0, "id": name, "type": "function", "function": function}]
        end = "tool_calls" if call else "stop"
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        about = {"id": "chat_1", "created": 1, "model": body.get("model")}
        if not body.get("stream"):
            choice = {"index": 0, "message": said, "finish_reason": end}
            about.update(object="chat.completion", choices=[choice], usage=usage)
            return json.dumps(about)
        about["object"] = "chat.completion.chunk"
        events = [
            {**about, "choices": [{"index": 0, "delta": said, "finish_reason": None}]},
            {**about, "choices": [{"index": 0, "delta": {}, "finish_reason": end}], "usage": usage},
            "[DONE]",
        ]
        return stream(events, named=False)


class Generate:
    """Google's: Gemini CLI. Results bear no names of calls here, so they count by their order."""

    @staticmethod
    def takes(path):
        return path.endswith((":generateContent", ":streamGenerateContent"))

    @staticmethod
    def conversation(body):
        return body.get("contents", [])

    @staticmethod
    def tools(body):
        declared = [tool.get("functionDeclarations", []) for tool in body.get("tools") or []]
        return [function.get("name") for functions in declared for function in functions]

    @staticmethod
    def told(body):
        parts = [part for content in Generate.conversation(body) for part in content.get("parts", [])]
        results = [part["functionResponse"] for part in parts if "functionResponse" in part]
        return {
            call_name(number): text_of(result.get("response"))
            for number, result in enumerate(results)
        }

    @staticmethod
    def say(_body, path, call):
        part = {"text": DONE}
        if call:
            _, tool, arguments = call
            part = {"functionCall": {"name": tool, "args": arguments}}
        content = {"role": "model", "parts": [part]}
        answer = {
            "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
        }
        if path.endswith(":generateContent"):
            return json.dumps(answer)
        return stream([answer], named=False)


FORMS = (Messages, Responses, Chat, Generate)


def call_name(number):
    return "call_%02d" % number
