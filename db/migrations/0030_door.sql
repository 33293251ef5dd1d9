CREATE TABLE `door_links` (
	`id` text PRIMARY KEY NOT NULL,
	`hash` text NOT NULL,
	`session_id` text NOT NULL,
	`sign_in_id` text,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`used_at` integer,
	`uses` integer DEFAULT 0 NOT NULL,
	`revoked_at` integer,
	FOREIGN KEY (`session_id`) REFERENCES `server_sessions`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `door_links_hash_unique` ON `door_links` (`hash`);--> statement-breakpoint
CREATE INDEX `door_links_by_session` ON `door_links` (`session_id`);--> statement-breakpoint
ALTER TABLE `server_sessions` ADD `private_address` text;--> statement-breakpoint
ALTER TABLE `server_sessions` ADD `door_label` text;--> statement-breakpoint
CREATE UNIQUE INDEX `server_sessions_door_label_unique` ON `server_sessions` (`door_label`);--> statement-breakpoint
CREATE INDEX `server_sessions_by_private_address` ON `server_sessions` (`private_address`) WHERE ended_at IS NULL;