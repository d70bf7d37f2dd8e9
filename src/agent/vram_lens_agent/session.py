"""The session: answers clients, samples while somebody looks, and is told by the hook when a step ends."""

import hmac
import math
import os
import platform
import time

from vram_lens_agent import free_cache, identity, lifecycle, protocol, stats
from vram_lens_agent.server import Server
from vram_lens_agent.steps import StepCounter

MIN_HZ = 0.2
MAX_HZ = 10.0
SLOW_CALL_S = 0.005
"""A statistics call this long means the allocator was busy with the driver while we held the GIL."""
BACK_OFF = 50
READ_SHARE = 500
"""The hook spends at most one part in this many of its time on reading statistics."""
_STEPS_HAPPEN_TIMES = 5
_STEPS_HAPPEN_AT_LEAST_S = 2.0


class Session:
    """One training process. Lives on the agent's thread, except ``optimizer_ended``."""

    def __init__(self, torch, published):
        self._torch = torch
        self._token = published.token
        self._server = Server(published, self)
        self._steps = StepCounter()
        self._state = "started"
        self._next_tick = None
        self._quiet_until = 0.0
        self._request = None
        self._watched = False
        self._read_again = 0.0
        self._step_used = None
        self._hello = {
            "protocol": protocol.PROTOCOL_VERSION,
            "agent": protocol.AGENT_VERSION,
            "pid": os.getpid(),
            "script": identity.script(),
            "cwd": identity.start_folder(),
            "startTimeMs": identity.start_time_ms(),
            "python": platform.python_version(),
            "torch": str(torch.__version__),
            "rank": identity.whole_number("RANK"),
            "worldSize": identity.whole_number("WORLD_SIZE"),
        }

    def run(self):
        """Serve until ``stop``."""
        self._server.run()

    def stop(self):
        """End soon; from any thread."""
        self._server.stop()

    def close_in_child(self):
        """Close a forked child's copies of our sockets."""
        self._server.close()

    # On the thread that trains.

    def optimizer_ended(self, optimizer):
        """Called after every ``Optimizer.step`` of the script."""
        if not self._steps.optimizer_ended(optimizer):
            return
        request = self._request
        if request is not None and not self._capturing() and request.claim():
            try:
                request.result = free_cache.free_cache(self._torch, "afterStep")
            finally:
                if request.result is None:
                    request.result = {"done": False, "reason": "failed", "message": "interrupted"}
                self._server.wake()
        if self._watched:
            self._read_step()

    def _capturing(self):
        capturing = getattr(self._torch.cuda, "is_current_stream_capturing", None)
        return bool(capturing is not None and capturing())

    def _read_step(self):
        """Note used bytes at this step's end, unless the last reading was too recent for its cost."""
        begin = time.perf_counter()
        if begin < self._read_again:
            return
        try:
            used = stats.used_bytes(self._torch)
        except Exception:
            self._watched = False
            return
        end = time.perf_counter()
        self._read_again = end + READ_SHARE * (end - begin)
        self._step_used = (self._steps.step, self._steps.last_time_ms, used)

    # On the agent's thread.

    def _read_all(self):
        time_ms = int(time.time() * 1000)
        torch = self._torch
        return [stats.read(torch, index, time_ms) for index in stats.touched_devices(torch)]

    def answer(self, client, request_id, method, params):
        """The result of a request, or ``Server.LATER``. Raises RpcError."""
        if method not in ("hello", "subscribe", "freeCache"):
            raise protocol.RpcError(protocol.METHOD_NOT_FOUND, "no such method")
        if not isinstance(params, dict):
            raise protocol.RpcError(protocol.INVALID_PARAMS, "params must be an object")
        if method == "hello":
            return self._answer_hello(client)
        if method == "subscribe":
            return self._answer_subscribe(client, params)
        return self._answer_free_cache(client, request_id, params)

    def _answer_hello(self, client):
        self._update_state(self._try_read())
        client.last_state = self._state
        answer = dict(self._hello)
        answer["simulated"] = stats.simulation(self._torch)
        answer["devices"] = stats.describe_devices(self._torch, answer["pid"])
        answer["state"] = self._state
        answer["step"] = self._steps.step
        return answer

    def _answer_subscribe(self, client, params):
        hz = params.get("hz")
        if isinstance(hz, bool) or not isinstance(hz, (int, float)) or not math.isfinite(hz):
            raise protocol.RpcError(protocol.INVALID_PARAMS, "hz must be a number")
        client.hz = min(MAX_HZ, max(MIN_HZ, float(hz)))
        client.due = 0.0
        if self._step_used is not None and self._step_used[0] < self._steps.step:
            # Read when somebody else was watching, perhaps hours ago: no news for this client.
            client.last_step = self._step_used[0]
        self._next_tick = 0.0
        return {"hz": client.hz}

    def _answer_free_cache(self, client, request_id, params):
        token = params.get("token")
        if not isinstance(token, str) or not hmac.compare_digest(
            token.encode("utf-8", "replace"), self._token.encode("ascii")
        ):
            raise protocol.RpcError(protocol.BAD_TOKEN, "wrong token")
        if self._request is None:
            wait = free_cache.wait_s(self._steps.step_time_s()) if self._steps_happen() else 0.0
            self._request = free_cache.FreeRequest(time.monotonic() + wait)
        self._request.waiting.append((client, request_id))
        return Server.LATER

    def _steps_happen(self):
        step_time = self._steps.step_time_s()
        usual = max(_STEPS_HAPPEN_AT_LEAST_S, _STEPS_HAPPEN_TIMES * step_time)
        if not step_time:
            usual = lifecycle.IDLE_AT_LEAST_S
        return self._steps.step > 0 and self._steps.since_last_s() <= usual

    def tick(self):
        """Do what is due; seconds until something is due again, None when nothing is."""
        now = time.monotonic()
        self._finish_request(now)
        rates = [client.hz for client in self._server.clients if client.hz is not None]
        self._watched = bool(rates)
        if not rates:
            self._next_tick = None
        elif self._next_tick is None or now >= self._next_tick:
            self._next_tick = now + 1.0 / max(rates)
            self._inform(now)
        moments = [self._next_tick] if self._next_tick is not None else []
        if self._request is not None:
            moments.append(self._request.deadline)
        return max(0.0, min(moments) - time.monotonic()) if moments else None

    def _finish_request(self, now):
        request = self._request
        if request is None:
            return
        if request.result is None and now < request.deadline:
            return
        if request.result is None and request.claim():
            request.result = free_cache.free_cache(self._torch, "idle")
        if request.result is None:
            # The training thread is at it: it wakes us.
            request.deadline = now + 1.0
            return
        self._request = None
        for client, request_id in request.waiting:
            if client in self._server.clients:
                self._server.send(client, protocol.response(request_id, request.result), False)

    def _inform(self, now, ending=False):
        """Send what is new to the clients whose turn it is; at the end, to all."""
        samples = self._try_read() if now >= self._quiet_until else None
        if samples:
            took = time.monotonic() - now
            if took > SLOW_CALL_S * len(samples):
                self._quiet_until = now + BACK_OFF * took
        self._update_state(samples)
        step = self._newest_step(samples, ending)
        time_ms = int(time.time() * 1000)
        state = {"timeMs": time_ms, "state": self._state}
        half_tick = 0.5 * (self._next_tick - now)
        for client in list(self._server.clients):
            if client.hz is None or (now < client.due - half_tick and not ending):
                continue
            period = 1.0 / client.hz
            client.due = client.due + period if client.due + period > now else now + period
            if client.last_state != self._state:
                client.last_state = self._state
                self._notify(client, "lifecycle", state)
            for sample in samples or ():
                self._notify(client, "sample", sample)
            if step is not None and step["step"] > client.last_step:
                client.last_step = step["step"]
                self._notify(client, "step", step)

    def _newest_step(self, samples, ending):
        """The newest step with the memory it ended with. A step too quick to be read on its own is told only when
        none came after it for a tick or none can come any more, with the memory of now."""
        read = self._step_used
        steps = self._steps
        if steps.step and (read is None or read[0] < steps.step):
            quiet = steps.since_last_s() > max(2 * steps.step_time_s(), 1.0 / MAX_HZ)
            if samples and (quiet or ending):
                read = (steps.step, steps.last_time_ms, sum(sample["usedBytes"] for sample in samples))
                self._step_used = read
        if read is None:
            return None
        return {"timeMs": read[1], "step": read[0], "usedBytes": read[2]}

    def _notify(self, client, method, params):
        self._server.send(client, protocol.notification(method, params), True)

    def _try_read(self):
        """All devices' samples, None where the allocator gives no statistics."""
        try:
            return self._read_all()
        except Exception:
            return None

    def _update_state(self, samples):
        steps = self._steps
        used = sum(sample["usedBytes"] for sample in samples) if samples else None
        reserved = sum(sample["reservedBytes"] for sample in samples) if samples else None
        self._state = lifecycle.state(
            self._state, steps.step, steps.since_last_s(), steps.step_time_s(), used, reserved
        )

    def end(self):
        """Tell the last step and the end to whoever listens, without waiting for anybody."""
        if self._watched:
            self._inform(time.monotonic(), ending=True)
        state = {"timeMs": int(time.time() * 1000), "state": "ended"}
        for client in list(self._server.clients):
            if client.hz is not None:
                self._notify(client, "lifecycle", state)
