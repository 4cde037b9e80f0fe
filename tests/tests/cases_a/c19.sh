mkdir -p project/src
cat > project/Cargo.toml <<'TOML'
[package]
name = "wheel"
version = "0.1.0"
edition = "2021"
[workspace]
[profile.dev]
debug = 0
TOML
printf 'pub fn turns() -> u32 { 6 * 7 }\n' > project/src/lib.rs
printf 'fn main() { std::fs::write("turned", wheel::turns().to_string()).unwrap(); println!("{}", std::fs::read_to_string("turned").unwrap()); }\n' > project/src/main.rs
printf 'fn main() { println!("{}", std::env::args().count()); }\n' > small.rs
rustc --edition 2021 -C debuginfo=0 -o small small.rs
is "$(./small a b)" 3
(cd project && cargo build --offline --quiet && is "$(target/debug/wheel)" 42)
is "$(cat project/turned)" 42
printf 'pub fn turns() -> u32 { 40 + 3 }\n' > project/src/lib.rs
(cd project && cargo run --offline --quiet)
python3 -c 'import json, os; json.dump(list(range(1000)), open("list", "w")); print(len(json.load(open("list"))), os.path.getsize("list"))'
bash -c 'for n in 1 2 3; do echo $n; done > three; readlink -f three > /dev/null; cat three'
rm -r project small small.rs
