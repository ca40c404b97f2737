"""Prints what a checkpoint holds as JSON, to show that h5py needs no help to read one.

    python3 read_checkpoint.py model.h5
"""

import json
import sys

import h5py


def main(path):
    parameters = {}

    def visit(name, item):
        if isinstance(item, h5py.Dataset):
            parameters["/parameters/" + name] = {
                "type": str(item.dtype),
                "shape": list(item.shape),
                "values": item[...].ravel().tolist(),
            }

    with h5py.File(path, "r") as file:
        file["parameters"].visititems(visit)
        attributes = {
            name: value.decode() if isinstance(value, bytes) else
            value if isinstance(value, str) else int(value)
            for name, value in file.attrs.items()
        }
    json.dump({"attributes": attributes, "parameters": parameters}, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1])
