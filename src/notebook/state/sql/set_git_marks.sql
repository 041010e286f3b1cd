-- set_git_marks.sql: stores the last seen HEAD and the commit that the index followed.
UPDATE notebook SET git_head = ?2, git_index = ?3 WHERE id = ?1;
