# make -j4 of fifty small files, then again with nothing to do, then after a change.
# needs: make gcc seq touch

for i in $(seq 1 50); do
    echo "#include \"common.h\"" > m$i.c
    echo "int m$i(int x) { return x + $i + COMMON; }" >> m$i.c
done
echo '#define COMMON 1' > common.h
{
    for i in $(seq 1 50); do echo "int m$i(int);"; done
    echo '#include <stdio.h>'
    echo 'int main(void) { int s = 0;'
    for i in $(seq 1 50); do echo "s += m$i(s % 7);"; done
    echo 'printf("%d\n", s); return 0; }'
} > main.c
cat > Makefile <<'EOF'
OBJS := main.o $(patsubst %,m%.o,$(shell seq 1 50))
prog: $(OBJS)
	@gcc -Wl,--build-id=none -o $@ $(OBJS)
%.o: %.c common.h
	@gcc -O0 -c $< -o $@
	@echo $< >> built
clean:
	@rm -f *.o prog
EOF
# The sources are older than anything built, also where times are coarse.
touch -d 2020-01-01 *.c common.h Makefile
make -s -j4; ./prog; wc -l < built
make -q && echo up-to-date
make -j4
echo '#define COMMON 2' > common.h
make -s -j4; ./prog; wc -l < built
make -q && echo up-to-date
sort built > sorted; rm built
make -s clean; find . -name '*.o' | wc -l
