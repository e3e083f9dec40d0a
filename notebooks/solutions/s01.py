# Solutions to 01_zim_access

import struct
import sys

sys.path.insert(0, "..")

from libzim.reader import Archive as ZimArchive
from support import check, zim_path

from ratsearch_lib import Archive

path = zim_path()
archive, zim = Archive(path), ZimArchive(path)
redirects = [entry for entry in archive.entries() if entry.redirect_path]

# 1. `resolve` follows redirects, and pages that only refresh to another one. A Counter tells it for every article.
count = len([entry for entry in redirects if archive.resolve(entry).title == "American bison"])
assert check(count, lambda n: n == sum(archive.resolve(each).title == "American bison" for each in redirects))

# 2. What the notebook has built, and one line more: an entry begins with the number of its type.
with path.open("rb") as file:
    header = struct.unpack("<IHH16sIIQQQQIIQ", file.read(80))
    path_list, mime_list = header[6], header[9]
    file.seek(mime_list)
    mime_types = file.read(1000).split(b"\0\0")[0].split(b"\0")


def entry_at(number):
    with path.open("rb") as file:
        file.seek(path_list + 8 * number)
        file.seek(struct.unpack("<Q", file.read(8))[0])
        data = file.read(400)
    mime = struct.unpack("<H", data[:2])[0]
    return mime, data[12 if mime == 0xFFFF else 16 :].split(b"\0")[0].decode()


def mime_of(wanted):
    low, high = 0, zim.entry_count
    while low < high:
        middle = (low + high) // 2
        if entry_at(middle)[1].encode() < wanted.encode():
            low = middle + 1
        else:
            high = middle
    return mime_types[entry_at(low)[0]].decode()


assert check(mime_of, lambda f: f("Denali") == "text/html" and f("Tokyo") == "text/html")
