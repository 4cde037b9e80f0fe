# What bash alone can do with descriptors.
# needs: cat seq diff sort
# inputs: lines

exec {fd}> named
echo "through a variable" >&$fd
exec {fd}>&-
cat named
mapfile -t all < in/lines
echo "${#all[@]} lines, last: ${all[-1]}"
printf '%s\n' "${all[@]}" > again
cmp in/lines again && echo same
exec 7<> seekable
printf 'abcdefghij' >&7
exec 8< seekable
read -r -N 4 four <&8
echo "four: $four"
read -r -N 3 three <&8
echo "three: $three"
exec 7>&- 8<&-
diff <(sort in/lines) <(sort again) && echo equal
cat in/lines | tee >(sort > sorted-by-substitution) > teed
wait
coproc UPPER { tr a-z A-Z > upper; }
cat in/lines >&"${UPPER[1]}"
exec {UPPER[1]}>&-
wait
head -n 1 upper
read -r -d '' whole < <(cat in/lines; printf '\0')
echo "${#whole}"
[[ -s again && ! -s nothing && again -ef again ]] && echo tests
echo "&> both" &> both
echo "and more" &>> both
cat both <<< "here string"
