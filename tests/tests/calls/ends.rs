//! Programs whose libraries end late, after a conversation that is encrypted (C45).

use millpond_tests::cases::Case;
use std::time::Duration;

#[test]
fn c45_encrypted_conversations_on_loopback() {
    Case::new("encrypted", include_str!("encrypted.sh"))
        .needs(&["openssl", "curl", "gnutls-cli", "gnutls-serv"])
        .bound(Duration::from_secs(120))
        .check();
}
