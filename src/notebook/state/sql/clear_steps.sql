-- clear_steps.sql: of a notebook.
DELETE FROM step WHERE notebook = ?1;
