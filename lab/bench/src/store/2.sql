-- SQLite has no checksums, so a digit that a failing disk changes goes unnoticed. The digest is the first 16
-- hexadecimal digits of SHA-256 of a row's contents and key.
ALTER TABLE runs ADD COLUMN digest TEXT NOT NULL DEFAULT '';
UPDATE runs SET digest = digest(id || ' ' || facts);
ALTER TABLE measurements ADD COLUMN digest TEXT NOT NULL DEFAULT '';
UPDATE measurements SET digest = digest(run || ' ' || number || ' ' || measurement);
