"""Writes a capture of memray as JSON that memduel reads: read_capture.py CAPTURE FILE

It runs in the environment of the program, whose memray reads what the same memray wrote.
"""

import json
import sys

import memray


def main(capture, file):
    try:
        reader = memray.FileReader(capture)
    except OSError as error:
        sys.exit(str(error))
    functions = {}

    def stacks(records):
        return [
            [
                [functions.setdefault(frame, len(functions)) for frame in record.stack_trace()],
                record.size,
                record.n_allocations,
            ]
            for record in records
        ]

    document = {
        "memray": memray.__version__,
        "command": reader.metadata.command_line,
        "peak": stacks(reader.get_high_watermark_allocation_records()),
        "live": stacks(reader.get_leaked_allocation_records()),
    }
    document["functions"] = list(functions)
    with open(file, "w", encoding="utf-8") as out:
        json.dump(document, out, separators=(",", ":"))


main(*sys.argv[1:])
