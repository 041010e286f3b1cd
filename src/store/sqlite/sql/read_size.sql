-- read_size.sql: bytes of the file, as of this transaction.
SELECT page_count * page_size FROM pragma_page_count, pragma_page_size;
