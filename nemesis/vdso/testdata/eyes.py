"""Reads all clocks through the C library, that is through the vDSO, and past it.

For each line on its standard input it answers one JSON object: "clocks" has [id, kernel before, seen, kernel after] in
nanoseconds for each clock id. "fork" lets a forked child answer instead. "unmap" takes the vDSO away, for good.
"""
import ctypes
import json
import os
import sys

libc = ctypes.CDLL(None, use_errno=True)


class Pair(ctypes.Structure):  # a timespec, or a timeval
    _fields_ = [("high", ctypes.c_long), ("low", ctypes.c_long)]

    def ns(self, unit=1):
        return self.high * 1_000_000_000 + self.low * unit


CLOCK_GETTIME, REALTIME, MONOTONIC = 228, 0, 1


def kernel(clock):
    t = Pair()
    assert libc.syscall(CLOCK_GETTIME, clock, ctypes.byref(t)) == 0
    return t.ns()


def seen(clock):
    t = Pair()
    assert libc.clock_gettime(clock, ctypes.byref(t)) == 0
    return t.ns()


def gettimeofday():
    t = Pair()
    assert libc.gettimeofday(ctypes.byref(t), None) == 0
    return t.ns(1000)


def zone():
    """gettimeofday fills in the time zone when it is asked to, with and without the time."""
    t, z = Pair(), (ctypes.c_int * 2)(-1, -1)
    first = libc.gettimeofday(ctypes.byref(t), z)
    second = libc.gettimeofday(None, z)
    return [first, second, z[0] != -1, t.high > 0]


def time_stored():
    where = ctypes.c_long()
    returned = libc.time(ctypes.byref(where))
    return returned == where.value


def error(clock):
    t = Pair()
    return [libc.clock_gettime(clock, ctypes.byref(t)), ctypes.get_errno()]


def look():
    return {
        "clocks": [[c, kernel(c), seen(c), kernel(c)] for c in (0, 1, 2, 3, 4, 5, 6, 7, 11)],
        "gettimeofday": [REALTIME, kernel(REALTIME), gettimeofday(), kernel(REALTIME)],
        "time": [REALTIME, kernel(REALTIME), libc.time(None) * 1_000_000_000, kernel(REALTIME)],
        "null": libc.gettimeofday(None, None),
        "zone": zone(),
        "time_stored": time_stored(),
        "unknown": error(99),
        "negative": error(-6)[0],  # this process's CPU time
    }


def unmap():
    """Waits for ever afterwards: code that read the time now would crash."""
    with open("/proc/self/maps") as maps:
        (vdso,) = (line for line in maps if line.endswith("[vdso]\n"))
    start, end = (int(x, 16) for x in vdso.split()[0].split("-"))
    address, size = ctypes.c_void_p(start), ctypes.c_size_t(end - start)
    print("unmapping", flush=True)
    libc.munmap(address, size)
    libc.pause()


libc.time.restype = ctypes.c_long
print("ready", flush=True)
for line in sys.stdin:
    if line == "unmap\n":
        unmap()
    elif line == "fork\n":
        child = os.fork()
        if child == 0:
            print(json.dumps(look()), flush=True)
            os._exit(0)
        os.waitpid(child, 0)
    else:
        print(json.dumps(look()), flush=True)
