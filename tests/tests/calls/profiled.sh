"$BIN/profiled"
gprof -b -p "$BIN/profiled" gmon.out | awk '$NF == "often" || $NF == "once" {print $NF}' | sort
gprof -b -q "$BIN/profiled" gmon.out | grep -o '12345[^0-9].*often' | head -n 1 | grep -c often
is "$(head -c 4 gmon.out)" gmon
cmp gmon.out <(outside cat gmon.out)
rm gmon.out
