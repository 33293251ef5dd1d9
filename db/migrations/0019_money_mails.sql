ALTER TABLE `outbox` ADD `cause` text;--> statement-breakpoint
CREATE UNIQUE INDEX `outbox_cause_unique` ON `outbox` (`cause`);--> statement-breakpoint
ALTER TABLE `server_sessions` ADD `hours_look_at` integer;--> statement-breakpoint
CREATE INDEX `server_sessions_hours` ON `server_sessions` (`hours_look_at`) WHERE hours_look_at IS NOT NULL;