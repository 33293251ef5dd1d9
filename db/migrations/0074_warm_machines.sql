CREATE TABLE `warm_machines` (
	`token` text PRIMARY KEY NOT NULL,
	`server_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`instance_id` text,
	`launched_at` integer,
	`template_version` text,
	`asked_at` integer,
	`ready_at` integer,
	`failed_at` integer,
	`unseen_since` integer,
	`unseen_looks` integer DEFAULT 0 NOT NULL,
	`ending_at` integer,
	`ended_at` integer,
	FOREIGN KEY (`server_id`) REFERENCES `servers`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `one_warm_machine_per_place` ON `warm_machines` (`server_id`) WHERE ended_at IS NULL;--> statement-breakpoint
CREATE INDEX `warm_machines_by_instance` ON `warm_machines` (`instance_id`);--> statement-breakpoint
CREATE INDEX `warm_machines_ended` ON `warm_machines` (`ended_at`) WHERE ended_at IS NOT NULL;--> statement-breakpoint
CREATE TABLE `warm_settings` (
	`instance_type` text NOT NULL,
	`availability_zone` text NOT NULL,
	`hours` text NOT NULL,
	`time_zone` text NOT NULL,
	`hour_cents` real,
	PRIMARY KEY(`instance_type`, `availability_zone`)
);
--> statement-breakpoint
ALTER TABLE `server_sessions` ADD `warm` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `server_sessions` ADD `work_given_at` integer;