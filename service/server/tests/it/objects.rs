//! Objects: files by name, in a folder and in a bucket, with and without encryption.

use proofmill_server::objects::{self, Encrypted, FileKeys, FolderObjects, Objects, S3, Staged, Staging};
use std::{
    env, fs,
    io::{self, Write},
    path::Path,
    sync::Arc,
    time::Duration,
};
use tempfile::TempDir;
use tokio::{io::AsyncReadExt, task::JoinSet};

/// Whether this kind of objects must be tested: a missing one fails the tests.
fn is_required(kind: &str) -> bool {
    env::var("PROOFMILL_REQUIRE_STORES").is_ok_and(|kinds| kinds.split(',').any(|required| required == kind))
}

/// The bucket for tests, with a new prefix.
fn bucket() -> Option<String> {
    let bucket = env::var("PROOFMILL_TEST_S3").ok();
    assert!(bucket.is_some() || !is_required("s3"), "PROOFMILL_TEST_S3 is not set: see .ci/servers.sh");
    Some(format!("{}/tests/{}", bucket?.trim_end_matches('/'), uuid::Uuid::now_v7().simple()))
}

/// Empty objects of each kind that can be reached, with and without encryption, and a folder for files on their way.
fn all() -> Vec<(Arc<dyn Objects>, Staging, TempDir)> {
    [false, true].into_iter().flat_map(kinds).collect()
}

fn kinds(is_encrypted: bool) -> Vec<(Arc<dyn Objects>, Staging, TempDir)> {
    let mut all: Vec<(Arc<dyn Objects>, Staging, TempDir)> = Vec::new();
    let places = [Some(None), bucket().map(Some)];
    for place in places.into_iter().flatten() {
        let folder = tempfile::tempdir().expect("a folder");
        let files = folder.path().join("objects").display().to_string();
        let mut objects = objects::open(&place.unwrap_or(files)).expect("objects");
        let staging = Staging::new(&folder.path().join("staging")).expect("a folder");
        if is_encrypted {
            objects = encrypted(&objects, &staging, &[1]);
        }
        all.push((objects, staging, folder));
    }
    all
}

/// Objects that encrypt with the first of these keys.
fn encrypted(objects: &Arc<dyn Objects>, staging: &Staging, keys: &[u8]) -> Arc<dyn Objects> {
    let lines: Vec<_> = keys.iter().map(|key| hex::encode([*key; 32]) + "\n").collect();
    let keys = key_file(&lines.concat(), 0o600).expect("keys");
    Arc::new(Encrypted::new(objects.clone(), staging.clone(), keys))
}

/// Reads a file of keys with this content and mode.
fn key_file(content: &str, mode: u32) -> io::Result<FileKeys> {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("key");
    fs::write(&path, content).expect("written");
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("changed");
    FileKeys::open(&path)
}

async fn content(objects: &dyn Objects, name: &str) -> io::Result<Vec<u8>> {
    let (length, mut reader) = objects.get(name).await?;
    let mut content = Vec::new();
    reader.read_to_end(&mut content).await?;
    assert_eq!(content.len() as u64, length);
    Ok(content)
}

async fn put(objects: &dyn Objects, staging: &Staging, name: &str, content: &[u8]) {
    objects.put(name, staging.file_with(content).expect("a file")).await.expect("stored");
}

async fn names(objects: &dyn Objects, prefix: &str) -> Vec<String> {
    let mut names = objects.list(prefix).await.expect("names");
    names.sort();
    names
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).expect("a folder").next().is_none()
}

#[tokio::test]
async fn objects_are_put_replaced_and_got() {
    for (objects, staging, folder) in all() {
        for name in ["keys/d", "jobs/1/inputs/witness", "jobs/1/7/proof"] {
            for bytes in [&b"first"[..], b"", b"another one \0 \xff"] {
                put(&*objects, &staging, name, bytes).await;
                assert_eq!(content(&*objects, name).await.expect("there"), bytes);
            }
        }
        assert!(is_empty(&folder.path().join("staging")));
        for name in ["keys/other", "keys/d/e", "jobs/1", "jobs/1/7", "nothing"] {
            let Err(error) = objects.get(name).await.map(drop) else {
                // A folder can be opened, but not read.
                content(&*objects, name).await.expect_err("a folder");
                continue;
            };
            let kind = error.kind();
            assert!(
                matches!(
                    kind,
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory
                ),
                "{name}: {error}"
            );
            assert!(error.to_string().contains(name), "{name}: {error}");
        }
    }
}

#[tokio::test]
async fn a_prefix_is_listed_and_deleted() {
    for (objects, staging, _folder) in all() {
        assert_eq!(names(&*objects, "jobs/").await, Vec::<String>::new());
        objects.delete("jobs/1/").await.expect("nothing to do");
        let all = [
            "jobs/1/inputs/witness",
            "jobs/1/inputs/public",
            "jobs/1/3/proof",
            "jobs/12/inputs/witness",
            "keys/1",
        ];
        for name in all {
            put(&*objects, &staging, name, name.as_bytes()).await;
        }
        assert_eq!(names(&*objects, "jobs/").await, ["1", "12"]);
        assert_eq!(names(&*objects, "jobs/1/").await, ["3", "inputs"]);
        assert_eq!(names(&*objects, "jobs/1/inputs/").await, ["public", "witness"]);
        assert_eq!(names(&*objects, "keys/").await, ["1"]);
        for _ in 0..2 {
            objects.delete("jobs/1/inputs/").await.expect("also twice");
        }
        assert_eq!(names(&*objects, "jobs/1/").await, ["3"]);
        objects.delete("jobs/1/").await.expect("deleted");
        assert_eq!(names(&*objects, "jobs/").await, ["12"]);
        assert_eq!(content(&*objects, all[3]).await.expect("there"), all[3].as_bytes());
        for _ in 0..2 {
            objects.delete("keys/1").await.expect("also twice");
        }
        assert_eq!(names(&*objects, "keys/").await, Vec::<String>::new());
        objects.delete("jobs/12/").await.expect("deleted");
        assert_eq!(names(&*objects, "jobs/").await, Vec::<String>::new());
    }
}

#[tokio::test]
async fn many_objects_are_listed_and_deleted() {
    for (objects, staging, _folder) in kinds(false) {
        // A page of S3 has 1,000 names.
        let mut putting = JoinSet::new();
        for number in 0..1100 {
            let (objects, file) = (objects.clone(), staging.file_with(b"x").expect("a file"));
            putting.spawn(async move { objects.put(&format!("jobs/{number}/inputs/witness"), file).await });
            if putting.len() >= 16 {
                putting.join_next().await.expect("one").expect("it ends").expect("stored");
            }
        }
        while let Some(put) = putting.join_next().await {
            put.expect("it ends").expect("stored");
        }
        assert_eq!(names(&*objects, "jobs/").await.len(), 1100);
        objects.delete("jobs/").await.expect("deleted");
        assert_eq!(names(&*objects, "jobs/").await.len(), 0);
    }
}

#[tokio::test]
async fn a_large_object_is_whole() {
    for (objects, staging, folder) in all() {
        // Around the size of a part, and several parts with a rest.
        for length in [(8 << 20) - 1, 8 << 20, (8 << 20) + 1, 20_000_000] {
            let bytes: Vec<u8> =
                (0..length as u32).map(|index| (index.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
            put(&*objects, &staging, "keys/large", &bytes).await;
            assert!(content(&*objects, "keys/large").await.expect("there") == bytes, "{length}");
        }
        assert!(is_empty(&folder.path().join("staging")));
    }
}

#[tokio::test]
async fn a_writer_that_fails_leaves_the_object_as_it_was() {
    for (objects, staging, _folder) in all() {
        put(&*objects, &staging, "keys/k", b"before").await;
        // The file is gone, or cannot be read.
        let file = staging.file_with(&vec![1; 9 << 20]).expect("a file");
        fs::remove_file(file.path()).expect("removed");
        objects.put("keys/k", file).await.expect_err("no file");
        let file = staging.file_with(b"small").expect("a file");
        fs::remove_file(file.path()).expect("removed");
        objects.put("keys/new", file).await.expect_err("no file");
        // A caller that goes away in the middle.
        for milliseconds in [0, 1, 5, 20] {
            let file = staging.file_with(&vec![2; 20 << 20]).expect("a file");
            let (reader, objects, time) =
                (objects.clone(), objects.clone(), Duration::from_millis(milliseconds));
            let put = tokio::spawn(async move { objects.put("keys/aborted", file).await });
            tokio::time::sleep(time).await;
            put.abort();
            drop(put.await);
            match content(&*reader, "keys/aborted").await {
                Ok(content) => assert_eq!(content.len(), 20 << 20),
                Err(error) => assert_eq!(error.kind(), io::ErrorKind::NotFound),
            }
        }
        assert_eq!(content(&*objects, "keys/k").await.expect("there"), b"before");
        assert!(!names(&*objects, "keys/").await.contains(&"new".to_owned()));
    }
}

#[cfg(unix)]
#[tokio::test]
async fn files_are_readable_by_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().join("objects");
    let objects = FolderObjects::new(&root).expect("a folder");
    let staging = Staging::new(&folder.path().join("staging")).expect("a folder");
    put(&objects, &staging, "jobs/1/inputs/witness", b"secret").await;
    // A file that another process wrote.
    let written = staging.folder().expect("a folder");
    let path = written.path().join("proof");
    fs::File::create(&path).expect("a file").write_all(b"proof").expect("written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("changed");
    objects.put("jobs/1/1/proof", Staged::of_path(&path).expect("a file")).await.expect("stored");
    let mode = |path: &Path| path.metadata().expect("it is there").permissions().mode() & 0o777;
    assert_eq!(mode(staging.file().expect("a file").1.path()), 0o600);
    assert_eq!(mode(staging.folder().expect("a folder").path()), 0o700);
    for path in ["", "jobs", "jobs/1", "jobs/1/inputs", "jobs/1/1"] {
        assert_eq!(mode(&root.join(path)), 0o700, "{path}");
    }
    for path in ["jobs/1/inputs/witness", "jobs/1/1/proof"] {
        assert_eq!(mode(&root.join(path)), 0o600, "{path}");
        assert_eq!(objects.path(path), Some(root.join(path)));
    }
}

#[tokio::test]
async fn errors_name_the_object_and_no_secret() {
    let Some(place) = bucket() else { return };
    let secret = env::var("AWS_SECRET_ACCESS_KEY").expect("a secret");
    let objects = S3::open("s3://no-such-bucket/prefix").expect("it is not contacted");
    let folder = tempfile::tempdir().expect("a folder");
    let staging = Staging::new(folder.path()).expect("a folder");
    let error = objects.put("keys/k", staging.file_with(b"x").expect("a file")).await.expect_err("no bucket");
    let text = error.to_string();
    assert!(text.contains("keys/k") && text.contains("no-such-bucket"), "{text}");
    assert!(!text.contains(&secret) && !text.contains('\n'), "{text}");
    assert!(objects.path("keys/k").is_none());
    assert!(!format!("{:?}", S3::open(&place)).contains(&secret));
}

#[test]
fn malformed_places_are_refused() {
    for place in ["s3://", "s3:///prefix", "s3://a b/c", "s3://user:secret@bucket/p", "ftp://u:secret@host/p"]
    {
        let error = objects::open(place).map(drop).expect_err("refused");
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        assert!(!error.to_string().contains("secret"), "{error}");
    }
}

/// The bytes of an encrypted file before its first chunk, of a chunk, and of its tag.
const HEADER: usize = 35;
const CHUNK: usize = 1 << 16;
const TAG: usize = 16;

const INPUT: &str = "jobs/1/inputs/witness";

/// Files in a folder, and the same with encryption.
fn both() -> (Arc<dyn Objects>, Arc<dyn Objects>, Staging, TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    let plain: Arc<dyn Objects> =
        Arc::new(FolderObjects::new(&folder.path().join("objects")).expect("a folder"));
    let staging = Staging::new(&folder.path().join("staging")).expect("a folder");
    let encrypted = encrypted(&plain, &staging, &[1]);
    (plain, encrypted, staging, folder)
}

#[tokio::test]
async fn every_change_of_an_encrypted_file_is_noticed() {
    let (plain, encrypted, staging, _folder) = both();
    let place = plain.path(INPUT).expect("a file");
    for length in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 2 * CHUNK + 5] {
        let secret: Vec<u8> = (0..length).map(|index| (index % 251) as u8).collect();
        put(&*encrypted, &staging, INPUT, &secret).await;
        assert!(content(&*encrypted, INPUT).await.expect("there") == secret);
        let whole = content(&*plain, INPUT).await.expect("there");
        let chunks = length.div_ceil(CHUNK).max(1);
        assert_eq!(whole.len(), HEADER + length + TAG * chunks);
        assert!(length < 64 || !whole.windows(16).any(|bytes| bytes == &secret[..16]));
        let ends: Vec<usize> =
            (0..=chunks).map(|chunk| (HEADER + chunk * (CHUNK + TAG)).min(whole.len())).collect();

        let mut changed = Vec::new();
        let near_ends =
            ends.iter().flat_map(|end| [end.wrapping_sub(TAG), end.wrapping_sub(1), *end, end + CHUNK / 2]);
        for place in (0..HEADER).chain(near_ends).filter(|place| *place < whole.len()) {
            for bit in [1, 0x80] {
                let mut other = whole.clone();
                other[place] ^= bit;
                changed.push(other);
            }
        }
        for length in ends.iter().flat_map(|end| [end - 1, *end, end + 1, end + TAG]).chain([0, 1]) {
            if length < whole.len() {
                changed.push(whole[..length].to_vec());
            }
        }
        let last = &whole[ends[chunks - 1]..];
        for more in [&[0][..], &[0; TAG], &[0; CHUNK + TAG], last, &whole] {
            changed.push([&whole, more].concat());
        }
        if chunks == 3 {
            let [a, b, c] = [0, 1, 2].map(|chunk| &whole[ends[chunk]..ends[chunk + 1]]);
            let others = [[b, a, c].concat(), [a, c].concat(), [a, a, c].concat(), [a, b, b, c].concat()];
            changed.extend(others.map(|chunks| [&whole[..HEADER], &chunks].concat()));
        }
        for other in changed {
            fs::write(&place, &other).expect("changed");
            let error = content(&*encrypted, INPUT).await.expect_err("noticed");
            assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{error}");
            assert!(error.to_string().starts_with(&format!("object {INPUT}: ")), "{error}");
        }
        // One file in place of another.
        put(&*plain, &staging, "jobs/2/inputs/witness", &whole).await;
        content(&*encrypted, "jobs/2/inputs/witness").await.expect_err("it belongs to another job");
        fs::write(&place, &whole).expect("changed");
        content(&*encrypted, INPUT).await.expect("the file as it was");
        // No two files have the same nonce.
        put(&*encrypted, &staging, INPUT, &secret).await;
        assert_ne!(content(&*plain, INPUT).await.expect("there")[16..HEADER], whole[16..HEADER]);
    }
}

#[tokio::test]
async fn inputs_and_results_are_encrypted_and_keys_are_not() {
    let (plain, encrypted, staging, folder) = both();
    encrypted.check_encryption().await.expect("it begins");
    for name in [INPUT, "jobs/1/7/proof", "keys/1"] {
        put(&*encrypted, &staging, name, b"a secret of 25 characters").await;
        let is_plain = content(&*plain, name).await.expect("there") == b"a secret of 25 characters";
        assert_eq!(is_plain, name == "keys/1");
        assert_eq!(encrypted.path(name).is_some(), is_plain, "a worker must not read it where it lies");
    }
    assert!(is_empty(&folder.path().join("staging")));
}

#[tokio::test]
async fn objects_are_opened_with_the_right_keys_only() {
    let (plain, _, staging, _folder) = both();
    let with = |keys: &[u8]| encrypted(&plain, &staging, keys);
    plain.check_encryption().await.expect("nothing is encrypted");
    put(&*plain, &staging, INPUT, b"from before").await;
    let error = with(&[1]).check_encryption().await.expect_err("there are files without encryption");
    assert!(error.to_string().contains("without encryption"), "{error}");
    content(&*with(&[1]), INPUT).await.expect_err("nor is one taken for encrypted");
    plain.delete("jobs/1/").await.expect("deleted");

    with(&[1]).check_encryption().await.expect("it begins");
    put(&*with(&[1]), &staging, INPUT, b"secret").await;
    let error = plain.check_encryption().await.expect_err("there is a key");
    assert!(error.to_string().contains("--encrypt-inputs"), "{error}");
    for _ in 0..2 {
        let error = with(&[2]).check_encryption().await.expect_err("another key");
        assert!(error.to_string().contains("--encrypt-inputs"), "{error}");
    }
    content(&*with(&[2]), INPUT).await.expect_err("another key");

    // A new key takes over: first all servers read with it, then they write with it, then the old one can go.
    with(&[1, 2]).check_encryption().await.expect("the old key");
    with(&[2]).check_encryption().await.expect_err("nothing is written with the new key yet");
    let both = with(&[2, 1]);
    both.check_encryption().await.expect("the old key");
    assert_eq!(content(&*both, INPUT).await.expect("the old key"), b"secret");
    put(&*both, &staging, INPUT, b"new").await;
    with(&[2]).check_encryption().await.expect("the new key");
    assert_eq!(content(&*with(&[2]), INPUT).await.expect("the new key"), b"new");
    with(&[1]).check_encryption().await.expect_err("the old key");
}

#[test]
fn files_of_keys_are_secret_and_have_whole_keys() {
    let key = hex::encode([7; 32]);
    for content in [key.clone(), format!("{key}\n\n {}\r\n", key.to_uppercase())] {
        key_file(&content, 0o600).map(drop).expect("keys");
        key_file(&content, 0o400).map(drop).expect("keys");
    }
    for mode in [0o644, 0o604, 0o660, 0o601] {
        let error = key_file(&key, mode).map(drop).expect_err("not secret");
        assert!(error.to_string().contains("chmod"), "{error}");
    }
    let long = format!("{key}\n").repeat(64);
    for wrong in ["", "\n", &key[1..], &key.replace('7', "g"), &format!("{key}\n{key}0"), &long, "\u{e9}"] {
        let error = key_file(wrong, 0o600).map(drop).expect_err("malformed").to_string();
        assert!(error.contains("64 hexadecimal digits") && error.contains("openssl"), "{error}");
        assert!(!error.contains("0707"), "{error}");
    }
    let error = FileKeys::open(Path::new("/nowhere/key")).map(drop).expect_err("missing").to_string();
    assert!(error.contains("no such file") && error.contains("openssl"), "{error}");
}

/// The most memory that this process has had, in bytes.
#[cfg(target_os = "linux")]
fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("it is there");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("the peak");
    line.split_whitespace().nth(1).and_then(|kilobytes| kilobytes.parse::<u64>().ok()).expect("a number")
        << 10
}

/// In a process of its own: other tests have large files in memory.
#[cfg(target_os = "linux")]
#[test]
fn a_large_file_is_encrypted_and_decrypted_in_little_memory() {
    let mut child = std::process::Command::new(env::current_exe().expect("this program"));
    let output = child.args(["--exact", "--ignored", "objects::large_file"]).output().expect("a process");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
#[ignore = "is the child of another test"]
async fn large_file() {
    let (_, encrypted, staging, _folder) = both();
    let length = 48 << 20;
    let (hole, file) = staging.file().expect("a file");
    hole.set_len(length).expect("a file with a hole");
    let before = peak_memory();
    encrypted.put(INPUT, file).await.expect("stored");
    let (found, mut content) = encrypted.get(INPUT).await.expect("there");
    assert_eq!(found, length);
    assert_eq!(tokio::io::copy(&mut content, &mut tokio::io::sink()).await.expect("read"), length);
    assert!(peak_memory() - before < length / 4);
}
