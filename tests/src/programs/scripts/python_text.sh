# Python's text files: encodings, newlines, iteration while writing, print to a file.
# needs: python3
# bytes: 6000000
# inputs: text

python3 - <<'EOF'
import csv, io, json, fileinput
with open("in/text") as f, open("upper", "w") as g:
    for line in f: g.write(line.upper())
print(sum(1 for _ in open("upper")))
with open("utf", "w", encoding="utf-8") as f:
    for i in range(1000): print("Mühle", i, "水車", file=f)
print(open("utf", encoding="utf-8").readlines()[-1].rstrip() == "Mühle 999 水車")
with open("utf16", "w", encoding="utf-16-le", newline="\r\n") as f: f.write("a\nb\n" * 500)
print(repr(open("utf16", encoding="utf-16-le", newline="").read(4)))
with open("line", "w", buffering=1) as f:
    f.write("complete\npartial"); print(repr(open("line").read()))
print(repr(open("line").read()))
with open("rw", "w+") as f:
    f.write("one\ntwo\nthree\n"); f.seek(0); print(f.readline(), f.tell()); f.seek(0, 2); f.write("four\n")
    f.seek(0); print(f.read().split())
with open("t.csv", "w", newline="") as f: csv.writer(f).writerows([i, i * i, f"n,{i}"] for i in range(3000))
print(sum(int(r[1]) for r in csv.reader(open("t.csv", newline=""))))
json.dump({"k": list(range(5000))}, open("t.json", "w"), indent=1)
print(len(json.load(open("t.json"))["k"]))
with fileinput.input("t.csv", inplace=True) as lines:
    for line in lines: print(line.replace("n,", "m,"), end="")
print(open("t.csv").readlines()[7])
f = open("left-open", "w"); f.write("flushed by the interpreter at its end")
EOF
cat left-open; echo
