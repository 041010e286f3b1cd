-- git_marks.sql: what was seen of its repository.
SELECT git_head, git_index FROM notebook WHERE id = ?1;
