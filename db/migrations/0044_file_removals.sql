CREATE TABLE `file_removals` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`place` text NOT NULL,
	`accepted_at` integer NOT NULL,
	`next_at` integer NOT NULL,
	`failures` integer DEFAULT 0 NOT NULL,
	`files_left` integer DEFAULT 0 NOT NULL,
	`removed_key` text,
	`done_at` integer,
	`stuck_key` text,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `file_removals_by_user` ON `file_removals` (`user_id`,`accepted_at`);--> statement-breakpoint
CREATE UNIQUE INDEX `file_removals_open` ON `file_removals` (`user_id`,`place`) WHERE done_at IS NULL;--> statement-breakpoint
CREATE INDEX `file_removals_due` ON `file_removals` (`next_at`) WHERE done_at IS NULL;