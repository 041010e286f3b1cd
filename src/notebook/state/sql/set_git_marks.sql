-- set_git_marks.sql: what is seen of its repository.
UPDATE notebook SET git_head = ?2, git_index = ?3 WHERE id = ?1;
