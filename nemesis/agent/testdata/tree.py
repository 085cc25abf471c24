"""A server that forks, each child in a session of its own, and what its processes see of the clocks.

Without an argument it has three children. For each line on its standard input it answers with one line: how far the wall
clock and the monotonic clock are beyond the kernel's, in nanoseconds, for each of its processes. "fork" makes one more first.
With the argument "restless" it forks all the time children that live for some milliseconds, and leave a child behind.
"""
import ctypes
import os
import sys
import time

libc = ctypes.CDLL(None)


class Timespec(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long)]


def kernel(clock):
    t = Timespec()
    assert libc.syscall(228, clock, ctypes.byref(t)) == 0  # clock_gettime
    return t.seconds * 1_000_000_000 + t.nanoseconds


def beyond(clock):
    """By the reading that took the least time of several."""
    readings = []
    for _ in range(10):
        before, seen, after = kernel(clock), time.clock_gettime_ns(clock), kernel(clock)
        readings.append((after - before, seen - (before + after) // 2))
    return min(readings)[1]


def sees():
    return f"{beyond(time.CLOCK_REALTIME)} {beyond(time.CLOCK_MONOTONIC)}"


def fork(live):
    if os.fork() == 0:
        os.setsid()
        live()
        os._exit(0)


class Child:
    """Answers each line that it is sent."""

    def __init__(self):
        (self.asked, ask), (answers, self.answer) = os.pipe(), os.pipe()
        fork(self.live)
        self.ask, self.answers = os.fdopen(ask, "w"), os.fdopen(answers)

    def live(self):
        with os.fdopen(self.asked) as asked, os.fdopen(self.answer, "w") as answer:
            for _ in asked:
                print(sees(), file=answer, flush=True)

    def sees(self):
        print(file=self.ask, flush=True)
        return self.answers.readline().strip()


def brief():
    fork(lambda: time.sleep(0.004))
    time.sleep(0.002)


if sys.argv[1:] == ["restless"]:
    print("ready", flush=True)
    while True:
        fork(brief)
        time.sleep(0.001)
        try:
            while os.waitpid(-1, os.WNOHANG) != (0, 0):
                pass
        except ChildProcessError:
            pass

children = [Child() for _ in range(3)]
print("ready", flush=True)
for line in sys.stdin:
    if line == "fork\n":
        children.append(Child())
    print(sees(), *(child.sees() for child in children), flush=True)
