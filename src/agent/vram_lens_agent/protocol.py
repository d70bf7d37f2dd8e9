"""The messages: JSON-RPC 2.0. The other side of this contract is ``src/shared/agentProtocol.ts``."""

import json

PROTOCOL_VERSION = 1
AGENT_VERSION = "0.1.0"

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
BAD_TOKEN = -32001

_ID_LIMIT = 256


class RpcError(Exception):
    """Answered to the client as a JSON-RPC error."""

    def __init__(self, code, message, request_id=None):
        Exception.__init__(self, message)
        self.code = code
        self.message = message
        self.request_id = request_id


def _short_int(text):
    # int() of a very long text takes seconds on older Pythons, with the GIL held.
    if len(text) > 32:
        raise ValueError("number too long")
    return int(text)


def parse(body):
    """A request as (id, method, params), or None for what needs no answer (notifications, responses).
    Raises RpcError."""
    try:
        message = json.loads(body.decode("utf-8"), parse_int=_short_int)
    except (ValueError, RecursionError):
        raise RpcError(PARSE_ERROR, "not JSON") from None
    if not isinstance(message, dict):
        raise RpcError(INVALID_REQUEST, "not a request object")
    if "method" not in message and ("result" in message or "error" in message):
        return None
    request_id = message.get("id")
    if isinstance(request_id, bool) or not isinstance(request_id, (str, int, float, type(None))):
        raise RpcError(INVALID_REQUEST, "bad id")
    if isinstance(request_id, str) and len(request_id) > _ID_LIMIT:
        raise RpcError(INVALID_REQUEST, "id too long")
    method = message.get("method")
    if message.get("jsonrpc") != "2.0" or not isinstance(method, str):
        raise RpcError(INVALID_REQUEST, "not a JSON-RPC 2.0 request", request_id)
    if request_id is None:
        return None
    params = message.get("params", {})
    if not isinstance(params, (dict, list)):
        raise RpcError(INVALID_REQUEST, "params must be an object", request_id)
    if isinstance(params, list):
        # Some clients send the one params object as a list of one.
        params = params[0] if len(params) == 1 and isinstance(params[0], dict) else None
    return request_id, method, params


# One encoder for all messages: json.dumps would build a new one for each.
_encoder = json.JSONEncoder(separators=(",", ":"), allow_nan=False)


def _encode(message):
    return _encoder.encode(message).encode("ascii")


def response(request_id, result):
    """The body of an answer."""
    return _encode({"jsonrpc": "2.0", "id": request_id, "result": result})


def error_response(error):
    """The body of a refusal."""
    return _encode(
        {"jsonrpc": "2.0", "id": error.request_id, "error": {"code": error.code, "message": error.message}}
    )


def notification(method, params):
    """The body of a notification."""
    return _encode({"jsonrpc": "2.0", "method": method, "params": params})
