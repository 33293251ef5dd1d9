ALTER TABLE `billing_records` ADD `session_id` text;--> statement-breakpoint
CREATE UNIQUE INDEX `one_credit_per_run` ON `billing_records` (`session_id`,`corrects`) WHERE session_id IS NOT NULL;--> statement-breakpoint
ALTER TABLE `launches` ADD `launched_at` integer;--> statement-breakpoint
ALTER TABLE `launches` ADD `ended_at` integer;--> statement-breakpoint
ALTER TABLE `launches` ADD `end_reason` text;--> statement-breakpoint
ALTER TABLE `server_sessions` ADD `short_seconds` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `server_sessions` ADD `credit_seconds` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `server_sessions` ADD `credit_at` integer;--> statement-breakpoint
ALTER TABLE `server_sessions` ADD `ec2_difference` integer;--> statement-breakpoint
CREATE INDEX `server_sessions_to_credit` ON `server_sessions` (`credit_at`) WHERE credit_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `server_sessions_differing` ON `server_sessions` (`ended_at`) WHERE (abs(ec2_difference) > 60 OR short_seconds > 60);