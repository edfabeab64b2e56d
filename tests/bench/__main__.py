"""Runs the whole benchmark, prints its tables and writes build/bench.json."""

import json
import platform
from pathlib import Path

import torch

from tests.bench import diagnosis, imports, lab, modules, site, trained

if __name__ == "__main__":
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads, {platform.machine()}", flush=True)
    results = {
        "torch": torch.__version__,
        "threads": torch.get_num_threads(),
        "cpu": torch.backends.cpu.get_cpu_capability(),
        "modules": modules.measure(),
        "lab": lab.measure(),
    }
    for name, part in (("import", imports.measure), ("diagnose", diagnosis.measure), ("trained", trained.measure), ("site", site.measure)):
        print(f"measuring: {name} ...", flush=True)
        results[name] = part()
        for what, value in results[name].items():
            print(f"  {what}: {value if isinstance(value, bool) else round(value, 2)}", flush=True)
    target = Path("build/bench.json")
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(results, indent=1))
    print(f"written to {target}")
