-- all_totals.sql: what each queue counted since it was created.
SELECT queue, published, completed + failed_for_good + superseded + cancelled FROM queue_total;
