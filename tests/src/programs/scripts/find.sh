# find by size and content, acting on what it finds.
# needs: find grep xargs sort
# inputs: text bin small

mkdir -p t/u/v
for i in 1 2 3 4 5 6 7 8; do head -c $((i * 1000)) in/bin > t/f$i; cp in/small t/u/s$i; done
: > t/u/v/empty
find t -type f -size +3k | sort
find t -empty | sort
find t -type f -printf '%p %s %m\n' | sort
find t -name 's*' -exec cat {} + > all; wc -c all
find t -type f -name 'f*' -exec sh -c 'echo tail >> "$1"' _ {} \;
find t -size -2100c -size +1000c -type f | sort
find t -type f | sort | xargs -n 3 cat > xargs; wc -c xargs
find t -name 'f[5-8]' -delete; find t | sort
find . -newer in/text -name all
grep -rlE 'tail' t | sort
