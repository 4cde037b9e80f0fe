for how in range raw from loop list; do
    "$BIN/c21" $how
    is "$(outside cat $how $how.child $how.child.copy $how.after before)" datadatadatamoredataopen
done
