# fio with verify, engine io_uring: what was written is read back and compared.
# needs: fio
# direct: rings go to the kernel by themselves

job() {
    name=$1 file=$2.data; shift 2
    fio --name="$name" --filename="$file" --ioengine=io_uring --verify=crc32c --verify_fatal=1 --randrepeat=1 --allrandrepeat=1 \
        --randseed=7 --thread=0 --verify_state_save=0 --refill_buffers=1 --size=2m --output="$name.log" "$@" \
        || { echo "$name: $?"; cat "$name.log"; }
    grep -E 'err= *[0-9]+' "$name.log" | sed 's/.*err=/err=/; s/: pid.*//'
    stat -c '%n %s' "$file"
    rm "$name.log"
}
job seq seq --rw=write --bs=64k --iodepth=8
job rand rand --rw=randwrite --bs=4k --iodepth=8
job odd odd --rw=randrw --bs=512-8k --bs_unaligned --iodepth=8
job later later --rw=write --bs=47008 --do_verify=0 --iodepth=8
job later later --rw=read --bs=47008 --iodepth=8
# Two programs at once, each in its half of one file.
truncate -s 4m both.data
job first both --rw=randwrite --bs=4k --iodepth=8 > first & one=$!
job second both --rw=randwrite --bs=4k --offset=2m --iodepth=8 > second & two=$!
wait $one; wait $two
cat first second
job synced synced --rw=randwrite --bs=16k --fsync=10 --end_fsync=1 --iodepth=8
# The headers of verified blocks carry times.
rm *.data
