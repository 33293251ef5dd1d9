CREATE TABLE `device_logins` (
	`id` text PRIMARY KEY NOT NULL,
	`device_hash` text NOT NULL,
	`user_code` text NOT NULL,
	`device_name` text NOT NULL,
	`address` text,
	`scope` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`poll_every_ms` integer NOT NULL,
	`last_polled_at` integer,
	`denied_at` integer,
	`token_id` text,
	`claimed_at` integer,
	FOREIGN KEY (`token_id`) REFERENCES `api_tokens`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `device_logins_device_hash_unique` ON `device_logins` (`device_hash`);--> statement-breakpoint
CREATE UNIQUE INDEX `device_logins_user_code_unique` ON `device_logins` (`user_code`);--> statement-breakpoint
CREATE INDEX `device_logins_by_end` ON `device_logins` (`expires_at`);--> statement-breakpoint
CREATE INDEX `device_logins_by_token` ON `device_logins` (`token_id`);