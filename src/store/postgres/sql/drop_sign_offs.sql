-- drop_sign_offs.sql: deletes sign-offs of workers from before $1.
DELETE FROM eventq.worker_sign_off WHERE signed_off_at < $1;
