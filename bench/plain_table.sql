-- plain_table.sql: a queue as many applications write it: one table, no log, no tags, no archive.
CREATE TABLE public.plain (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  state int NOT NULL DEFAULT 0,
  payload text NOT NULL,
  worker text,
  claimed_at timestamptz
);
CREATE INDEX ON public.plain (id) WHERE state = 0;
