# Here-documents, small, large, quoted, nested.
# needs: cat head sed
# bytes: 300000
# inputs: text

name=pond
cat > small <<EOF
mill $name $((6 * 7)) $(echo nested)
EOF
cat >> small <<'EOF'
no $expansion `here`
EOF
cat <<-EOF >> small
	tabs go
	EOF
cat small

big=$(head -c 200000 in/text)
cat > big <<EOF
$big
EOF
sed -n '1p;$p' big
while read -r a b c; do last="$b"; done <<EOF
$big
EOF
echo "last $last"
{ cat; echo between; cat <<EOF
inner
EOF
} > nested <<EOF
outer
EOF
cat nested
for i in 1 2 3 4 5; do
    cat <<EOF >> many
entry $i
EOF
done
cat many
