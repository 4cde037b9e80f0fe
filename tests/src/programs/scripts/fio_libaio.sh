# fio with verify, engine libaio: what was written is read back and compared.
# needs: fio
# direct: asynchronous calls go to the kernel by themselves

job() {
    name=$1; shift
    fio --name="$name" --filename="$name.data" --ioengine=libaio --verify=crc32c --verify_fatal=1 --randrepeat=1 --allrandrepeat=1 \
        --randseed=7 --thread=0 --verify_state_save=0 --refill_buffers=1 --size=2m --output="$name.log" "$@" \
        || { echo "$name: $?"; cat "$name.log"; }
    grep -E 'err= *[0-9]+' "$name.log" | sed 's/.*err=/err=/; s/: pid.*//'
    stat -c '%n %s' "$name.data"
    rm "$name.log"
}
job seq --rw=write --bs=64k --iodepth=8
job rand --rw=randwrite --bs=4k --iodepth=8
job odd --rw=randrw --bs=512-8k --bs_unaligned --iodepth=8
job later --rw=write --bs=47008 --do_verify=0 --iodepth=8
job later --rw=read --bs=47008 --iodepth=8
job both --rw=randwrite --bs=4k --numjobs=2 --offset_increment=2m --filesize=4m --group_reporting --iodepth=8
job synced --rw=randwrite --bs=16k --fsync=10 --end_fsync=1 --iodepth=8
# The headers of verified blocks carry times.
rm *.data
