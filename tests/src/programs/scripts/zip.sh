# zip and unzip, updates in place.
# needs: zip unzip
# bytes: 3000000
# inputs: text bin small

export TZ=UTC
cp in/text in/bin in/small .; touch -d 2020-01-01 text bin small
zip -X -q a.zip text bin
zip -X -q a.zip small
unzip -t a.zip | tail -n 1
unzip -q a.zip -d x; cmp x/text text; cmp x/bin bin && echo unzip
zip -q -d a.zip text; unzip -Z1 a.zip
echo newer > small; touch -d 2020-01-03 small; zip -X -q -u a.zip small; unzip -p a.zip small
cat bin | zip -q - - > piped.zip; unzip -p piped.zip | cmp - bin && echo piped
zip -X -q -0 stored.zip bin; zip -X -q -s 400k -r parts.zip text bin; ls parts*
zip -q -s 0 parts.zip --out whole.zip && echo joined
zip -T -q a.zip && echo tested
# A time of its own stands in the piped archive.
rm piped.zip
