cat > $BIN/t.sh <<'X'
x=$1
exec 3>f3; echo a >&3; (echo sub >&3; printf b >&3); echo c >&3; exec 3>&-; cat f3
exec 4<>f4; echo hello >&4; (echo more >&4); exec 4>&-; cat f4
cat <<E > here
here $x document
E
cat here
(echo 1; (echo 2; (echo 3))) > nest; cat nest
for i in 1 2 3 4 5 6 7 8 9 10; do echo $i; done | while read l; do echo "l$l" >> pipe; done; cat pipe
i=0; while read l; do i=$((i+1)); [ $i = 2 ] && head -n 1; done < nest
{ read a; read b; cat; } < nest > rest; cat rest; echo "$a$b"
exec 5< nest; read p <&5; (read q <&5; echo "sub $q"); read r <&5; echo "$p$r"; exec 5<&-
sh -c 'echo child; exec echo execd' > exd; cat exd
echo x > cl; : > cl; wc -c < cl; set -C; (echo y > nest) 2>/dev/null || echo clobber; set +C
tr a-z A-Z < here | tee tee1 tee2 | wc -c; cat tee1 tee2
(sleep 0.1; echo late >> bg) & echo early >> bg; wait; cat bg
trap 'echo trapped >> tr' EXIT
echo "$(cat nest)" "$(< here)" 2>/dev/null
eval 'echo ev 1>&2' 2> ev; cat ev
X
cat > $BIN/b.sh <<'X'
cat <(echo ps1; cat nest) > ps; cat ps; tee >(cat > psout) < nest >/dev/null; sleep 0.2; cat psout
coproc C { while read l; do echo "co $l" | tee -a colog; done; }; echo one >&${C[1]}; read l <&${C[0]}; echo $l; exec {w}>&${C[1]}-; exec {w}>&-; wait; cat colog
exec {fd}>varfd; echo z >&$fd; exec {fd}>&-; cat varfd; diff <(sort nest) <(sort here) > dd || cat dd
mapfile -t A < nest; echo ${#A[@]}; while read -r -u 9 k; do echo k$k; done 9< nest; printf '%s\n' "${A[@]}" &> both; cat both
X
for s in bash dash "zsh -f" "zsh -f --emulate sh" ksh mksh "busybox sh"; do mkdir d; cd d; echo "== $s"; $s $BIN/t.sh arg || echo "code $?"; if [ "$s" = bash ]; then bash $BIN/b.sh || echo "code $?"; fi; cat tr || true; cd ..; mv d "d_${s// /_}"; done
