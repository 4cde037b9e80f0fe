# ed edits a file from a script.
# needs: ed
# inputs: text lines

cp in/lines l; cp in/text t
printf '%s\n' '1,10d' 'g/pond pond/s/pond/POND/g' '$a' 'added' '.' 'w' 'r in/lines' 'w other' 'q' | ed -s l
tail -n 1 l; wc -l l other
printf '%s\n' '1,$s/mill/MILL/' 'w' '100,200w part' '300,310W part' '!echo from the shell' 'Q' | ed -s t
wc -l part; head -n 1 t
printf '%s\n' 'a' 'new file' '.' 'w fresh' 'q' | ed -s; cat fresh
printf '%s\n' 'r !cat in/lines' 'w !wc -l > counted' 'Q' | ed -s; cat counted
