//! TLS, and certificates that are read again.

use crate::http::server::start;
use proofmill_server::{client::Client, http::Tls, service::Rules};
use reqwest::Method;
use std::path::Path;

fn write_certificate(folder: &Path) -> String {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    std::fs::write(folder.join("cert.pem"), made.cert.pem()).expect("a file");
    std::fs::write(folder.join("key.pem"), made.signing_key.serialize_pem()).expect("a file");
    made.cert.pem()
}

#[tokio::test]
async fn tls_serves_with_the_present_certificate() {
    drop(rustls::crypto::ring::default_provider().install_default());
    let folder = tempfile::tempdir().expect("a folder");
    let (certificate, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
    assert!(Tls::open(&certificate, &key).await.is_err());
    let first = write_certificate(folder.path());
    let tls = Tls::open(&certificate, &key).await.expect("a certificate");
    let server = start(Default::default(), Rules::default(), Some(tls.clone())).await;
    let get = async |authority: Option<&str>| {
        let client = Client::new(&server.url, &server.admin, authority.map(str::as_bytes)).expect("a client");
        client.send(client.request(Method::GET, "/v1/jobs")).await.map(|response| response.version())
    };
    assert_eq!(get(Some(&first)).await.expect("an answer"), reqwest::Version::HTTP_2);
    assert!(get(None).await.is_err(), "the system does not know the certificate");

    std::fs::write(&certificate, "no certificate").expect("a file");
    assert!(tls.reload().await.is_err());
    assert!(get(Some(&first)).await.is_ok(), "the old one stays");
    let second = write_certificate(folder.path());
    tls.reload().await.expect("a certificate");
    assert!(get(Some(&second)).await.is_ok());
    assert!(get(Some(&first)).await.is_err());
    let plain = reqwest::get(server.url.replace("https", "http")).await;
    assert!(plain.is_err());
}
