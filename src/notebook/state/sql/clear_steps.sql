-- clear_steps.sql: empties the journal of a notebook.
DELETE FROM step WHERE notebook = ?1;
