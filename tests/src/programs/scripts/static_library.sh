# ar, ranlib, ld, nm, and a static program that writes into the store.
# needs: gcc ar ranlib ld nm

for i in 1 2 3 4 5 6; do
    echo "int f$i(void) { return $i; }" > f$i.c
    gcc -c f$i.c
done
ar rcD libf.a f1.o f2.o f3.o
ar rD libf.a f4.o f5.o f6.o
ar dD libf.a f6.o; ar qD libf.a f6.o
ranlib -D libf.a
ar t libf.a; ar pD libf.a f2.o | cmp - f2.o && echo same
mkdir x; cd x; ar x ../libf.a; cmp f3.o ../f3.o && echo extracted; cd ..
ar tO libf.a > /dev/null
nm libf.a | grep -c ' T f'
ld -r -o all.o f1.o f2.o f3.o
cat > main.c <<'EOF'
#include <stdio.h>
int f1(void), f5(void), f6(void);
int main(void) { FILE *f = fopen("from-static", "w"); fprintf(f, "%d\n", f1() + f5() + f6()); fclose(f); return 0; }
EOF
gcc -Wl,--build-id=none -o dynamic main.c -L. -lf; ./dynamic; cat from-static
# Static programs see the file itself, right after the last close.
gcc -static -Wl,--build-id=none -o static main.c -L. -lf; ./static; cat from-static
size libf.a | wc -l
