DROP INDEX `one_record_per_period`;--> statement-breakpoint
ALTER TABLE `billing_records` ADD `corrects` text REFERENCES billing_records(id);--> statement-breakpoint
ALTER TABLE `billing_records` ADD `reason` text;--> statement-breakpoint
CREATE INDEX `billing_records_by_user` ON `billing_records` (`user_id`,`period_start`);--> statement-breakpoint
CREATE UNIQUE INDEX `one_record_per_period` ON `billing_records` (`user_id`,`period_start`) WHERE corrects IS NULL;--> statement-breakpoint
ALTER TABLE `invoices` ADD `remaining_cents` integer;