//! Objects: files by name, in a folder and in a bucket.

use proofmill_server::objects::{self, Files, Objects, S3, Staged, Staging};
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

/// Empty objects of each kind that can be reached, and a folder for files on their way.
fn all() -> Vec<(Arc<dyn Objects>, Staging, TempDir)> {
    let mut all: Vec<(Arc<dyn Objects>, Staging, TempDir)> = Vec::new();
    let places = [Some(None), bucket().map(Some)];
    for place in places.into_iter().flatten() {
        let folder = tempfile::tempdir().expect("a folder");
        let files = folder.path().join("objects").display().to_string();
        let objects = objects::open(&place.unwrap_or(files)).expect("objects");
        all.push((objects, Staging::new(&folder.path().join("staging")).expect("a folder"), folder));
    }
    all
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
    let mut names = Vec::new();
    for (name, age) in objects.list(prefix).await.expect("names") {
        assert!(age < 60, "{name} {age}");
        names.push(name);
    }
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
                matches!(kind, io::ErrorKind::NotFound | io::ErrorKind::NotADirectory),
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
    for (objects, staging, _folder) in all() {
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
    let objects = Files::new(&root).expect("a folder");
    let staging = Staging::new(&folder.path().join("staging")).expect("a folder");
    put(&objects, &staging, "jobs/1/inputs/witness", b"secret").await;
    // A file that another process wrote.
    let written = staging.folder().expect("a folder");
    let path = written.path().join("proof");
    fs::File::create(&path).expect("a file").write_all(b"proof").expect("written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("changed");
    objects.put("jobs/1/1/proof", Staged::of_path(&path).expect("a file")).await.expect("stored");
    let mode = |path: &Path| path.metadata().expect("it is there").permissions().mode() & 0o777;
    assert_eq!(mode(staging.file().expect("a file").path()), 0o600);
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
