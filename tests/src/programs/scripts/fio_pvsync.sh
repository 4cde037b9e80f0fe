# fio with verify, engine pvsync: what was written is read back and compared.
# needs: fio
# bytes: 8000000

job() {
    name=$1 file=$2.data; shift 2
    fio --name="$name" --filename="$file" --ioengine=pvsync --verify=crc32c --verify_fatal=1 --randrepeat=1 --allrandrepeat=1 \
        --randseed=7 --thread=0 --verify_state_save=0 --refill_buffers=1 --size=2m --output="$name.log" "$@" \
        || { echo "$name: $?"; cat "$name.log"; }
    grep -E 'err= *[0-9]+' "$name.log" | sed 's/.*err=/err=/; s/: pid.*//'
    stat -c '%n %s' "$file"
    rm "$name.log"
}
job seq seq --rw=write --bs=64k
job rand rand --rw=randwrite --bs=4k
job odd odd --rw=randrw --bs=512-8k --bs_unaligned
job later later --rw=write --bs=47008 --do_verify=0
job later later --rw=read --bs=47008
# Two programs at once, each in its half of one file.
truncate -s 4m both.data
job first both --rw=randwrite --bs=4k > first & one=$!
job second both --rw=randwrite --bs=4k --offset=2m > second & two=$!
wait $one; wait $two
cat first second
job synced synced --rw=randwrite --bs=16k --fsync=10 --end_fsync=1
# The headers of verified blocks carry times.
rm *.data
