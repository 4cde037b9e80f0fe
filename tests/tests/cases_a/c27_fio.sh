# Written through the shim, verified by an asynchronous engine, and the other way round.
job() { fio --name=j --filename=data --size=2m --bs=4k --randseed=7 --verify=crc32c --verify_fatal=1 --verify_state_save=0 --output=log "$@"; rm log; }
for engine in libaio io_uring; do
    job --ioengine=psync --rw=write --do_verify=0
    job --ioengine=$engine --iodepth=8 --rw=read
    rm data
    job --ioengine=$engine --iodepth=8 --rw=write --do_verify=0
    job --ioengine=psync --rw=read
    outside wc -c < data
    rm data
done
