CREATE TABLE `run_events` (
	`id` text PRIMARY KEY NOT NULL,
	`session_id` text NOT NULL,
	`at` integer NOT NULL,
	`what` text NOT NULL,
	`detail` text,
	`by` text NOT NULL,
	FOREIGN KEY (`session_id`) REFERENCES `server_sessions`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `run_events_by_session` ON `run_events` (`session_id`,`at`);--> statement-breakpoint
ALTER TABLE `server_sessions` ADD `ends_set_at` integer;