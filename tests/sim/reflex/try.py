import sys, time
sys.dont_write_bytecode = True
sys.path[0] = sys.path[0] + "/.."
from reflex import world
import scenarios
sc = {k: v for k, v in scenarios.SCENARIOS.items()}
name, n = sys.argv[1], int(sys.argv[2])
without = sys.argv[3] if len(sys.argv) > 3 else None
t = time.time(); bad = []
for s in range(n):
    b = world.run(s, sc[name], without)
    if b: bad.append((s, b))
print(name, without, len(bad), "of", n, bad[:3], f"{time.time()-t:.1f}s")
