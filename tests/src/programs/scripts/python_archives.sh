# Python's zipfile, tarfile, gzip, bz2 and lzma on files of the store.
# needs: python3
# inputs: bin text small

python3 - <<'EOF'
import bz2, gzip, lzma, tarfile, zipfile, io, os
for how in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(f"z{how}.zip", "w", how) as z:
        for n in ("bin", "text", "small"):
            i = zipfile.ZipInfo(n, (2020, 1, 1, 0, 0, 0)); i.compress_type = how
            z.writestr(i, open("in/" + n, "rb").read())
    with zipfile.ZipFile(f"z{how}.zip", "a") as z: z.writestr(zipfile.ZipInfo("late"), "appended")
    with zipfile.ZipFile(f"z{how}.zip") as z:
        print(z.testzip(), z.namelist()); z.extractall(f"z{how}")
        print(z.read("late"), z.open("text").readline())
def plain(i): i.mtime = 0; i.uid = i.gid = 0; i.uname = i.gname = ""; return i
for mode, name in (("w", "t.tar"), ("w:xz", "t.txz")):
    with tarfile.open(name, mode) as t:
        for n in ("bin", "small"): t.add("in/" + n, filter=plain)
    with tarfile.open(name) as t: print(t.getnames()); t.extractall(name + ".d")
with tarfile.open("t.tar", "a") as t: t.add("in/text", filter=plain)
print(tarfile.open("t.tar").getmember("in/text").size)
with gzip.GzipFile("g.gz", "wb", mtime=0) as g: g.write(open("in/text", "rb").read())
with gzip.open("g.gz", "rt") as g: print(sum(1 for _ in g))
with bz2.open("b.bz2", "wb", 1) as b: b.write(open("in/bin", "rb").read())
print(bz2.open("b.bz2").read() == open("in/bin", "rb").read())
with lzma.open("l.xz", "wb", preset=0) as l: l.write(open("in/small", "rb").read() * 50)
print(len(lzma.open("l.xz").read()))
# Times of extracted members come from the archive; the files' own do not count here.
EOF
