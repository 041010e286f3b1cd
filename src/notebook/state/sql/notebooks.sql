-- notebooks.sql: all notebooks in the order of insertion.
SELECT id, name, path, poll_interval, batch_size, git_commit_interval, git_commit_max_files, max_retries,
       retry_backoff, completed_retention, failed_retention, created_at, git_bypass_filters, git_nested,
       max_file_size, deleted_retention, portable_names, imported
FROM notebook
ORDER BY id;
