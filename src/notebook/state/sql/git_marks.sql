-- git_marks.sql: the last seen HEAD and the commit that the index followed.
SELECT git_head, git_index FROM notebook WHERE id = ?1;
