# vim in ex mode: edit, write, write under another name, with swap file and backup.
# needs: vim.tiny
# inputs: text lines

cp in/lines l; cp in/text t
vim.tiny -N -u NONE -i NONE -es l -c '%s/pond/POND/g' -c '1d' -c 'wq' < /dev/null
head -n 1 l; wc -l l
vim.tiny -N -u NONE -i NONE -es t -c '$put =\"the last\"' -c '1,100w part' -c '200,210w! >> part' -c 'x' < /dev/null || true
tail -n 1 t; wc -l part
vim.tiny -N -u NONE -i NONE -es -c 'set backup backupdir=.' -c 'e l' -c 'normal ggIedited ' -c 'w' -c 'saveas other' -c '$d' -c 'wq' < /dev/null || true
head -n 1 l other; wc -l other; ls -A
vim.tiny -N -u NONE -i NONE -es -c 'r in/lines' -c '%!sort' -c 'w sorted' -c 'q!' < /dev/null || true
wc -l sorted
