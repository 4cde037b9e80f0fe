# rsync -a twice: the second time nothing goes over; then small changes only.
# needs: rsync
# inputs: text bin small lines

mkdir -p src/d; cp in/text in/bin src; cp in/small in/lines src/d; ln -s d/small src/link; touch -d 2020-01-01 src/bin
rsync -a src/ dst/
diff -r src dst && echo same
rsync -ai src/ dst/; echo "nothing between"
rsync -a --stats src/ dst/ | grep -E 'transferred: |Literal'
echo changed >> src/text
printf X | dd of=src/bin bs=1 seek=500000 conv=notrunc status=none
rsync -a --no-whole-file --stats src/ dst/ | grep -E '^Number of regular files transferred'
cmp src/bin dst/bin; cmp src/text dst/text && echo updated
echo more >> src/d/lines; rsync -a --inplace src/ dst/; cmp src/d/lines dst/d/lines && echo in-place
echo tail >> src/text; rsync -a --append src/text dst/text; tail -n 1 dst/text
rm src/d/small; echo extra > dst/extra; rsync -a --delete -v src/ dst/ | grep deleting
rsync -ac -i src/ dst/; rsync -a --checksum --backup --suffix=.old in/small dst/bin; ls dst
rsync -a --link-dest=../dst src/ linked/; cmp linked/text dst/text && echo linked
rsync -a --sparse in/bin sparse; rsync --remove-source-files -a sparse taken; ls taken
