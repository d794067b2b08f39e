"""Makes profiles with known content, byte by byte or with protobuf's own classes.

    space = profiles.space()
    plane = profiles.plane(space, "/host:CPU", {1: "step"})
    profiles.line(plane, "main", events=[(1, 0, 500)])     # metadata id, offset_ps, duration_ps
    path = profiles.save(space, directory, run="a", session="s", host="h")
"""

import os
import time

import xplane_reader

SPACE = xplane_reader.space_class()
LENIENT_SPACE = xplane_reader.space_class(lenient=True)  # names are bytes
# A server takes a file younger than this for one that is still being written.
AGE_S = 3600


def space(lenient=False):
    return (LENIENT_SPACE if lenient else SPACE)()


def plane(of, name, names):
    made = of.planes.add(name=name)
    for number, event_name in names.items():
        made.event_metadata[number].id = number
        made.event_metadata[number].name = event_name
    return made


def line(of, name, events, timestamp_ns=0, number=None):
    made = of.lines.add(id=len(of.lines) + 1 if number is None else number, name=name,
                        timestamp_ns=timestamp_ns)
    for metadata_id, offset_ps, duration_ps in events:
        made.events.add(metadata_id=metadata_id, offset_ps=offset_ps, duration_ps=duration_ps)
    return made


def simple(names=("a", "b"), count=4):
    """A profile of one line with `count` events of 1 us, back to back."""
    made = space()
    where = plane(made, "/host:CPU", dict(enumerate(names, 1)))
    line(where, "main", [(1 + i % len(names), i * 1_000_000, 1_000_000) for i in range(count)])
    return made


def path_of(directory, run, session, host, ending=".xplane.pb"):
    return os.path.join(directory, run, "plugins", "profile", session, host + ending)


def save(content, directory, run="", session="s", host="host0", ending=".xplane.pb", age_s=AGE_S):
    """Writes a profile (or bytes) into a log directory, as old as told."""
    path = path_of(directory, run, session, host, ending)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.SerializeToString())
    make_old(path, age_s)
    return path


def make_old(path, age_s=AGE_S):
    then = time.time() - age_s
    os.utime(path, (then, then))


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out + bytes([value]))


def length_delimited(number, content):
    return varint(number << 3 | 2) + varint(len(content)) + content


def events_of(path, lenient=False):
    """What the independent reader finds: (plane, line, name, absolute start, duration)."""
    found = []
    for each in xplane_reader.read(str(path), lenient).planes:
        for row in each.lines:
            for event in row.events:
                entry = each.event_metadata[event.metadata_id]
                found.append((each.name, row.display_name or row.name,
                              entry.display_name or entry.name,
                              row.timestamp_ns * 1000 + event.offset_ps, event.duration_ps))
    return found


def start_unix_ns(path):
    """`profile_start_time` of a profile, or None."""
    for each in xplane_reader.read(str(path)).planes:
        if each.name == "Task Environment":
            return dict(xplane_reader.named_stats(each, each.stats)).get("profile_start_time")
    return None
