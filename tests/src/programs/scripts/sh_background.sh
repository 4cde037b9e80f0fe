# Background jobs that write into one file at once.
# needs: seq sort wc uniq

job() { for i in $(seq 1 100); do echo "job $1 line $i" >> together; done; }
for j in 1 2 3 4; do job $j & done
wait
sort together > ordered
wc -l < together

# One description shared by all.
{
    for j in 1 2 3 4; do
        (for i in $(seq 1 100); do echo "child $j line $i"; done) &
    done
    wait
} > one
sort one > one.ordered
wc -l < one
uniq one.ordered | wc -l

# A writer and, after it, a reader.
seq 1 5000 > numbers &
wait $!
sort -n numbers | tail -n 1
# In which order the lines stand is the scheduler's business.
rm together one
