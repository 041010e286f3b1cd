-- put_sign_off.sql: worker ?1 signed off at ?2.
INSERT INTO worker_sign_off (worker_id, signed_off_at)
VALUES (?1, ?2)
    ON CONFLICT (worker_id) DO UPDATE
   SET signed_off_at = max(signed_off_at, excluded.signed_off_at);
