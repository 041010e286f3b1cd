-- read_failed_hours.sql: all that are kept.
SELECT hour, n FROM failed_hour;
