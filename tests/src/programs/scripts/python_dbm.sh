# Python's dbm.dumb and shelve: many small rewrites of a few files.
# needs: python3

python3 - <<'EOF'
import dbm.dumb, shelve
with dbm.dumb.open("d", "c") as d:
    for i in range(300): d[f"key {i}"] = b"value" * (i % 40)
    for i in range(0, 300, 3): del d[f"key {i}"]
    for i in range(1, 300, 5): d[f"key {i}"] = b"longer than before" * 20
    d.sync()
with dbm.dumb.open("d") as d: print(len(d), sum(len(d[k]) for k in d.keys()))
s = shelve.Shelf(dbm.dumb.open("s", "c"), writeback=True)
for i in range(100): s[str(i)] = {"n": i, "l": list(range(i))}
s["7"]["l"].append("changed"); s.close()
s = shelve.Shelf(dbm.dumb.open("s", "r")); print(len(s), s["7"], sum(len(v["l"]) for v in s.values())); s.close()
EOF
ls
