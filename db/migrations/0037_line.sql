CREATE TABLE `line` (
	`user_id` text PRIMARY KEY NOT NULL,
	`gpus` integer NOT NULL,
	`trial` integer NOT NULL,
	`start` integer NOT NULL,
	`wishes` text NOT NULL,
	`joined_at` integer NOT NULL,
	`queued_at` integer NOT NULL,
	`joined_position` integer,
	`given_at` integer,
	`held_until` integer,
	`lapses` integer DEFAULT 0 NOT NULL,
	`session_id` text,
	`position` integer,
	`p50` integer,
	`p90` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`session_id`) REFERENCES `server_sessions`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `line_next` ON `line` (`gpus`,`trial`,`queued_at`,`user_id`) WHERE given_at IS NULL AND session_id IS NULL;--> statement-breakpoint
CREATE INDEX `line_by_session` ON `line` (`session_id`) WHERE session_id IS NOT NULL;--> statement-breakpoint
CREATE TABLE `line_turns` (
	`gpus` integer PRIMARY KEY NOT NULL,
	`paid` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `line_waits` (
	`id` integer PRIMARY KEY NOT NULL,
	`gpus` integer NOT NULL,
	`trial` integer NOT NULL,
	`position` integer NOT NULL,
	`joined_at` integer NOT NULL,
	`waited_ms` integer NOT NULL,
	`served` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `line_waits_by_time` ON `line_waits` (`joined_at`);--> statement-breakpoint
CREATE INDEX `line_waits_by_kind` ON `line_waits` (`gpus`,`trial`,`joined_at`);