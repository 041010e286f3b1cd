"""test_vectors.py: runs the cases of clients/vectors.json with both clients. EVENTQ_URL names the server, EVENTQ_VECTORS the file."""
import http.client
import json
import os
import pathlib
import re
import threading
import unittest
import urllib.parse
import uuid

import blocking
import eventq

URL = os.environ["EVENTQ_URL"]
CASES = json.loads(pathlib.Path(os.environ["EVENTQ_VECTORS"]).read_text(encoding="utf-8"))["cases"]
CLIENT = blocking.Client(URL, tries=1)


def filled(value, saved):
    """`value` with ${name} and $repeat replaced."""
    if isinstance(value, dict):
        if list(value) == ["$repeat"]:
            return value["$repeat"][0] * value["$repeat"][1]
        return {name: filled(member, saved) for name, member in value.items()}
    if isinstance(value, list):
        return [filled(element, saved) for element in value]
    if not isinstance(value, str):
        return value
    whole = re.fullmatch(r"\$\{(\w+)\}", value)
    return saved[whole[1]] if whole else re.sub(r"\$\{(\w+)\}", lambda name: str(saved[name[1]]), value)


def fault(expected, actual, where="result"):
    """Describes where `actual` differs from `expected`; None if it matches."""
    if expected == "$any":
        return f"{where} is absent" if actual is None else None
    if isinstance(expected, dict) and list(expected) == ["$not"]:
        return None if fault(expected["$not"], actual) else f"{where} is {actual!r}"
    if isinstance(expected, dict) and isinstance(actual, dict):
        faults = (fault(member, actual.get(name), f"{where}/{name}") for name, member in expected.items())
        return next(filter(None, faults), None)
    if isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        faults = (fault(*pair, f"{where}/{index}") for index, pair in enumerate(zip(expected, actual)))
        return next(filter(None, faults), None)
    same = expected == actual and isinstance(expected, bool) == isinstance(actual, bool)
    return None if same else f"{where} is {actual!r:.300}, not {expected!r:.300}"


def pointed(value, pointer):
    for name in pointer.split("/")[1:]:
        value = value[int(name)] if isinstance(value, list) else value[name]
    return value


def bare_http(request, body):
    method, path = request.split(" ", 1)
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(URL).netloc, timeout=30)
    headers = {} if body is None else {"Content-Type": "application/json"}
    connection.request(method, path, None if body is None else json.dumps(body), headers)
    response = connection.getresponse()
    text = response.read()
    connection.close()
    if not 200 <= response.status < 300:
        raise AssertionError(f"{request} was answered {response.status}: {text!r}")
    return json.loads(text)


def taken(take, within, **request):
    stream = CLIENT.stream(**request)
    timer = threading.Timer(within, stream.close)
    timer.start()
    events = []
    try:
        for event in stream:
            events.append(event)
            if len(events) == take:
                break
    finally:
        timer.cancel()
        stream.close()
    return events


def turn(**args):
    results, events = CLIENT.next(**args)
    return {"results": [{"error": {"kind": result.kind}} if isinstance(result, eventq.EventqError) else result
                        for result in results], "events": events}


def reporting(call):
    return lambda id, **args: call(id, **args)


SPECIAL = {"next": turn, "stream": taken, "settings": lambda queue: CLIENT.queue(queue)["config"],
           "iterate": lambda **args: list(CLIENT.iterate(**args)),
           **{name: reporting(getattr(CLIENT, name)) for name in ("complete", "fail", "release", "heartbeat")}}


class Vectors(unittest.TestCase):
    longMessage = False

    def run_step(self, step, saved, where):
        if "http" in step:
            bare_http(filled(step["http"], saved), filled(step.get("body"), saved))
            return
        call = SPECIAL.get(step["call"]) or getattr(CLIENT, step["call"])
        args = filled(step["args"], saved)
        if "error" in step:
            with self.assertRaises(eventq.EventqError, msg=f"{where} succeeded") as caught:
                call(**args)
            actual = {name: getattr(caught.exception, name) for name in ("status", "kind", "field")}
            self.assertIsNone(fault(filled(step["error"], saved), actual), f"{where}: {caught.exception} {actual}")
            return
        result = call(**args)
        wrong = fault(filled(step.get("expect", {}), saved), result) if "expect" in step else None
        self.assertIsNone(wrong, f"{where}: {wrong}")
        saved.update({name: pointed(result, pointer) for name, pointer in step.get("save", {}).items()})

    def run_case(self, case):
        saved = {"unique": uuid.uuid4().hex}
        for number, step in enumerate(case["steps"], 1):
            where = f"step {number}, {step.get('call') or step['http']}"
            try:
                self.run_step(step, saved, where)
            except eventq.EventqError as error:
                self.fail(f"{where}: {type(error).__name__} {error.status} {error}")


for case in CASES:
    if "python" in case.get("only", ["python"]):
        name = "test_" + re.sub(r"\W+", "_", case["name"])
        setattr(Vectors, name, lambda self, case=case: self.run_case(case))

if __name__ == "__main__":
    unittest.main()
