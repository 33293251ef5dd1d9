CREATE TABLE `notices` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`kind` text NOT NULL,
	`at` integer NOT NULL,
	`title` text NOT NULL,
	`text` text NOT NULL,
	`link` text,
	`label` text,
	`cause` text,
	`read_at` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `notices_cause_unique` ON `notices` (`cause`);--> statement-breakpoint
CREATE INDEX `notices_by_user` ON `notices` (`user_id`,`at`);--> statement-breakpoint
CREATE INDEX `notices_unread` ON `notices` (`user_id`) WHERE read_at IS NULL;--> statement-breakpoint
CREATE INDEX `notices_by_time` ON `notices` (`at`);--> statement-breakpoint
ALTER TABLE `outbox` ADD `off_url` text;--> statement-breakpoint
ALTER TABLE `server_sessions` ADD `idle_ends` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `server_sessions` ADD `idle_look_at` integer;--> statement-breakpoint
ALTER TABLE `users` ADD `muted_mails` text DEFAULT '[]' NOT NULL;--> statement-breakpoint
ALTER TABLE `users` ADD `idle_minutes` integer;