set +e
for h in return exit quick _exit _Exit exit_group sys_exit exit_handler _exit_handler abort_handler abort segv kill term tgkill vfork detached exit_thread _exit_thread quick_thread exec_thread main_exits thread; do
 $BIN/teardown $h 2>/dev/null; echo $h $?
 # What a process had not written when a signal ended it follows within a second.
 case $h in abort*|segv|kill|term|tgkill) sleep 1.2;; esac
 for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do outside cat $h >$BIN/got; [ $h = detached ] && break; [ -s $BIN/got ] && outside grep -q "$([ $h = main_exits ] && echo destructor || echo main)" $BIN/got && break; sleep 0.1; done
 [ $h = detached ] || { outside cat $h late; rm -f late; }
 [ $h = detached ] && { outside head -c 40 $h; rm -f detached; }
done 2>/dev/null
true
