//! Configurations that are taken, and refused ones with place, key and remedy.

use proptest::prelude::*;

use super::*;

fn refusal(text: &str) -> String {
    parse(text, "m.toml").unwrap_err().to_string()
}

#[test]
fn an_empty_text_is_the_defaults() {
    assert_eq!(parse("", "m.toml"), Ok(Config::default()));
}

#[test]
fn the_example_reads_back_to_the_defaults() {
    let text = example();
    assert_eq!(parse(&text, "example").unwrap(), Config::default(), "{text}");
}

#[test]
fn the_example_names_every_key_of_the_structs() {
    // Every optional key set, so that the serialized form holds all keys there are.
    let mut config = Config::default();
    config.flush.write_behind_age = Some(Period::secs(5));
    let value = toml::Value::try_from(&config).unwrap();
    let text = example();
    for (section, inner) in value.as_table().unwrap() {
        match inner.as_table() {
            Some(keys) => keys.keys().for_each(|key| assert!(text.contains(&format!("{key} = ")), "{key}")),
            None => assert!(text.contains(&format!("{section} = "))),
        }
    }
}

#[test]
fn refusals_name_line_key_and_remedy() {
    let cases = [
        (
            "[pool]\nsize = \"64 potatoes\"",
            "m.toml:2: pool.size: `potatoes` in `64 potatoes` is no unit of size; write a size",
        ),
        ("[pool]\nsize = -4", "m.toml:2: pool.size: `-4` is negative; write a size"),
        ("[pool]\nsize = \"99999999TiB\"", "m.toml:2: pool.size: `99999999TiB` does not fit 64 bits"),
        ("[pool]\nsize = \"64KiB\"", "m.toml:2: pool.size: 64KiB is no size of a pool"),
        (
            "[pool]\nsize = \"8MiB\"\npage_size = \"1MiB\"",
            "m.toml:2: pool.size: 8MiB holds fewer than 16 pages of 1MiB",
        ),
        (
            "\n[pool]\n\npage_size = \"48KiB\"",
            "m.toml:4: pool.page_size: 48KiB is no page size; write a power of two",
        ),
        ("[pool]\npage_size = \"2MiB\"", "m.toml:2: pool.page_size: 2MiB is no page size"),
        ("[pool]\nhuge_pages = \"maybe\"", "m.toml:2: pool.huge_pages: unknown variant `maybe`"),
        ("[pool]\ndirectory = \"x\"", "m.toml:2: pool.directory: `x` is not absolute"),
        ("[pool]\nlow_mark = 80", "m.toml:2: pool.low_mark: 80 is not between 0 and the high mark of 75"),
        ("[pool]\nhigh_mark = 101", "m.toml:2: pool.high_mark: 101 is no percentage"),
        ("[pool]\nhigh_mark = 40", "m.toml:1: pool.low_mark: 50 is not between 0 and the high mark of 40"),
        ("[pool]\nslabs = []", "m.toml:2: pool.slabs: 0 slabs, not 1 to 13"),
        (
            "[pool]\nslabs = [\n{ buffer = \"4KiB\", share = 50 },\n{ buffer = \"3KiB\", share = 50 }]",
            "m.toml:4: pool.slabs[1].buffer: 3KiB is no size of a buffer",
        ),
        (
            "[pool]\nslabs = [{ buffer = \"4KiB\", share = 50 },\n{ buffer = \"4KiB\", share = 50 }]",
            "m.toml:3: pool.slabs[1].buffer: 4KiB stands twice",
        ),
        (
            "[pool]\nslabs = [{ buffer = \"4KiB\", share = 0 }]",
            "m.toml:2: pool.slabs[0].share: 0 is no share",
        ),
        (
            "[pool]\nslabs = [{ buffer = \"4KiB\", share = 99 }]",
            "m.toml:2: pool.slabs: the shares sum to 99, not to 100",
        ),
        ("[pool]\nslabs = [{ buffer = \"4KiB\" }]", "m.toml:2: pool.slabs"),
        (
            "[pool]\nsize = \"1MiB\"\nslabs = [{ buffer = \"16MiB\", share = 100 }]",
            "m.toml:3: pool.slabs[0].share: 100 % of 1MiB hold no buffer of 16MiB",
        ),
        ("[store]\npaths = [\"/a\", \"/b:c\"]", "m.toml:2: store.paths[1]: `/b:c` holds a `:`"),
        (
            "[programs]\nexclude = [\"a\", \"b/c\"]",
            "m.toml:2: programs.exclude[1]: `b/c` is no program's name",
        ),
        ("[store]\npaths = [\"\"]", "m.toml:2: store.paths[0]: an empty path"),
        ("[flush]\nmode = \"later\"", "m.toml:2: flush.mode: unknown variant `later`"),
        (
            "[flush]\nretry_interval = 5",
            "m.toml:2: flush.retry_interval: invalid type: integer `5`, expected a span of time",
        ),
        (
            "[flush]\nretry_interval = \"1us\"",
            "m.toml:2: flush.retry_interval: 1us is not between 10ms and 1h",
        ),
        (
            "[flush]\nwrite_behind_age = \"0s\"",
            "m.toml:2: flush.write_behind_age: 0s is not between 10ms and 24h",
        ),
        ("[limits]\nclients = 0", "m.toml:2: limits.clients: 0 is not between 1 and 65536"),
        ("[limits]\nfiles = -1", "m.toml:2: limits.files: invalid value: integer `-1`"),
        ("[limits]\nlock_wait = \"2h\"", "m.toml:2: limits.lock_wait: 2h is not between 1ms and 1h"),
        ("[log]\nlevel = \"loud\"", "m.toml:2: log.level: unknown variant `loud`"),
        ("instance = \"a/b\"", "m.toml:1: instance: `a/b` cannot name a coordinator"),
        ("[pool]\nsze = \"1GiB\"", "m.toml:2: pool.sze: unknown field `sze`, expected one of `size`"),
        ("[pol]\nsize = \"1GiB\"", "m.toml:1: pol: unknown field `pol`, expected one of"),
        ("[pool\nsize = 1", "m.toml:1: "),
    ];
    for (text, start) in cases {
        let message = refusal(text);
        assert!(message.starts_with(start), "{text:?}\n  gives {message}\n  not   {start}");
        assert!(message.contains("; ") && !message.contains('\n'), "no remedy: {message}");
    }
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
}

#[test]
fn flags_beat_environment_beats_file() {
    let file = "[pool]\nsize = \"1GiB\"\npage_size = \"4KiB\"\n[flush]\nmode = \"async\"";
    let env = pairs(&[
        ("MILLPOND_POOL", "2GiB"),
        ("MILLPOND_PAGE_SIZE", "16KiB"),
        ("HOME", "/"),
        ("MILLPOND_FLUSH", ""),
    ]);
    let flags = [Override::new("pool.size", "--pool", "3GiB")];
    let config = layered(Some((file, "m.toml")), env, &flags).unwrap();
    assert_eq!(config.pool.size, ByteSize::gib(3));
    assert_eq!(config.pool.page_size, ByteSize::kib(16));
    assert_eq!(config.flush.mode, FlushMode::Async);
}

#[test]
fn every_variable_is_taken() {
    let env = pairs(&[
        ("MILLPOND_INSTANCE", "two"),
        ("MILLPOND_SLABS", "4KiB:25,64KiB:75"),
        ("MILLPOND_STORES", "/a:/b"),
        ("MILLPOND_EXCLUDE", "one:two:"),
        ("MILLPOND_WRITE_BEHIND_AGE", "5s"),
        ("MILLPOND_HUGE_PAGES", "never"),
        ("MILLPOND_CLIENTS", "7"),
        ("MILLPOND_LOG", "debug"),
    ]);
    let config = layered(None, env, &[]).unwrap();
    assert_eq!(config.instance, "two");
    assert_eq!(config.pool.slabs[0], SlabConfig { buffer: ByteSize::kib(4), share: 25 });
    assert_eq!(config.store.paths, ["/a", "/b"]);
    assert_eq!(config.programs.exclude, ["one", "two"]);
    assert_eq!(config.flush.write_behind_age, Some(Period::secs(5)));
    assert_eq!(config.pool.huge_pages, HugePages::Never);
    assert_eq!(config.limits.clients, 7);
    assert_eq!(config.log.level, LogLevel::Debug);
}

#[test]
fn a_refused_override_names_its_source() {
    let env = layered(None, pairs(&[("MILLPOND_POOL", "lots")]), &[]).unwrap_err().to_string();
    assert!(env.starts_with("environment variable MILLPOND_POOL: pool.size: `lots` does not"), "{env}");
    let flag = layered(None, [], &[Override::new("flush.mode", "--flush", "never")]).unwrap_err().to_string();
    assert!(flag.starts_with("--flush: flush.mode: unknown variant `never`"), "{flag}");
    // A value that only validation refuses is traced back to its source, too.
    let late = layered(None, [], &[Override::new("pool.size", "--pool", "1KiB")]).unwrap_err().to_string();
    assert!(late.starts_with("--pool: pool.size: 1KiB is no size of a pool"), "{late}");
}

#[test]
fn instance_names() {
    for good in ["a", "default", "run-1.b_c", &"x".repeat(64)] {
        assert!(is_instance_name(good), "{good}");
    }
    for bad in ["", ".", "..", ".x", "a/b", "a b", "ä", &"x".repeat(65)] {
        assert!(!is_instance_name(bad), "{bad}");
    }
}

prop_compose! {
    fn any_config()(
        pages in 64u64..1 << 20,
        page_shift in 12u32..=20,
        huge in prop::sample::select(vec![HugePages::Auto, HugePages::Always, HugePages::Never]),
        share in 1u8..=99,
        low in 1u8..=98,
        paths in prop::collection::vec("/[a-z\"\\\\ ]{1,12}", 0..4),
        asynchronous: bool,
        age in prop::option::of(10_000u64..1 << 36),
        clients in 1u32..=65_536,
        wait in 1_000u64..3_600_000_000,
    ) -> Config {
        let mut config = Config::default();
        config.pool.page_size = ByteSize::new(1 << page_shift);
        config.pool.size = ByteSize::new((pages << page_shift).max(64 << 20));
        config.pool.huge_pages = huge;
        config.pool.slabs = vec![
            SlabConfig { buffer: ByteSize::kib(4), share },
            SlabConfig { buffer: ByteSize::kib(64), share: 100 - share },
        ];
        config.pool.low_mark = low;
        config.pool.high_mark = low + 1;
        config.store.paths = paths;
        config.flush.mode = if asynchronous { FlushMode::Async } else { FlushMode::Close };
        config.flush.write_behind_age = age.map(Period::micros);
        config.limits.clients = clients;
        config.limits.lock_wait = Period::micros(wait);
        config
    }
}

proptest! {
    #[test]
    fn what_is_written_reads_back(config in any_config()) {
        let text = toml::to_string(&config).unwrap();
        prop_assert_eq!(parse(&text, "written"), Ok(config), "{}", text);
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,80}") {
        let _ = parse(&text, "noise");
    }
}
