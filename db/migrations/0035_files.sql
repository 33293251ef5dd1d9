CREATE TABLE `file_deletions` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`path` text NOT NULL,
	`created_at` integer NOT NULL,
	`purge_at` integer NOT NULL,
	`ended_at` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `file_deletions_by_user` ON `file_deletions` (`user_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `file_deletions_by_end` ON `file_deletions` (`purge_at`) WHERE ended_at IS NULL;--> statement-breakpoint
CREATE TABLE `file_folders` (
	`user_id` text PRIMARY KEY NOT NULL,
	`prefix` text NOT NULL,
	`created_at` integer NOT NULL,
	`used_bytes` integer DEFAULT 0 NOT NULL,
	`used_files` integer DEFAULT 0 NOT NULL,
	`counted_at` integer,
	`open_until` integer DEFAULT 0 NOT NULL,
	`count_begun_at` integer,
	`count_next` text,
	`count_bytes` integer DEFAULT 0 NOT NULL,
	`count_files` integer DEFAULT 0 NOT NULL,
	`count_due_at` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `file_folders_prefix_unique` ON `file_folders` (`prefix`);--> statement-breakpoint
CREATE INDEX `file_folders_by_count` ON `file_folders` (`count_due_at`);--> statement-breakpoint
CREATE TABLE `file_moves` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`source` text NOT NULL,
	`target` text,
	`created_at` integer NOT NULL,
	`leased_until` integer DEFAULT 0 NOT NULL,
	`done_at` integer,
	`moved_files` integer DEFAULT 0 NOT NULL,
	`moved_bytes` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `file_moves_open` ON `file_moves` (`created_at`) WHERE done_at IS NULL;--> statement-breakpoint
CREATE INDEX `file_moves_by_user` ON `file_moves` (`user_id`,`done_at`);--> statement-breakpoint
CREATE TABLE `file_uploads` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`path` text NOT NULL,
	`size` integer NOT NULL,
	`upload_id` text,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `file_uploads_by_user` ON `file_uploads` (`user_id`);--> statement-breakpoint
CREATE INDEX `file_uploads_by_end` ON `file_uploads` (`expires_at`);