# Python's pickle, struct and array on binary files.
# needs: python3

python3 - <<'EOF'
import array, marshal, pickle, struct
value = {"numbers": list(range(20000)), "text": "pond" * 5000, "nested": [{"i": i} for i in range(3000)]}
for protocol in range(6):
    with open(f"p{protocol}", "wb") as f:
        for _ in range(2): pickle.dump(value, f, protocol)
    with open(f"p{protocol}", "rb") as f: print(pickle.load(f) == value, pickle.load(f) == value, f.read())
with open("s", "wb") as f:
    for i in range(5000): f.write(struct.pack("<IdH", i, i / 7, i % 60000))
with open("s", "rb") as f: print(sum(a for a, b, c in struct.iter_unpack("<IdH", f.read())))
a = array.array("d", (i * 0.5 for i in range(30000)))
with open("a", "wb") as f: a.tofile(f)
b = array.array("d")
with open("a", "rb") as f:
    f.seek(8000); b.fromfile(f, 100)
    try: b.fromfile(f, 1000000)
    except EOFError as e: print(e, len(b))
marshal.dump(list(range(1000)), open("m", "wb"))
print(len(marshal.load(open("m", "rb"))))
EOF
