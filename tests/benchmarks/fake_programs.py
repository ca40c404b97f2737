"""Programs that only print: what the stages' command lines answer to the scripts that measure."""

import pathlib
import sys

PROGRAM = """#!{python} -SE
import json, sys

words = sys.argv[1:]
is_persistent = words[:1] == ["persistent"]
words = words[is_persistent:]
number = {number}
value = lambda name, otherwise: words[words.index(name) + 1] if name in words else otherwise

if words == ["info"]:
    print("library    CUDA runtime 13.0")
if "--report" in words:
    batch = int(value("--batch-size", 100))
    epochs = [{{"epoch": i + 1, "seconds": 1 / number, "images_per_second": 1000.0 * number}}
              for i in range(int(value("--epochs", 5)))]
    line = lambda name, forward: {{
        "operation": name + "  a, b -> c", "calls": 4, "forward_seconds": 4e-3 * forward / number,
        "backward_seconds": 4e-3 * (1 - forward) / number}}
    report = {{"epochs": epochs, "timings": [line("gemm", 1), line("gemm", 0), line("relu", 1)]}}
    if words[0] == "evaluate":
        paths = ["eager", "captured", "persistent"] if is_persistent else ["eager"]
        report["latency"] = [{{"path": path, "median_seconds": 1e-3 / number}} for path in paths]
    with open(value("--report", ""), "w") as file:
        json.dump(report, file)
if "--csv" in words:
    steps = int(value("--train-limit", 0)) // int(value("--workers", 1)) * len(epochs)
    with open(value("--csv", ""), "w") as file:
        file.write("step,loss\\n")
        for step in range(1, steps + 1):
            if step % int(value("--log-every", 1)) == 0:
                file.write(f"{{step}},{{1 / step}}\\n")
if "--explain" in words:
    print("\\na step, the mean of 4\\nfloors of this GPU: 2.00 us for a launch\\n\\nline  x floor")
    print("test   loss 1.0")
"""


def write(folder):
    """A program for each of the stages 01 to 04, and those that do the same in other ways."""
    for name, number in (("stage01_serial", 1), ("stage02_naive_cuda", 2), ("per_step_memory", 2),
                         ("stage03_shared_memory", 3), ("stage04_minibatch", 4), ("ladder", 4)):
        path = pathlib.Path(folder) / name
        path.write_text(PROGRAM.format(python=sys.executable, number=number), encoding="utf-8")
        path.chmod(0o755)
