for h in loop all closerange proc dup2null zero; do python3 $BIN/daemon.py $h; done
