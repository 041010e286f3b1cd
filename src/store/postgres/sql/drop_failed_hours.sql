-- drop_failed_hours.sql: hours that are too old for any report.
DELETE FROM eventq.failed_hour WHERE hour < $1;
