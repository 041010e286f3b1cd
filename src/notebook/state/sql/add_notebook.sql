-- add_notebook.sql: inserts a notebook; changes no row when its name or path is in use.
INSERT INTO notebook (name, path, poll_interval, batch_size, git_commit_interval, git_commit_max_files, max_retries,
                      retry_backoff, completed_retention, failed_retention, created_at, git_bypass_filters,
                      git_nested, max_file_size, deleted_retention, portable_names)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
ON CONFLICT DO NOTHING;
