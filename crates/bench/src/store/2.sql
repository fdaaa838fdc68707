-- SQLite has no checksums, and a digit that a failing disk changes is as good a digit: the first 16 hexadecimal digits of
-- SHA-256 of what a row says and where it belongs.
ALTER TABLE runs ADD COLUMN digest TEXT NOT NULL DEFAULT '';
UPDATE runs SET digest = digest(id || ' ' || facts);
ALTER TABLE measurements ADD COLUMN digest TEXT NOT NULL DEFAULT '';
UPDATE measurements SET digest = digest(run || ' ' || number || ' ' || measurement);
