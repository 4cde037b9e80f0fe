for s in "bash --norc --noprofile -i" "dash -i" "zsh -f -i" "ksh -i" "mksh -i" "busybox sh -i"; do echo "$s"; timeout 50 python3 $BIN/jobs.py $s || echo TIMEOUT; rm -f other job; done
