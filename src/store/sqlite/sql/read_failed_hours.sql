-- read_failed_hours.sql: all hours with failures.
SELECT hour, n FROM failed_hour;
